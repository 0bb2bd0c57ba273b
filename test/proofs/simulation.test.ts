import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { test, type TestContext } from 'node:test'
import { MachineTooSlow } from './interleave.ts'
import { isFull, proofSeed } from './random.ts'
import { simulateRuns, type Series } from './simulated-runs.ts'
import { simulateRun, startWorld, type Mutation, type RunResult } from './simulation.ts'
import { simulateInProcesses } from './simulation-processes.ts'
import {
  rewriting,
  withoutLeaseCheck,
  withoutObjectLocks,
  withoutRetries,
} from './without-guards.ts'

type Extent = { maxRuns: number; seed?: number }

/** Simulates runs until one breaks a promise or there are enough. */
async function simulate(
  t: TestContext,
  { maxRuns, seed = proofSeed(t) }: Extent,
  simulateSeries: (series: Series) => Promise<void>,
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
    repeated: 0,
  }
  const failures: { at: number; result: RunResult }[] = []
  const running = new Set<number>()
  let next = seed
  const isOver = () => failures.length > 0 || next - seed >= maxRuns
  const nextSeed = () => {
    if (isOver()) return undefined
    running.add(next)
    return next++
  }
  const onResult = (at: number, result: RunResult) => {
    running.delete(at)
    counts.runs += 1
    for (const key of SUMMED) counts[key] += result[key]
    if (result.broken.length > 0) failures.push({ at, result })
    if (counts.runs % PRINT_EVERY > 0) return
    // Prints how far a long series is, and how to continue it if it is stopped.
    const firstUndone = Math.min(next, ...running)
    const rest = `PROOF_SEED=${firstUndone} PROOF_RUNS=${seed + maxRuns - firstUndone} runs the rest`
    const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1)
    console.log(`seed ${seed}, ${minutes} min: ${JSON.stringify(counts)}; ${rest}`)
  }
  const onRepeat = () => void (counts.repeated += 1)
  await simulateSeries({ nextSeed, onResult, onRepeat })
  t.diagnostic(`seed ${seed}: ${JSON.stringify(counts)}`)
  const [first] = failures.toSorted((a, b) => a.at - b.at)
  return { broken: first?.result.broken ?? [], log: first?.result.log ?? [], at: first?.at }
}

const PRINT_EVERY = 500
const SUMMED = ['steps', 'crashes', 'frozen', 'triggers', 'mails', 'givenUp'] as const

const RUNS = isFull ? Number(process.env.PROOF_RUNS ?? 100_000) : 15

test('no simulated run of bookings, edits, crashes and clock jumps breaks a promise', async (t) => {
  const processes = isFull ? availableParallelism() : 1
  const { broken, log, at } = await simulate(t, { maxRuns: RUNS }, (series) =>
    simulateInProcesses(processes, series),
  )
  for (const line of log) t.diagnostic(line)
  assert.deepEqual(broken, [], `run of seed ${at}`)
})

/** A run in which the server never chooses between two sessions that wait for the same row. */
const WITHOUT_RACE = 2

test('a seed repeats its simulated run', async (t) => {
  const twice = async () => {
    const world = await startWorld(t)
    const [{ log: _, ...first }, { log: _again, ...again }] = [
      await simulateRun(world, WITHOUT_RACE),
      await simulateRun(world, WITHOUT_RACE),
    ]
    return { first, again }
  }
  let results: Awaited<ReturnType<typeof twice>> | undefined
  while (!results) {
    results = await twice().catch((error) => {
      if (error instanceof MachineTooSlow) return undefined
      throw error
    })
  }
  assert.deepEqual(results.again, results.first)
})

/**
 * The simulation must fail if a guard is missing. The seeds are of runs that failed; if the engine has
 * changed since, a run of a later seed fails.
 */
type Guard = { name: string; seed: number; without: string[]; mutation: Mutation; failure: RegExp }
const GUARDS: Guard[] = [
  {
    name: 'the lease is checked before anything is written',
    seed: 2_123_826_459,
    without: [],
    mutation: { rewrite: rewriting(withoutLeaseCheck), freezing: 0.9, firing: 0.5 },
    failure: /unexpected error|twice|mails instead|not wanted|lost/,
  },
  {
    name: 'finished triggers do not change',
    seed: 1_908_245_660,
    without: ['drop trigger check_references on email', 'drop index email_once'],
    mutation: { rewrite: rewriting(withoutLeaseCheck), freezing: 0.9, firing: 0.5 },
    failure: /twice|mails instead|not wanted|lost/,
  },
  {
    name: 'a reminder is planned once',
    seed: 1_447_168_856,
    without: [
      'drop index event_trigger_once_per_anchor',
      'drop index pending_trigger_of_definition',
    ],
    mutation: { rewrite: rewriting(withoutObjectLocks), planning: 0.9, freezing: 0 },
    failure: /planned twice|doubled/,
  },
  {
    name: 'a trigger is checked again when it fires',
    seed: 1_280_920_787,
    without: [],
    mutation: { parts: { decide: () => 'fire' }, freezing: 0.9 },
    failure: /not wanted/,
  },
  {
    name: 'a trigger is given up only after several failed attempts',
    seed: 1,
    without: [],
    mutation: { rewrite: rewriting(withoutRetries) },
    failure: /^\d given up although/,
  },
]

for (const { name, failure, seed, mutation, without } of GUARDS) {
  test(`a simulated run breaks a promise without this guard: ${name}`, async (t) => {
    const { broken, at } = await simulate(t, { maxRuns: 2_000, seed }, (series) =>
      simulateRuns({ ...series, mutation, without }),
    )
    t.diagnostic(`broken in the run of seed ${at}`)
    assert.match(broken.join('\n'), failure)
  })
}
