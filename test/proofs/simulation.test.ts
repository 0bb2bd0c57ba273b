import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { asOwner } from '../support/owner.ts'
import { isFull, proofSeed } from './random.ts'
import { Disturbed } from './interleave.ts'
import { rewriting, withoutLeaseCheck } from './without-guards.ts'
import { playHistory, startWorld, type Mutation, type Told, type World } from './simulation.ts'

type Playing = {
  most: number
  seconds: number
  seed?: number
  mutation?: Mutation
  without?: string[]
}

/** Played beside each other, each in a world of its own: while one waits for a lock another goes on. */
const WORLDS = 4

/** Plays histories until one breaks a promise, the time is over or enough were played. */
async function play(t: TestContext, playing: Playing) {
  const { most, seconds, seed = proofSeed(), mutation, without = [] } = playing
  const startedAt = performance.now()
  const counts = {
    histories: 0,
    steps: 0,
    crashes: 0,
    frozen: 0,
    triggers: 0,
    mails: 0,
    disturbed: 0,
  }
  const found: { at: number; told: Told }[] = []
  let next = seed
  const isOver = () =>
    found.length > 0 || next - seed >= most || performance.now() - startedAt > seconds * 1000
  const openWorld = async () => {
    const opened = await startWorld(t)
    await asOwner(opened.database, ...without)
    return opened
  }
  const playOn = async () => {
    let world = await openWorld()
    while (!isOver()) {
      const at = next++
      let told = await playUndisturbed(world, at, mutation)
      while (!told) {
        counts.disturbed += 1
        world = await openWorld()
        told = await playUndisturbed(world, at, mutation)
      }
      counts.histories += 1
      for (const key of ['steps', 'crashes', 'frozen', 'triggers', 'mails'] as const)
        counts[key] += told[key]
      if (told.broken.length > 0) found.push({ at, told })
      // A long run says how far it is.
      if (counts.histories % 100 === 0) console.log(`seed ${seed}: ${JSON.stringify(counts)}`)
    }
  }
  await Promise.all(Array.from({ length: Math.min(WORLDS, most) }, playOn))
  t.diagnostic(`seed ${seed}: ${JSON.stringify(counts)}`)
  const [first] = found.toSorted((a, b) => a.at - b.at)
  return { broken: first?.told.broken ?? [], story: first?.told.story ?? [], at: first?.at }
}

/** Nothing where the machine played a part that it should not. */
async function playUndisturbed(world: World, seed: number, mutation?: Mutation) {
  try {
    return await playHistory(world, seed, mutation)
  } catch (error) {
    if (error instanceof Disturbed) return undefined
    throw error
  }
}

test('no history of bookings, edits, crashes and clock jumps breaks a promise', async (t) => {
  const { broken, story, at } = await play(t, isFull ? FULL : { most: Infinity, seconds: 10 })
  for (const line of story) t.diagnostic(line)
  assert.deepEqual(broken, [], `history of seed ${at}`)
})

test('a seed brings its history back', async (t) => {
  const twice = async () => {
    const world = await startWorld(t)
    const [{ story: _, ...first }, { story: _again, ...again }] = [
      await playHistory(world, 1),
      await playHistory(world, 1),
    ]
    return { first, again }
  }
  const { first, again } = await twice().catch((error) => {
    if (error instanceof Disturbed) return twice()
    throw error
  })
  assert.deepEqual(again, first)
})

const FULL = { most: Number(process.env.PROOF_HISTORIES ?? 100_000), seconds: Infinity }

/**
 * The proof is worth something if it fails where a guard is missing. The seeds are those of
 * histories that did; where the engine takes other steps since, a later one does.
 */
type Guard = { name: string; seed: number; without: string[]; mutation: Mutation; sign: RegExp }
const GUARDS: Guard[] = [
  {
    name: 'the lease is checked before anything is written',
    seed: 2_123_826_454,
    without: [],
    mutation: { rewrite: rewriting(withoutLeaseCheck), freezing: 0.9, firing: 0.5 },
    sign: /stumbled|twice|mails instead|not asked for|lost/,
  },
  {
    name: 'final states cannot change',
    seed: 1_908_245_656,
    without: ['drop trigger final_states on event_trigger', 'drop index email_once'],
    mutation: { rewrite: rewriting(withoutLeaseCheck), freezing: 0.9, firing: 0.5 },
    sign: /twice|mails instead|not asked for|lost/,
  },
  {
    name: 'an occasion is planned once',
    seed: 1_447_168_794,
    without: ['drop index event_trigger_one_pending, event_trigger_once_per_anchor'],
    mutation: { planning: 0.9, freezing: 0 },
    sign: /twice planned|doubled/,
  },
  {
    name: 'all is looked at again at firing',
    seed: 1_280_920_787,
    without: [],
    mutation: { parts: { decide: () => 'fire' }, freezing: 0.9 },
    sign: /not asked for/,
  },
]

for (const { name, sign, ...guard } of GUARDS) {
  test(`a history breaks a promise without this guard: ${name}`, async (t) => {
    const { broken, at } = await play(t, { most: 2_000, seconds: 120, ...guard })
    t.diagnostic(`broken in the history of seed ${at}`)
    assert.match(broken.join('\n'), sign)
  })
}
