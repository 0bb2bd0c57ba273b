import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toQuery } from '../../src/database/query.ts'
import { join, raw, sql } from '../../src/database/sql.ts'
import { cloneDatabase } from '../support/database.ts'

const instant = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms)

test('an instant is sent as Date would write it, and with its nanoseconds if it has any', () => {
  const text = (moment: Temporal.Instant) => toQuery(sql`select ${moment}`).values![0]
  const days = [0, 1, 59, 60, 1_000, 20_454.5, 20_455, 2_932_896].map((day) => day * 86_400_000)
  const all = days.flatMap((ms) => [ms, ms + 1, ms + 43_200_999, ms + 86_399_999])
  assert.deepEqual(
    all.map((ms) => text(instant(ms))),
    all.map((ms) =>
      ms > 253_402_300_799_999 ? instant(ms).toString() : new Date(ms).toISOString(),
    ),
  )
  const odd = ['1969-12-31T23:59:59.999Z', '2026-03-02T09:00:00.000001Z', '-000001-01-01T00:00:00Z']
  assert.deepEqual(
    odd.map((moment) => text(Temporal.Instant.from(moment))),
    odd,
  )
})

test('the server reads a list as it reads its elements one by one', async (t) => {
  const { database } = await cloneDatabase(t)
  const lists: [string, unknown[]][] = [
    ['text', ['', 'plain', null, `"quoted" \\ {brackets}`, 'NULL', 'Żółć 🐏', undefined]],
    ['bigint', [0, 1, -1, null, 2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 53 - 1, -(2 ** 53 - 1)]],
    ['int', [0, -1, null, 2 ** 31 - 1, -(2 ** 31)]],
    ['timestamptz', [...MOMENTS.map((text) => Temporal.Instant.from(text)), null]],
    // Elements of other JavaScript types than the list, and other types of lists.
    ['text', [1, true, 'one']],
    ['bigint', ['12', 13, 2 ** 53]],
    ['int', ['12', 13]],
    ['numeric', [1.5, 2]],
    ['boolean', [true, null, false]],
    ['date', [Temporal.PlainDate.from('2026-03-29')]],
  ]
  for (const [type, values] of lists) {
    const elements = values.map((value) => sql`${value}::${raw(type)}`)
    const [read] = await database.operator.query<{ list: string; elements: string }>(sql`
      select ${values}::${raw(type)}[]::text as list, array[${join(elements, ', ')}]::text as elements`)
    assert.equal(read!.list, read!.elements, type)
    const [none] = await database.operator.query<{ count: number }>(sql`
      select cardinality(${[]}::${raw(type)}[]) as count`)
    assert.equal(none!.count, 0)
  }
})

const MOMENTS = [
  '1970-01-01T00:00:00Z',
  '1999-12-31T23:59:59.999Z',
  '2000-01-01T00:00:00Z',
  '2026-03-02T09:00:00.125Z',
  '2026-03-02T09:00:00.000001Z',
  '2026-03-02T09:00:00.0000019Z',
  '1901-03-02T09:00:00.1234567Z',
  '9999-12-31T23:59:59.999Z',
]
