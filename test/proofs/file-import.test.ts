import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { urlOf } from '../support/owner.ts'
import { assertWithin } from '../support/within.ts'
import { reminder, startWorld } from '../support/world.ts'
import { isFull } from './random.ts'

/*
 * A dry run of a file of another program: every row has a client that does not exist. Only
 * `npm run proof:file-import` asserts duration and memory, on an idle machine.
 */

const ROWS = isFull ? 100_000 : 2_000
const LIMIT_MS = 60_000
const LIMIT_MB = 300

test(`a file of ${ROWS} rows is tried in time, within its memory`, async (t) => {
  const world = await startWorld(t)
  await world.save('/eventDefinition', reminder(world.businessId, -24))
  const folder = mkdtempSync(path.join(tmpdir(), 'bellwether-proof-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'visits.csv')
  writeFileSync(file, makeFile(ROWS))

  const begun = process.hrtime.bigint()
  const options = '--dry-run --events none --create client reason'.split(' ')
  const main = path.join(import.meta.dirname, '../../src/main.ts')
  const child = spawn(process.execPath, [main, 'import', file, ...options], {
    env: { ...process.env, DATABASE_URL: await urlOf(world.database) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const peak = watchMemory(child.pid!)
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  const tookMs = Number(process.hrtime.bigint() - begun) / 1e6
  const peakMb = peak()

  assert.equal(
    stdout,
    `Would be accepted: 2 reason, ${ROWS} client, ${ROWS} calendar. Refused: 0.\n`,
    stderr,
  )
  assert.match(stderr, new RegExp(`It would plan ${ROWS} reminders and send 0 mails at once`))
  t.diagnostic(`${ROWS} rows: ${Math.round(tookMs)} ms, ${peakMb} MB`)
  assertWithin(t, { what: `a dry run of ${ROWS} rows`, tookMs, limitMs: LIMIT_MS })
  if (isFull) assert.ok(peakMb <= LIMIT_MB, `${peakMb} MB`)
})

function makeFile(rows: number) {
  const lines = ['Nr;Datum;Zeit;Dauer;Kunde;E-Mail;Leistung;Status']
  const first = Temporal.PlainDate.from('2032-01-01')
  for (let i = 0; i < rows; i += 1) {
    const date = first.add({ days: i % 700 })
    const [day, month] = [date.day, date.month].map((part) => String(part).padStart(2, '0'))
    const hour = String(8 + (i % 10)).padStart(2, '0')
    const service = i % 2 ? 'Massage' : 'Erstgespräch'
    lines.push(
      `${i};${day}.${month}.${date.year};${hour}:15;45 min;Person${i}, Anna;anna${i}@example.com;${service};bestätigt`,
    )
  }
  return lines.join('\r\n')
}

/** The largest resident memory of a process so far, in MB; 0 where the system does not tell. */
function watchMemory(pid: number) {
  let peak = 0
  const read = () => {
    try {
      const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
      peak = Math.max(peak, Math.round(Number(kilobytes) / 1024))
    } catch {
      // The process has ended.
    }
  }
  const timer = setInterval(read, 100)
  return () => {
    clearInterval(timer)
    return peak
  }
}
