import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'

test('a moment is sent as Date would write it, and to the nanosecond where it has any', () => {
  const texts = (moments: Temporal.Instant[]) => sql`${moments}`.values[0] as string[]
  const days = [0, 1, 59, 60, 1_000, 20_454.5, 20_455, 2_932_896].map((day) => day * 86_400_000)
  const all = days.flatMap((ms) => [ms, ms + 1, ms + 43_200_999, ms + 86_399_999])
  assert.deepEqual(
    texts(all.map((ms) => Temporal.Instant.fromEpochMilliseconds(ms))),
    all.map((ms) =>
      ms > 253_402_300_799_999
        ? Temporal.Instant.fromEpochMilliseconds(ms).toString()
        : new Date(ms).toISOString(),
    ),
  )
  const odd = ['1969-12-31T23:59:59.999Z', '2026-03-02T09:00:00.000001Z', '-000001-01-01T00:00:00Z']
  assert.deepEqual(texts(odd.map((text) => Temporal.Instant.from(text))), odd)
})
