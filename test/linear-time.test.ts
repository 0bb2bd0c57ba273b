import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusals } from '../src/automation/match.ts'
import type { Subject } from '../src/store/subject.ts'
import type { Definition } from '../src/contract/event-definition.ts'
import { templateFaults } from '../src/email/check-template.ts'
import { openLog } from '../src/log.ts'
import { readNdjson } from '../src/scheduling/ndjson.ts'

/**
 * Work that once took quadratic time, each with an input that took many seconds. The limits are CPU
 * time, which depends little on other load, and lie far from both the fast and the slow case.
 */
const MAX_CPU_MS = 2_000

const cases: { name: string; work: () => unknown }[] = [
  {
    name: 'unknown tokens at the ends of many lines',
    work: () => templateFaults({ emailBodyText: `${'\n'.repeat(4)}%NO_SUCH%`.repeat(300_000) }),
  },
  {
    name: 'an import whose line arrives one byte at a time',
    work: async () => {
      async function* pieces() {
        for (let i = 0; i < 250_000; i++) yield Buffer.from('a')
      }
      for await (const lines of readNdjson(pieces())) assert.equal(lines.length, 1)
    },
  },
  {
    name: 'a definition that asks for many tags, for many objects',
    work: () => {
      const wanted = Array.from({ length: 12_000 }, (_, i) => `v${i}`)
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
      for (let i = 0; i < 1_000; i++) assert.notEqual(refusals(definition, subject).length, 0)
    },
  },
  {
    name: 'an error message that repeats what a caller sent',
    work: () => {
      const log = openLog('error', { write: () => {} })
      log.error({ err: new Error('x'.repeat(400_000)) }, 'failed')
    },
  },
]

for (const { name, work } of cases)
  test(`${name} take${name.startsWith('unknown') ? '' : 's'} linear time`, async () => {
    const before = cpuMs()
    await work()
    const used = cpuMs() - before
    assert.ok(used < MAX_CPU_MS, `${used} ms`)
  })

function cpuMs() {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
