import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostileTemplates } from '../support/hostile-templates.ts'
import { assertNeverBlocks } from '../support/event-loop.ts'
import { addBusiness, startWorld } from '../support/world.ts'

const template = (fields: object) => ({
  templateName: 'Hostile',
  subject: 'Hello',
  emailBody: '<p>Hello</p>',
  ...fields,
})

test('no template blocks the event loop, neither when it is saved nor when it is previewed', async (t) => {
  const { book, call, clock, save } = await startWorld(t)
  const { calendarId } = await book(clock.in({ hours: 1 }))
  const about = { objectType: 'CALENDAR', objectId: calendarId }
  // Warm-up: the first save and preview load and compile code.
  const warm = await save('/emailTemplate', template({}))
  await call('POST', `/emailTemplate/${warm.emailTemplateId}/preview`, about)
  await call('POST', '/emailTemplate', template({ emailBody: '<b' }))

  const wrong: string[] = []
  for (const { name, fields, refused } of hostileTemplates) {
    const answer = await assertNeverBlocks(t, name, async () => {
      const saved = await call('POST', '/emailTemplate', template(fields))
      if (saved.status !== 201) return saved
      return call('POST', `/emailTemplate/${saved.body.emailTemplateId}/preview`, about)
    })
    const answered = `${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`
    if (answer.status !== (refused ? 422 : 200)) wrong.push(`${name}: ${answered}`)
    else if (refused && !refused.test(JSON.stringify(answer.body)))
      wrong.push(`${name}: ${answered}`)
  }
  assert.deepEqual(wrong, [])
})

test('a refused template says what is wrong and stores nothing', async (t) => {
  const { call } = await startWorld(t)
  const emailBody = `<p>x</p>\n${'<b>x</b>'.repeat(5_000)}`
  const { status, body } = await call('POST', '/emailTemplate', template({ emailBody }))
  assert.equal(status, 422)
  assert.deepEqual(body.errors, [
    {
      pointer: '/emailBody',
      detail: 'line 2, column 39993: there are more than 10000 tags',
    },
  ])
  assert.deepEqual((await call('GET', '/emailTemplate')).body.items, [])
})

test('slow template checks of one business do not delay other businesses', async (t) => {
  const world = await startWorld(t)
  const other = await addBusiness(world)
  const slow = hostileTemplates.find(({ name }) => name.startsWith('as many rules'))!
  const emailBody = String(slow.fields.emailBody)
    .replaceAll('<p>x</p>', '')
    .concat('<p>x</p>'.repeat(200))
  let checked = 0
  const saving = Promise.all(
    Array.from({ length: 4 }, async () => {
      const { status } = await world.call('POST', '/emailTemplate', template({ emailBody }))
      assert.equal(status, 201)
      checked += 1
    }),
  )
  const { status } = await other.call('POST', '/emailTemplate', template({}))
  assert.equal(status, 201)
  // First come, first served would start the other business's check after three slow ones.
  assert.ok(checked < 3, `${checked} were checked before`)
  await saving
})

test('an import checks templates the same way', async (t) => {
  const { call } = await startWorld(t)
  const lines = [
    { kind: 'emailTemplate', ...template({ templateName: 'Good' }) },
    { kind: 'emailTemplate', ...template({ emailBody: '<b>x</b>'.repeat(5_001) }) },
  ]
  const ndjson = lines.map((line) => JSON.stringify(line)).join('\n')
  const { status, body } = await call('POST', '/import', ndjson, {
    'content-type': 'application/x-ndjson',
  })
  assert.equal(status, 200)
  assert.deepEqual(body.accepted, { emailTemplate: 1 })
  assert.match(body.refused[0].reason, /emailBody: line 1, .* more than 10000 tags/)
})
