import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareWorld } from '../support/world.ts'
import { CORPUS } from './corpus.ts'

const startWorld = shareWorld()

const NEW = ['client', 'professional', 'reason', 'location']

for (const { name, text, encoding = 'utf8', correction = {}, first, second } of CORPUS) {
  const corrected = Object.keys(correction).length === 0 ? 'without a' : 'with one'
  test(`an export in the form of ${name} is read ${corrected} correction`, async (t) => {
    const { call } = await startWorld(t)
    const query = new URLSearchParams({ dryRun: 'true', events: 'none', ...correction })
    for (const kind of NEW) query.append('create', kind)
    const file = Buffer.from(encoding === 'utf16le' ? `\ufeff${text}` : text, encoding)
    const { status, body } = await call('POST', `/import/csv?${query}`, file, {
      'content-type': 'text/csv',
    })
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(body.questions, [])
    assert.deepEqual(body.refused, [])
    assert.equal(body.accepted.calendar, 2)
    const read = body.rows.map(({ values }: { values: Values }) => asRow(values))
    // The business has one location.
    const whole = { location: 'Altstadt', ...first }
    assert.deepEqual(read, [whole, { ...whole, ...second }])
  })
}

type Values = { startTime: number; endTime: number } & Record<string, string>

function asRow({ startTime, endTime, client, professional, reason, location, status }: Values) {
  const start = Temporal.Instant.fromEpochMilliseconds(startTime)
    .toZonedDateTimeISO('Europe/Zurich')
    .toPlainDateTime()
    .toString({ smallestUnit: 'minute' })
  const minutes = (endTime - startTime) / 60_000
  return { client, professional, reason, location, start, minutes, status }
}
