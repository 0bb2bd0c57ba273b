import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { asOwner } from '../support/owner.ts'
import { isFull, proofSeed } from './random.ts'
import { rewriting, withoutLeaseCheck } from './without-guards.ts'
import { playHistory, startWorld, type Mutation } from './simulation.ts'

type Playing = { most: number; seconds: number; mutation?: Mutation; without?: string[] }

/** Plays histories until one breaks a promise, the time is over or enough were played. */
async function play(t: TestContext, { most, seconds, mutation, without = [] }: Playing) {
  const world = await startWorld(t)
  await asOwner(world.database, ...without)
  const seed = proofSeed()
  const startedAt = performance.now()
  const counts = { histories: 0, steps: 0, crashes: 0, frozen: 0, triggers: 0, mails: 0 }
  let broken: string[] = []
  let at = seed
  while (counts.histories < most && performance.now() - startedAt < seconds * 1000) {
    at = seed + counts.histories
    const told = await playHistory(world, at, mutation)
    counts.histories += 1
    for (const key of ['steps', 'crashes', 'frozen', 'triggers', 'mails'] as const)
      counts[key] += told[key]
    broken = told.broken
    if (broken.length > 0) break
  }
  t.diagnostic(`seed ${seed}: ${JSON.stringify(counts)}`)
  return { broken, at }
}

/**
 * About one history in two hundred still ends in a disagreement that its seed alone does not bring
 * back (the database decides who waits for whom). The full proof fails on the first; the short one
 * tells it and plays on for once, so that it fails where something is broken, not where it is rare.
 */
test('no history of bookings, edits, crashes and clock jumps breaks a promise', async (t) => {
  const playing = isFull ? FULL : { most: Infinity, seconds: 10 }
  const { broken, at } = await play(t, playing)
  if (isFull || broken.length === 0) return assert.deepEqual(broken, [], `history of seed ${at}`)
  t.diagnostic(`seed ${at} disagreed: ${broken.join('; ')}`)
  const again = await play(t, playing)
  assert.deepEqual(again.broken, [], `histories of seeds ${at} and ${again.at}`)
})

const FULL = { most: Number(process.env.PROOF_HISTORIES ?? 100_000), seconds: Infinity }

/** The proof is worth something if it fails where a guard is missing. */
const GUARDS: { name: string; without: string[]; mutation: Mutation; sign: RegExp }[] = [
  {
    name: 'the lease is checked before anything is written',
    without: [],
    mutation: { rewrite: rewriting(withoutLeaseCheck), freezing: 0.9 },
    sign: /stumbled|twice|mails instead|not asked for|lost/,
  },
  {
    name: 'final states cannot change',
    without: ['drop trigger final_states on event_trigger', 'drop index email_once'],
    mutation: { rewrite: rewriting(withoutLeaseCheck), freezing: 0.9 },
    sign: /twice|mails instead|not asked for|lost/,
  },
  {
    name: 'an occasion is planned once',
    without: ['drop index event_trigger_one_pending, event_trigger_once_per_anchor'],
    mutation: { planning: 0.9, freezing: 0 },
    sign: /twice planned|doubled/,
  },
  {
    name: 'all is looked at again at firing',
    without: [],
    mutation: { parts: { decide: () => 'fire' }, freezing: 0.9 },
    sign: /not asked for/,
  },
]

for (const { name, without, mutation, sign } of GUARDS) {
  test(`a history breaks a promise without this guard: ${name}`, async (t) => {
    const { broken } = await play(t, { most: 2_000, seconds: 120, without, mutation })
    assert.match(broken.join('\n'), sign)
  })
}
