import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startProbe } from '../support/probe.ts'

const { app } = await startProbe({ after })

test('all faults of a body are reported at once, each with its pointer', async () => {
  const answer = await app.inject({
    method: 'POST',
    url: '/probe',
    body: {
      name: 'much too long for it',
      note: 5,
      kind: 'GREEN',
      inner: { deep: 'yes' },
      list: [{ 'a/b': 1 }, { 'a/b': '2' }, {}, 3],
    },
  })
  assert.equal(answer.statusCode, 422)
  assert.deepEqual(answer.json().errors, [
    { pointer: '/count', detail: 'is required' },
    { pointer: '/name', detail: 'must be at most 10 characters' },
    { pointer: '/note', detail: 'must be a string' },
    { pointer: '/kind', detail: 'must be one of RED, BLUE' },
    { pointer: '/inner/deep', detail: 'must be true or false' },
    { pointer: '/list/1/a~1b', detail: 'must be an integer' },
    { pointer: '/list/2/a~1b', detail: 'is required' },
    { pointer: '/list/3', detail: 'must be an object' },
  ])
})

test('nothing in a body is coerced', async () => {
  const good = { name: 'a', count: 1 }
  for (const bad of [
    { count: '1' },
    { count: null },
    { count: 1.5 },
    { count: true },
    { name: 1 },
  ]) {
    const { statusCode } = await app.inject({
      method: 'POST',
      url: '/probe',
      body: { ...good, ...bad },
    })
    assert.equal(statusCode, 422, JSON.stringify(bad))
  }
  for (const body of [[], 'text', 5, null]) {
    const { statusCode } = await app.inject({
      method: 'POST',
      url: '/probe',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    assert.equal(statusCode, 422, JSON.stringify(body))
  }
})

test('an integer that JavaScript cannot represent exactly is refused', async () => {
  for (const count of ['9007199254740993', '1e300', '-1e17']) {
    const { statusCode } = await app.inject({
      method: 'POST',
      url: '/probe',
      headers: { 'content-type': 'application/json' },
      body: `{ "name": "a", "count": ${count} }`,
    })
    assert.equal(statusCode, 422, count)
  }
})

test('unknown properties are 422, together with all other faults', async () => {
  const body = { name: 5, count: 1, colour: 'red' }
  const answer = await app.inject({ method: 'POST', url: '/probe', body })
  assert.equal(answer.statusCode, 422)
  assert.deepEqual(
    answer.json().errors.map(({ pointer }: { pointer: string }) => pointer),
    ['/name', '/colour'],
  )
})

test('numbers, booleans and lists in a query are parsed', async () => {
  const read = async (query: string) => (await app.inject(`/probe/list/5${query}`)).json()
  assert.deepEqual(await read(''), { params: { probeId: 5 }, query: { limit: 50 } })
  assert.deepEqual((await read('?limit=7&all=true&day=5')).query, { limit: 7, all: true, day: '5' })
  assert.deepEqual((await read('?status=OPEN')).query.status, ['OPEN'])
  assert.deepEqual((await read('?status=OPEN&status=DONE')).query.status, ['OPEN', 'DONE'])
})

test('a bad query is 422 and names the parameter', async () => {
  const bad = [
    'limit=0',
    'limit=501',
    'limit=1.5',
    'limit=ten',
    'limit=',
    'limit=1&limit=2',
    'all=1',
    'status=X',
    'day=a%00',
  ]
  for (const query of bad) {
    const answer = await app.inject(`/probe/list/5?${query}`)
    assert.equal(answer.statusCode, 422, query)
    assert.match(answer.json().errors[0].pointer, /^\?(limit|all|status|day)/, query)
  }
})

test('a malformed id is 404', async () => {
  for (const id of [
    'abc',
    '0',
    '-1',
    '1.5',
    '1e3',
    '99999999999999999999',
    '%00',
    '5%20',
    "1'--",
  ]) {
    assert.equal((await app.inject(`/probe/list/${id}`)).statusCode, 404, id)
  }
})
