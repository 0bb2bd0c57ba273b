import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { test, type TestContext } from 'node:test'
import { playRuns, type Playing } from './simulated-runs.ts'
import { Disturbed } from './interleave.ts'
import { playInProcesses } from './players.ts'
import { isFull, proofSeed } from './random.ts'
import {
  rewriting,
  withoutLeaseCheck,
  withoutRetries,
  withoutTurnsAtObjects,
} from './without-guards.ts'
import { playRun, startWorld, type Mutation, type Told } from './simulation.ts'

type Extent = { most: number; seed?: number }

/** Plays simulated runs until one breaks a promise or enough were played. */
async function play(
  t: TestContext,
  { most, seed = proofSeed(t) }: Extent,
  playAll: (playing: Playing) => Promise<void>,
) {
  const startedAt = performance.now()
  const counts = {
    runs: 0,
    steps: 0,
    crashes: 0,
    frozen: 0,
    triggers: 0,
    mails: 0,
    givenUp: 0,
    disturbed: 0,
  }
  const found: { at: number; told: Told }[] = []
  const begun = new Set<number>()
  let first = seed
  const isOver = () => found.length > 0 || first - seed >= most
  const next = () => {
    if (isOver()) return undefined
    begun.add(first)
    return first++
  }
  const tell = (at: number, told: Told) => {
    begun.delete(at)
    counts.runs += 1
    for (const key of COUNTED) counts[key] += told[key]
    if (told.broken.length > 0) found.push({ at, told })
    if (counts.runs % SAID_EVERY > 0) return
    // A long run says how far it is, and how another goes on where this one is ended.
    const undone = Math.min(first, ...begun)
    const rest = `PROOF_SEED=${undone} PROOF_RUNS=${seed + most - undone} plays the rest`
    const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1)
    console.log(`seed ${seed}, ${minutes} min: ${JSON.stringify(counts)}; ${rest}`)
  }
  const disturbed = () => void (counts.disturbed += 1)
  await playAll({ next, tell, disturbed })
  t.diagnostic(`seed ${seed}: ${JSON.stringify(counts)}`)
  const [worst] = found.toSorted((a, b) => a.at - b.at)
  return { broken: worst?.told.broken ?? [], story: worst?.told.story ?? [], at: worst?.at }
}

const SAID_EVERY = 500
const COUNTED = ['steps', 'crashes', 'frozen', 'triggers', 'mails', 'givenUp'] as const

const RUNS = isFull ? Number(process.env.PROOF_RUNS ?? 100_000) : 60

test('no simulated run of bookings, edits, crashes and clock jumps breaks a promise', async (t) => {
  const processes = isFull ? availableParallelism() : 1
  const { broken, story, at } = await play(t, { most: RUNS }, (playing) =>
    playInProcesses(processes, playing),
  )
  for (const line of story) t.diagnostic(line)
  assert.deepEqual(broken, [], `run of seed ${at}`)
})

/** One in which the server never has to choose between two who waited for the same row. */
const WITHOUT_RACE = 2

test('a seed repeats its simulated run', async (t) => {
  const twice = async () => {
    const world = await startWorld(t)
    const [{ story: _, ...first }, { story: _again, ...again }] = [
      await playRun(world, WITHOUT_RACE),
      await playRun(world, WITHOUT_RACE),
    ]
    return { first, again }
  }
  let played: Awaited<ReturnType<typeof twice>> | undefined
  while (!played) {
    played = await twice().catch((error) => {
      if (error instanceof Disturbed) return undefined
      throw error
    })
  }
  assert.deepEqual(played.again, played.first)
})

/**
 * The proof is worth something if it fails where a guard is missing. The seeds are those of
 * simulated runs that did; where the engine takes other steps since, a later one does.
 */
type Guard = { name: string; seed: number; without: string[]; mutation: Mutation; sign: RegExp }
const GUARDS: Guard[] = [
  {
    name: 'the lease is checked before anything is written',
    seed: 2_123_826_455,
    without: [],
    mutation: { rewrite: rewriting(withoutLeaseCheck), freezing: 0.9, firing: 0.5 },
    sign: /stumbled|twice|mails instead|not asked for|lost/,
  },
  {
    name: 'what is done stays as it is',
    seed: 1_908_245_658,
    without: ['drop trigger check_references on email', 'drop index email_once'],
    mutation: { rewrite: rewriting(withoutLeaseCheck), freezing: 0.9, firing: 0.5 },
    sign: /twice|mails instead|not asked for|lost/,
  },
  {
    name: 'an occasion is planned once',
    seed: 1_447_168_838,
    without: [
      'drop index event_trigger_once_per_anchor',
      'drop index pending_trigger_of_definition',
    ],
    mutation: { rewrite: rewriting(withoutTurnsAtObjects), planning: 0.9, freezing: 0 },
    sign: /twice planned|doubled/,
  },
  {
    name: 'all is looked at again at firing',
    seed: 1_280_920_787,
    without: [],
    mutation: { parts: { decide: () => 'fire' }, freezing: 0.9 },
    sign: /not asked for/,
  },
  {
    name: 'nothing is given up before several died over it alone',
    seed: 1,
    without: [],
    mutation: { rewrite: rewriting(withoutRetries) },
    sign: /^\d set aside though/,
  },
]

for (const { name, sign, seed, mutation, without } of GUARDS) {
  test(`a simulated run breaks a promise without this guard: ${name}`, async (t) => {
    const { broken, at } = await play(t, { most: 2_000, seed }, (playing) =>
      playRuns({ ...playing, mutation, without }),
    )
    t.diagnostic(`broken in the run of seed ${at}`)
    assert.match(broken.join('\n'), sign)
  })
}
