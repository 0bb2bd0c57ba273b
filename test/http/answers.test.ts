import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Field } from '../../src/contract/fields.ts'
import { schemaFaults } from '../../src/contract/find-faults.ts'
import { OBJECT_KINDS, type ObjectKind } from '../../src/contract/objects.ts'
import { proofSeed, randomFrom } from '../proofs/random.ts'
import { startWorld } from '../support/world.ts'

/** Values that a round trip through the database might change. Invalid ones are not sent. */
const TRICKY: Record<string, unknown[]> = {
  text: [
    'a',
    ' both ends ',
    'two\nlines\r\n',
    'cafe\u0301 caf\u00e9 \u{1F600} \u00a0',
    `"quoted" 'twice' \\ {a,b}`,
    'NULL',
    '',
    '007',
    'Europe/Zurich',
    'de-CH',
    'CHF',
    'anna@example.org',
    'https://example.org/b?c=d&e=%20#f',
  ],
  timestamptz: [
    0, 1, -1, 999, 951_782_399_999, 1_800_000_000_001, 4_102_444_800_000, 253_402_300_799_999,
  ],
  jsonb: [
    {},
    [],
    { level: ['gold'] },
    { longer: ['b', 'a'], B: ['1'], a: ['"\\'] },
    { 2: ['x'], 10: ['y'], 1: [] },
    [{ weekday: 'MONDAY', from: '09:00', to: '17:30' }],
    [{ to: '12:00', from: '08:00', weekday: 'FRIDAY' }],
  ],
  numeric: [0, 0.1, 12.5, 92, 1_000_000.01],
  boolean: [true, false],
}
const NUMBERS = [0, 1, 2, 30, 100_000]

test('the answer to a save equals a later GET, for single and concurrent saves', async (t) => {
  const random = randomFrom(proofSeed(t))
  const world = await startWorld(t)
  const known = new Map<string, unknown[]>()

  const valueOf = (field: Field): unknown => {
    const ids = known.get(field.refersTo ?? '')
    if (field.refersTo) return field.sqlType.endsWith('[]') ? (ids ?? []).slice(0, 2) : ids?.[0]
    const good = (TRICKY[field.sqlType] ?? NUMBERS).filter(
      (v) => schemaFaults(field.schema, v).length === 0,
    )
    return good.length > 0 ? random.pick(good) : undefined
  }
  let externalIds = 0
  const bodyOf = (kind: ObjectKind, isNew: boolean) => {
    const body: Record<string, unknown> = {}
    for (const [name, field] of Object.entries(kind.fields)) {
      const isSent = (isNew && field.required) || random.chance(0.6)
      if (name === 'status' || !isSent) continue
      const value = !field.required && random.chance(0.2) ? null : valueOf(field)
      if (value !== undefined) body[name] = value
    }
    if ('startTime' in kind.fields && (isNew || body.startTime || body.endTime)) {
      body.startTime = random.pick([951_782_399_999, 1_800_000_000_001])
      body.endTime = (body.startTime as number) + random.pick([1, 1_799_999])
    }
    // Unique, because a body with a known externalId would be an update.
    if (random.chance(0.3)) {
      body.externalId = `${random.pick(['E 1', '{2}', '"3"'])} ${(externalIds += 1)}`
    }
    if (random.chance(0.1)) body.active = false
    return body
  }

  for (const kind of OBJECT_KINDS) {
    let refused = 0
    const saved: Record<string, unknown>[] = []
    /** Saves one body, or several concurrently, which share a statement. */
    const saveAll = async (bodies: object[]) => {
      const answers = await Promise.all(bodies.map((body) => world.call('POST', kind.path, body)))
      for (const [i, answer] of answers.entries()) {
        if (answer.status > 201) {
          refused += 1
          continue
        }
        const read = await world.call('GET', `${kind.path}/${answer.body[kind.id]}`)
        const { warnings: _, ...object } = answer.body
        const context = `${kind.kind} ${JSON.stringify(bodies[i])}`
        assert.equal(JSON.stringify(object), JSON.stringify(read.body), context)
        assert.equal(answer.headers.etag, read.headers.etag, context)
        saved.push(object)
      }
    }
    for (let round = 0; round < 4; round += 1) {
      await saveAll(Array.from({ length: 6 }, () => bodyOf(kind, true)))
      await saveAll([bodyOf(kind, true)])
    }
    const some = saved.slice(0, 12)
    const idOf = (object: Record<string, unknown>) => ({ [kind.id]: object[kind.id] })
    await saveAll(some.map((object) => ({ ...bodyOf(kind, false), ...idOf(object) })))
    for (const object of some.slice(0, 4)) {
      await saveAll([{ ...bodyOf(kind, false), ...idOf(object) }])
      await saveAll([idOf(object)])
    }
    assert.ok(saved.length > 20, `${kind.kind}: ${refused} refused`)
    known.set(
      kind.kind,
      saved.map((object) => object[kind.id]),
    )
  }
})
