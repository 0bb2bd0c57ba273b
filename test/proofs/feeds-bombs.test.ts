import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { SourceError } from '../../src/feeds/source.ts'
import { openSources } from '../../src/feeds/sources/sources.ts'
import { accountOf, followSource } from '../feeds/source-account.ts'
import { assertNeverBlocks } from '../support/event-loop.ts'
import { assertWithin } from '../support/within.ts'
import { startWorld } from '../support/world.ts'
import { BOMBS, type Bomb } from './feeds-bombs.ts'
import { isFull } from './random.ts'

/*
 * Files and answers that are made to exhaust their reader. Each ends within seconds, in a refusal or with
 * entries of which the bad ones are held; meanwhile the engine, which shares the process, is not late.
 */

const MAX_SECONDS = 10
const MAX_MORE_MB = 300
const MB = 1_048_576
const sources = openSources(['127.0.0.1'])

/** A process that answers with the current bomb: making it must not count as reading it. */
async function startServer(t: TestContext) {
  const child = fork(path.join(import.meta.dirname, 'feeds-bomb-server.ts'))
  t.after(() => child.kill())
  const answered = () => new Promise<number>((resolve) => child.once('message', resolve))
  const url = `http://127.0.0.1:${await answered()}/cal/`
  const load = async (what: string) => {
    child.send(what)
    await answered()
  }
  return { url, load }
}

/** Books again and again; returns how long one of twenty bookings takes at least. */
function keepBooking({ book, clock }: Awaited<ReturnType<typeof startWorld>>) {
  let isDone = false
  const tookMs: number[] = []
  const booking = async () => {
    for (; !isDone; await wait(20)) {
      const startedAt = performance.now()
      await book(clock.now().add({ hours: 24 + tookMs.length }))
      tookMs.push(performance.now() - startedAt)
    }
  }
  const running = booking()
  return async () => {
    isDone = true
    await running
    return tookMs.toSorted((a, b) => a - b)[Math.floor(tookMs.length * 0.95)]!
  }
}

/** Of which `npm test` tries those that are refused soonest. */
const SOME = new Set([0, 2, 11, 13, 17, 19, 21, 26, 27, 32, 36, 37])

test('no file and no answer keeps its reader busy, fills the memory or delays the engine', async (t) => {
  const world = await startWorld(t)
  const { url, load } = await startServer(t)
  assert.ok(BOMBS.length >= 30)
  // The threads and the parsers are there before anything is measured.
  const [first] = BOMBS as [Bomb]
  const endBaseline = keepBooking(world)
  await wait(isFull ? 10_000 : 1_000)
  const baselineMs = await endBaseline()
  const endBooking = keepBooking(world)
  for (const bomb of [first, ...BOMBS.filter((_, at) => isFull || SOME.has(at))]) {
    await load(bomb.what)
    const { outcome, seconds, moreMb } = await measure(t, bomb.what, () => pull(bomb, url))
    const result = `${bomb.what}: ${seconds.toFixed(1)} s, ${Math.round(moreMb)} MB, ${outcome}`
    t.diagnostic(result)
    assertWithin(t, { what: bomb.what, tookMs: seconds * 1_000, limitMs: MAX_SECONDS * 1_000 })
    assert.ok(moreMb < MAX_MORE_MB, result)
  }
  const what = 'p95 of the bookings of others'
  assertWithin(t, { what, tookMs: await endBooking(), limitMs: 2 * baselineMs })
})

/** The outcome: a refusal in words, or how many entries were read and held. */
async function pull({ source }: Bomb, url: string) {
  const connection = {
    ICS: {},
    CALDAV: { url, username: 'salon', calendars: ['/cal/'] },
    CALCOM: { url },
  }[source]
  const account = accountOf(connection, source === 'ICS' ? url : 'cal_key')
  try {
    const { resources } = await followSource(sources.find(source), account).pullOnce()
    const entries = resources.flatMap((resource) => resource.entries)
    const held = entries.filter(({ problem }) => problem)
    return `${entries.length} entries, ${held.length} held`
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    assert.ok(error.message.length > 20 && error.message.length < 300, error.message)
    return error.message
  }
}

async function measure(t: TestContext, what: string, work: () => Promise<string>) {
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  let most = before
  let isDone = false
  const watch = async () => {
    for (; !isDone; await wait(20)) most = Math.max(most, process.memoryUsage.rss())
  }
  const watching = watch()
  const startedAt = performance.now()
  const outcome = await assertNeverBlocks(t, what, work).finally(() => (isDone = true))
  await watching
  return { outcome, seconds: (performance.now() - startedAt) / 1_000, moreMb: (most - before) / MB }
}
