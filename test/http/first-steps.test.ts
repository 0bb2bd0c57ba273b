import assert from 'node:assert/strict'
import { test } from 'node:test'
import { INTRODUCTION } from '../../src/http/server/openapi.ts'
import { startApp } from '../support/app.ts'

const OPERATOR = 'operator-key-of-the-test-installation'

/** Every request of the introduction, in its order. */
const REQUESTS = [...INTRODUCTION.matchAll(/```\n(GET|POST) (\S+)\n([^`]*)```/g)].map(
  ([, method, path, body]) => ({ method: method as 'GET' | 'POST', path: path!, body }),
)

test('the first steps of the API page work as they are written', async (t) => {
  const { app } = await startApp(t, { env: { ADMIN_API_KEY: OPERATOR } })
  let key = OPERATOR
  /** The ids that the introduction shows, and those of this installation. */
  const ids = new Map<string, number>()
  let position = ''
  const written = new Map([
    ['/business', { shown: '1', id: 'businessId' }],
    ['/emailTemplate', { shown: '7', id: 'emailTemplateId' }],
    ['/calendar', { shown: '4711', id: 'calendarId' }],
  ])
  const own = (text: string) =>
    text
      .replaceAll('"businessId": 1', `"businessId": ${ids.get('/business')}`)
      .replaceAll('"emailTemplateId": 7', `"emailTemplateId": ${ids.get('/emailTemplate')}`)
      .replace('/business/1/', `/business/${ids.get('/business')}/`)
      .replace('/4711', `/${ids.get('/calendar')}`)
      .replace(/(?<=changedSince=).+/, position)
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are asserted on, not typed
  const answers: { request: string; body: any }[] = []
  const readPosition = async () => {
    const headers = { authorization: `Bearer ${key}` }
    const answer = await app.inject({ method: 'GET', url: '/changes/position', headers })
    return String(answer.json().nextPosition)
  }
  for (const { method, path, body } of REQUESTS) {
    if (path.includes('changedSince')) position = await readPosition()
    const answer = await app.inject({
      method,
      url: own(path),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body ? { payload: own(body) } : {}),
    })
    const request = `${method} ${path}`
    assert.ok(answer.statusCode < 300, `${request}: ${answer.body}`)
    const named = written.get(path)
    if (named && method === 'POST') ids.set(path, answer.json()[named.id])
    if (path.endsWith('/apiKey')) key = answer.json().key
    answers.push({ request, body: answer.json() })
  }
  assert.equal(answers.length, 16)
  const answerTo = (request: string) => answers.find((each) => each.request === request)!.body
  const explained = answerTo('GET /explain/CALENDAR/4711')
  assert.deepEqual(
    explained.map(({ description, outcome }: Record<string, string>) => [description, outcome]),
    [
      ['24 hours before', 'WAITING'],
      ['When it is moved', 'WAITING'],
    ],
  )
  assert.equal(answerTo('GET /eventTriggers/CALENDAR/4711').length, 2)
})
