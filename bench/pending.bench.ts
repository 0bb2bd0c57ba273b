import { fork } from 'node:child_process'
import path from 'node:path'
import { findNextDueTime } from '../src/store/queue.ts'
import { TRIGGER_QUEUE } from '../src/store/trigger-queue.ts'
import { fireAll, startEngine } from './peers/bellwether.ts'
import { at, book, median, openStage } from './peers/stage.ts'

/**
 * With a million pending reminders: how fast due ones fire, how late, what one poll of the queue costs,
 * and how much memory a node needs that does nothing else, in its own process.
 * `node bench/pending.bench.ts [pending] [rounds]`
 */
const PENDING = Number(process.argv[2] ?? 1_000_000)
const ROUNDS = Number(process.argv[3] ?? 3)
const FEW = 10_000
const [SECONDS, EACH_SECOND] = [30, 100]
const COMPILED = path.join(import.meta.dirname, '../node_modules/.cache/bellwether')

const stage = await openStage()
const { database, pool } = stage

async function addPending(count: number) {
  const dueFrom = Temporal.Now.instant().add({ hours: 24 * 30 })
  for (let done = 0; done < count; done += 100_000) {
    await book(stage, Math.min(100_000, count - done), { dueFrom, spreadMs: 1_000_000 })
  }
  await pool.query('vacuum analyze')
  await pool.query('checkpoint')
}

async function measureRate(pending: number) {
  const rates: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const dueFrom = Temporal.Now.instant().subtract({ seconds: 30 })
    await book(stage, FEW, { dueFrom, spreadMs: 1_000 })
    await pool.query('vacuum analyze pending_trigger, event_trigger, email')
    const { fired, ms } = await fireAll(database, FEW)
    rates.push((fired / ms) * 1000)
  }
  const shown = rates.map((rate) => Math.round(rate)).join(', ')
  console.log(`fired with ${pending} pending: ${shown}/s`)
  return median(rates)
}

async function timeOf(step: () => Promise<unknown>) {
  const times: number[] = []
  for (let i = 0; i < 500; i += 1) {
    const startedAt = performance.now()
    await step()
    times.push(performance.now() - startedAt)
  }
  return `p50 ${at(times, 0.5).toFixed(2)} ms, p99 ${at(times, 0.99).toFixed(2)} ms`
}

/** 100 triggers a second for 30 s, in addition to all pending ones. */
async function measureLateness() {
  const late: number[] = []
  const memory: number[] = []
  const node = fork(path.join(import.meta.dirname, 'peers/node.ts'), {
    env: { ...process.env, DATABASE_URL: stage.url, NODE_COMPILE_CACHE: COMPILED },
    // The flags of `npm start`; with the compile cache, a second start needs less memory.
    execArgv: ['--max-semi-space-size=8', '--heap-growing-percent=50'],
  })
  const all = Promise.withResolvers<void>()
  node.on('message', (report: { late?: number[]; memory?: number }) => {
    late.push(...(report.late ?? []))
    if (report.memory) memory.push(report.memory / 1e6)
    if (late.length === SECONDS * EACH_SECOND) all.resolve()
  })
  const dueFrom = Temporal.Now.instant().add({ seconds: 5 })
  await book(stage, SECONDS * EACH_SECOND, { dueFrom, spreadMs: SECONDS * 1000 })
  await all.promise
  node.kill()
  const [min, p50, p99, max] = [0, 0.5, 0.99, 1].map((part) => at(late, part))
  console.log(`late: p50 ${p50} ms, p99 ${p99} ms, max ${max} ms, min ${min} ms`)
  const [first, last] = [memory[Math.floor(memory.length / 4)]!, memory.at(-1)!]
  console.log(
    `memory of the node: ${first.toFixed(0)} MB after a quarter, ${last.toFixed(0)} MB at the end, ` +
      `${Math.max(...memory).toFixed(0)} MB at most`,
  )
}

await addPending(FEW)
const few = await measureRate(FEW)
await addPending(PENDING - FEW)
const many = await measureRate(PENDING)
console.log(`${(many / few).toFixed(2)} of the rate with ${FEW}`)
const idle = startEngine(database)
console.log(`an empty claim: ${await timeOf(() => idle.loops.fire[0]!.runOnce())}`)
console.log(
  `finding the next due time: ${await timeOf(() => findNextDueTime(database.engine, TRIGGER_QUEUE))}`,
)
await measureLateness()
await stage.close()
process.exit(0)
