import { mkdtempSync, rmSync, statSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { openPage } from '../test/support/browser.ts'
import { startMailServer } from '../test/support/mail-server.ts'
import { startService } from '../test/support/service.ts'
import { until } from '../test/support/until.ts'

/**
 * Takes the screenshots of the README and of docs/feeds.md: starts the service with the demo business on
 * a database of its own, signs in and saves docs/*.png. Run it with:
 * node scripts/console-screenshots.ts [name …]
 */
const SHOTS = [
  { name: 'console-today', address: '/' },
  { name: 'console-automations', address: '/automations' },
  { name: 'console-activity', address: '/activity?outcome=sent' },
  // The sixth report is the last one in sight.
  { name: 'console-reports', address: '/reports', drawn: 'li:nth-child(6) [data-picture]' },
  { name: 'feeds/connect', address: '/settings/feeds/connect' },
  { name: 'feeds/checked', address: '/settings/feeds/', drawn: 'text=need you' },
]
const wanted = process.argv.slice(2)

/** The maximum size of all pictures together, so that pages load quickly. */
const MAX_BYTES = 1_000_000

/** The number of appointments that are booked before the pictures are taken. */
const BOOKED = 24
/** A machine that takes pictures may have no font for these scripts. */
const UNDRAWN = /[\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}]/u
const WEEK_MS = 7 * 86_400_000

const OPERATOR = 'operator-key-of-the-screenshots'
const PASSWORD = 'ring-the-bell-2026'
const docs = path.join(import.meta.dirname, '../docs')
const folder = mkdtempSync(path.join(tmpdir(), 'bellwether-screenshots-'))
const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
const lifetime = { after: (work: () => unknown) => void ends.push(work) }

try {
  const mailServer = await startMailServer(lifetime)
  const { base } = await startService(lifetime, {
    DATA_DIR: folder,
    ADMIN_API_KEY: OPERATOR,
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    FEED_PRIVATE_HOSTS: '127.0.0.1',
  })
  const post = async (address: string, body: object) => {
    const answer = await fetch(base + address, {
      method: 'POST',
      headers: { authorization: `Bearer ${OPERATOR}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${address}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as { businessId: number }
  }
  const business = { name: 'Lindenhof Physiotherapy', timeZone: 'Europe/Zurich' }
  const { businessId } = await post('/business', business)
  // A busy machine may answer 503; loading the demo again adds what is missing.
  await until(() =>
    post(`/business/${businessId}/seed`, {}).then(
      () => true,
      () => false,
    ),
  )
  const person = { username: 'sofia', role: 'OWNER', password: PASSWORD }
  await post(`/business/${businessId}/user`, person)

  const { page } = await openPage(lifetime)
  await page.setViewportSize({ width: 1280, height: 840 })
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.goto(`${base}/console/`)
  await page.getByLabel('Username').fill(person.username)
  await page.getByLabel('Password').first().fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Main' }).first().waitFor()
  await makeActivity(page)
  const feedId = await connectFeed(page)
  let bytes = 0
  for (const { name, address, drawn } of SHOTS) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    await page.goto(`${base}/console${address}${name === 'feeds/checked' ? feedId : ''}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.locator('[aria-busy]').first().waitFor({ state: 'detached' })
    if (drawn) await page.locator(drawn).waitFor()
    await page.evaluate('document.fonts.ready.then(() => true)')
    const file = path.join(docs, `${name}.png`)
    await page.screenshot({ path: file })
    bytes += statSync(file).size
    console.log(`${file}: ${statSync(file).size} bytes`)
  }
  if (bytes > MAX_BYTES) throw new Error(`the screenshots have ${bytes} bytes, over ${MAX_BYTES}`)
} finally {
  for (const end of ends.toReversed()) await end()
}

/** Connects a published calendar with appointments of clients, and compares it with its source. */
async function connectFeed(page: Page) {
  const { origin } = new URL(page.url())
  const send = async (address: string, data: object = {}) => {
    const answer = await page.request.post(origin + address, { data, headers: { origin } })
    if (!answer.ok()) throw new Error(`${address}: ${await answer.text()}`)
    return answer.json()
  }
  const get = async (address: string) => (await page.request.get(origin + address)).json()
  const [[professional], [reason], [location]] = await Promise.all(
    ['professional', 'reason', 'location'].map(async (kind) => (await get(`/${kind}`)).items),
  )
  const first = Temporal.Now.plainDateISO().add({ days: 2 })
  const events = Array.from({ length: 24 }, (_, i) => {
    const day = String(first.add({ days: i })).replaceAll('-', '')
    const client = `ATTENDEE;CN=Client ${i}:mailto:client${i}@example.com`
    const summary = i % 8 === 7 ? 'Team meeting' : 'Physiotherapy'
    const people = i % 8 === 7 ? [] : i === 3 ? [client, client.replaceAll('3', '33')] : [client]
    const lines = [`UID:${i}`, `DTSTART;TZID=Europe/Zurich:${day}T090000`, 'DURATION:PT45M']
    return ['BEGIN:VEVENT', ...lines, `SUMMARY:${summary}`, ...people, 'END:VEVENT'].join('\r\n')
  })
  const file = ['BEGIN:VCALENDAR', ...events, 'END:VCALENDAR', ''].join('\r\n')
  const server = http.createServer((_request, response) => response.end(file))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  ends.push(() => server.close())
  const { feedId } = await send('/feed', {
    name: 'Salon calendar',
    source: 'ICS',
    mode: 'SHADOW',
    secret: `http://127.0.0.1:${(server.address() as AddressInfo).port}/salon.ics`,
    defaults: {
      professionalId: professional.professionalId,
      reasonId: reason.reasonId,
      locationId: location.locationId,
    },
  })
  await until(async () => (await get(`/feed/${feedId}`)).state.successTime !== null)
  const { feedRunId } = await send(`/feed/${feedId}/reconcile`)
  await until(async () => (await get(`/feed/${feedId}/run/${feedRunId}`)).status === 'DONE')
  return feedId as number
}

/** Books, moves and cancels appointments, so that messages have gone out today. */
async function makeActivity(page: Page) {
  const { origin } = new URL(page.url())
  const get = async (address: string) => (await page.request.get(origin + address)).json()
  const save = async (body: object) => {
    const answer = await page.request.post(`${origin}/calendar`, {
      data: body,
      headers: { origin },
    })
    if (!answer.ok()) throw new Error(`/calendar: ${await answer.text()}`)
    return answer.json()
  }
  const { items } = await get(`/calendar?status=OPEN&from=${Date.now()}&limit=${BOOKED}`)
  for (const [i, appointment] of items.entries()) {
    const { clientId, professionalId, reasonId, locationId, startTime, endTime } = appointment
    const client = await get(`/client/${clientId}`)
    if (UNDRAWN.test(client.firstName)) continue
    const who = { clientId, professionalId, reasonId, locationId }
    const week = { startTime: startTime + WEEK_MS, endTime: endTime + WEEK_MS }
    const { calendarId } = await save({ ...who, ...week })
    if (i % 6 === 1) await save({ calendarId, ...who, ...week, status: 'CANCELLED' })
    if (i % 6 === 4) await save({ calendarId, ...who, startTime, endTime })
  }
  await until(async () => ((await get('/eventTriggers/counts')).COMPLETED ?? 0) >= BOOKED / 2)
}
