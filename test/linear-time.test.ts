import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusals } from '../src/automation/match.ts'
import type { Subject } from '../src/store/subject.ts'
import type { Definition } from '../src/contract/event-definition.ts'
import { templateFaults } from '../src/email/check-template.ts'
import { openLog } from '../src/log.ts'
import { readNdjson } from '../src/scheduling/ndjson.ts'

/**
 * Work that once took quadratic time: seconds for the size 1. Four times the size takes four times
 * as long in linear time, and sixteen times in quadratic time, however slow the machine is.
 */
const SIZES = { small: 1 / 4, large: 1 }
const MAX_RATIO = 10
/** Shorter times are too inexact for a ratio. */
const MIN_MEASURABLE_MS = 200

const cases: { name: string; work: (size: number) => unknown }[] = [
  {
    name: 'unknown tokens at the ends of many lines',
    work: (size) =>
      templateFaults({ emailBodyText: `${'\n'.repeat(4)}%NO_SUCH%`.repeat(300_000 * size) }),
  },
  {
    name: 'an import whose line arrives one byte at a time',
    work: (size) => readPieces(Buffer.from('a'), 50_000 * size),
  },
  {
    name: 'an import of a large file whose end arrives one byte at a time',
    work: (size) =>
      readPieces(Buffer.from(`{"kind":"fileLibrary"`.padEnd(1_100_000)), 50_000 * size),
  },
  {
    name: 'a definition that asks for many tags, for many objects',
    work: (size) => {
      const wanted = Array.from({ length: 12_000 * size }, (_, i) => `v${i}`)
      const definition = {
        eventTypeId: 3,
        objectType: 'CALENDAR',
        filterTagMapJson: JSON.stringify({ level: wanted }),
        locationIdList: [],
        professionalIdList: [],
        reasonIdList: [],
        disclaimerFormIdList: [],
      } as unknown as Definition
      const own = Array.from({ length: 100 }, (_, i) => `w${i}`)
      const subject = {
        objectType: 'CALENDAR',
        tags: { level: own },
        clientTags: { level: own },
      } as unknown as Subject
      for (let i = 0; i < 1_000 * size; i++)
        assert.notEqual(refusals(definition, subject).length, 0)
    },
  },
  {
    name: 'an error message that repeats what a caller sent',
    work: (size) => {
      const log = openLog('error', { write: () => {} })
      log.error({ err: new Error('x'.repeat(400_000 * size)) }, 'failed')
    },
  },
]

async function readPieces(first: Buffer, others: number) {
  async function* pieces() {
    yield first
    for (let i = 0; i < others; i++) yield Buffer.from('a')
  }
  for await (const lines of readNdjson(pieces())) assert.equal(lines.length, 1)
}

for (const { name, work } of cases)
  test(`${name} take${name.startsWith('unknown') ? '' : 's'} linear time`, async (t) => {
    const best = { small: Infinity, large: Infinity }
    for (let round = 0; round < 3; round += 1) {
      for (const size of ['small', 'large'] as const) {
        const before = cpuMs()
        await work(SIZES[size])
        best[size] = Math.min(best[size], cpuMs() - before)
      }
    }
    const took = `${best.small.toFixed(1)} ms, four times the size ${best.large.toFixed(1)} ms`
    t.diagnostic(took)
    assert.ok(best.large < Math.max(MIN_MEASURABLE_MS, MAX_RATIO * best.small), took)
  })

/** CPU time of this thread: other processes do not count. */
function cpuMs() {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
