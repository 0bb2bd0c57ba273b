import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { mergeDefinition, readDefinition } from '../../src/contract/read-definition.ts'
import { proofSeed } from '../proofs/random.ts'

type Body = Record<string, unknown>
type Given = Partial<Record<(typeof NAMES)[number], number | null>> & { when?: 'before' | 'after' }

const NAMES = [
  'triggerHours',
  'triggerMinutes',
  'triggerMonths',
  'triggerWeeks',
  'triggerDays',
  'triggerHoursValue',
  'triggerMinutesValue',
] as const

const rest = {
  active: true,
  businessId: 1,
  objectType: 'CALENDAR',
  eventType: { eventTypeId: 3 },
}

/** The stored offset in months, hours and minutes, or the faults. */
function save(body: Body, stored?: [number, number, number]) {
  const { definition, faults } = readDefinition(body)
  const base = stored && mergeDefinition(readDefinition({ ...rest, ...object(stored) }).definition)
  const merged = mergeDefinition(definition, base?.definition)
  const all = [...faults, ...merged.faults]
  if (all.length > 0) return all
  const { triggerMonths, triggerHours, triggerMinutes } = merged.definition
  return [triggerMonths, triggerHours, triggerMinutes]
}

/** An offset as answers carry it. */
const object = ([triggerMonths, triggerHours, triggerMinutes]: [number, number, number]) => ({
  triggerMonths,
  triggerHours,
  triggerMinutes,
})

/** What the documentation says about a new definition, in minutes; `undefined`: refused. */
function model(given: Given): [months: number, minutes: number] | undefined {
  const [hours, minutes, months, weeks, days, hoursValue, minutesValue] = NAMES.map(
    (name) => given[name] ?? 0,
  ) as [number, number, number, number, number, number, number]
  const isUnitGiven = NAMES.slice(2).some((name) => typeof given[name] === 'number')
  const isPlainGiven = NAMES.slice(0, 2).every((name) => typeof given[name] === 'number')
  if (!isUnitGiven && !isPlainGiven) return undefined

  const units = [months, weeks, days, hoursValue, minutesValue]
  if (given.when === undefined) {
    if (units.slice(1).some((unit) => unit !== 0)) return undefined
    return bounded(months, [hours * 60, minutes])
  }
  if (units.some((unit) => unit < 0)) return undefined
  if (given.when === 'after' && (hours < 0 || minutes < 0)) return undefined
  const sign = given.when === 'before' ? -1 : 1
  const plain = Math.abs(hours) * 60 + Math.abs(minutes)
  if (units.every((unit) => unit === 0)) {
    return bounded(0, [sign * Math.abs(hours) * 60, sign * Math.abs(minutes)])
  }
  const clock = hoursValue * 60 + minutesValue
  const whole = weeks * 10_080 + days * 1440 + clock
  if (![0, clock, whole].includes(plain)) return undefined
  const inHours = sign * (weeks * 168 + days * 24 + hoursValue) * 60
  return bounded(sign * months, [inHours, sign * minutesValue])
}

const YEARS = 10 * 365.25 * 1440

function bounded(months: number, minutes: [number, number]): [number, number] | undefined {
  const inMonths = (months / 12) * (YEARS / 10)
  const sum = minutes[0] + minutes[1]
  const isTooLong = [inMonths, ...minutes, inMonths + sum].some((part) => Math.abs(part) > YEARS)
  return isTooLong ? undefined : [months + 0, sum + 0]
}

/** Mostly small: two random amounts seldom say the same. */
const amount = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(0, 1, 2, 24, 168) },
  { weight: 2, arbitrary: fc.integer({ min: -48, max: 48 }) },
  { weight: 1, arbitrary: fc.integer({ min: -200_000, max: 200_000 }) },
)
const part = fc.option(fc.oneof(amount, fc.constant(null)), { nil: undefined })
const given: fc.Arbitrary<Given> = fc
  .record({
    parts: fc.tuple(part, part, part, part, part, part, part),
    when: fc.constantFrom(undefined, 'before', 'before', 'after', 'after'),
  })
  .map(({ parts, when }) => ({
    ...Object.fromEntries(
      NAMES.map((name, i) => [name, parts[i]]).filter(([, value]) => value !== undefined),
    ),
    ...(when && { when }),
  }))

const nested = fc.array(fc.boolean(), { minLength: 8, maxLength: 8 })

/** The write form, with each property at the top level or inside `eventType`. */
function bodyOf({ when, ...parts }: Given, inside: boolean[]): Body {
  const properties = { ...parts, ...(when && { triggerWhen: { label: 'x', value: when } }) }
  const [top, eventType]: [Body, Body] = [{}, { eventTypeId: 3 }]
  for (const [i, [name, value]] of Object.entries(properties).entries()) {
    if (inside[i]) eventType[name] = value
    else top[name] = value
  }
  return { ...rest, ...top, eventType }
}

test('4,000 offsets in random forms are stored as they are documented, or refused', (t) => {
  const seen = { stored: 0, refused: 0 }
  fc.assert(
    fc.property(given, nested, (offset, inside) => {
      const saved = save(bodyOf(offset, inside))
      const expected = model(offset)
      if (!expected) {
        seen.refused += 1
        assert.equal(typeof saved[0], 'object', 'refused')
        return
      }
      seen.stored += 1
      const [months, hours, minutes] = saved as number[]
      assert.deepEqual([months, hours! * 60 + minutes!], expected)
    }),
    { numRuns: 4_000, seed: proofSeed(t) },
  )
  t.diagnostic(JSON.stringify(seen))
  assert.ok(seen.stored > 400 && seen.refused > 400)
})

const stored = fc.tuple(
  fc.integer({ min: -24, max: 24 }),
  fc.integer({ min: -2_000, max: 2_000 }),
  fc.integer({ min: -3_000, max: 3_000 }),
)

test('500 stored offsets can be sent back as they were read, and with one part edited', (t) => {
  fc.assert(
    fc.property(stored, fc.nat(2), fc.integer({ min: -9, max: 9 }), (offset, edited, value) => {
      assert.deepEqual(save({ ...rest, ...object(offset) }), offset, 'as a new definition')
      const update = { ...rest, ...object(offset), eventDefnId: 5 }
      assert.deepEqual(save(update, offset), offset, 'as an update')
      const changed = offset.with(edited, value) as typeof offset
      assert.deepEqual(save({ ...update, ...object(changed) }, offset), changed)
    }),
    { numRuns: 500, seed: proofSeed(t) },
  )
})

test('an update in any form replaces the whole stored offset', (t) => {
  fc.assert(
    fc.property(stored, given, (offset, change) => {
      const { when: _when, ...parts } = change
      fc.pre(Object.values(parts).some((value) => typeof value === 'number'))
      const asUpdate = save({ ...bodyOf(change, []), eventDefnId: 5 }, offset)
      const filled = { triggerHours: 0, triggerMinutes: 0, ...change }
      const asNew = save(bodyOf({ ...filled, triggerDays: change.triggerDays ?? 0 }, []))
      assert.deepEqual(asUpdate, asNew)
    }),
    { numRuns: 500, seed: proofSeed(t) },
  )
})

test('units and plain fields that disagree are refused with both readings', () => {
  const body = { ...rest, triggerWeeks: 1, triggerMinutes: 30, triggerWhen: { value: 'after' } }
  assert.deepEqual(save(body), [
    {
      pointer: '/triggerMinutes',
      detail:
        'triggerHours and triggerMinutes say 30 minutes, the units say 168 hours: send one of the two',
    },
  ])
})
