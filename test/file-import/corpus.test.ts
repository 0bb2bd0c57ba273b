import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareWorld } from '../support/world.ts'
import { CORPUS } from './corpus.ts'

const startWorld = shareWorld()

const NEW = ['client', 'professional', 'reason', 'location']

for (const { name, text, encoding = 'utf8', correction = {}, first } of CORPUS) {
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
    const { startTime, endTime, ...values } = body.rows[0].values
    const start = Temporal.Instant.fromEpochMilliseconds(startTime)
      .toZonedDateTimeISO('Europe/Zurich')
      .toPlainDateTime()
    assert.deepEqual(
      {
        client: values.client,
        professional: values.professional,
        reason: values.reason ?? 'Consultation',
        ...(first.location && { location: values.location }),
        start: start.toString({ smallestUnit: 'minute' }),
        minutes: (endTime - startTime) / 60_000,
        status: values.status,
      },
      first,
    )
  })
}
