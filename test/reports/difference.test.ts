import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareReminded, wilsonInterval, type Stratum } from '../../src/reports/difference.ts'
import { seeded } from './measured-business.ts'

const WORLDS = 1_000

test('without an effect, at most 5 % of simulated businesses claim a difference', () => {
  const claims = simulate(1).filter(({ isSignificant }) => isSignificant)
  assert.ok(claims.length <= WORLDS * 0.05, `${claims.length} claims`)
})

test('if reminders prevent 30 % of no-shows, the sign of a claimed difference is never wrong', () => {
  const claims = simulate(0.7).filter(({ isSignificant }) => isSignificant)
  assert.ok(claims.length > WORLDS * 0.2, `only ${claims.length} claims`)
  assert.deepEqual(
    claims.filter(({ points }) => points >= 0),
    [],
  )
})

test('a comparison without strata claims a difference that does not exist', () => {
  const crude = worlds(1).map((strata) => {
    const all: Stratum = { reached: { total: 0, missed: 0 }, others: { total: 0, missed: 0 } }
    for (const { reached, others } of strata) {
      all.reached.total += reached.total
      all.reached.missed += reached.missed
      all.others.total += others.total
      all.others.missed += others.missed
    }
    return compareReminded([all])!
  })
  assert.ok(crude.filter(({ isSignificant }) => isSignificant).length > WORLDS * 0.05)
})

test('fewer than 100 appointments in a group are never enough, and the missing ones are counted', () => {
  const few = compareReminded([
    { reached: { total: 99, missed: 0 }, others: { total: 400, missed: 200 } },
  ])!
  assert.equal(few.isSignificant, false)
  assert.equal(few.needed, 1)
  const enough = compareReminded([
    { reached: { total: 100, missed: 0 }, others: { total: 400, missed: 200 } },
  ])!
  assert.equal(enough.isSignificant, true)
  assert.equal(enough.needed, 0)
  assert.equal(enough.points, -50)
  assert.equal(
    compareReminded([{ reached: { total: 5, missed: 1 }, others: { total: 0, missed: 0 } }]),
    null,
  )
})

test('the Wilson interval agrees with published values', () => {
  const rounded = (total: number, missed: number) => {
    const { low, high } = wilsonInterval({ total, missed })!
    return [low.toFixed(2), high.toFixed(2)]
  }
  assert.deepEqual(rounded(10, 0), ['0.00', '27.75'])
  assert.deepEqual(rounded(263, 81), ['25.53', '36.62'])
  assert.equal(wilsonInterval({ total: 0, missed: 0 }), null)
})

const simulate = (effect: number) => worlds(effect).map((strata) => compareReminded(strata)!)

/**
 * Businesses in which early bookings and new clients are missed more often, and are also reached more
 * or less often: eight strata, from 300 to 2,300 appointments.
 */
function worlds(effect: number): Stratum[][] {
  const random = seeded(904)
  return Array.from({ length: WORLDS }, () => {
    const size = 300 + Math.floor(random() * 2_000)
    const base = 0.03 + random() * 0.15
    const tilt = random() * 0.8
    const strata = Array.from({ length: 8 }, (): Stratum => ({
      reached: { total: 0, missed: 0 },
      others: { total: 0, missed: 0 },
    }))
    for (let i = 0; i < size; i++) {
      const kind = Math.floor(random() * 8)
      const isReached = random() < 0.1 + tilt * (kind / 8)
      const risk = base * (1 + kind / 4) * (isReached ? effect : 1)
      const group = isReached ? strata[kind]!.reached : strata[kind]!.others
      group.total += 1
      if (random() < risk) group.missed += 1
    }
    return strata
  })
}
