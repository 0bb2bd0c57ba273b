import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openPage } from '../test/support/browser.ts'
import { startService } from '../test/support/service.ts'

/**
 * Takes the screenshots of the README: starts the service with the demo business on a database of
 * its own, signs in and saves docs/console-*.png. Run it with: node scripts/console-screenshots.ts
 */
const SHOTS = [
  { name: 'today', address: '/' },
  { name: 'automations', address: '/automations' },
  { name: 'activity', address: '/activity' },
]

/** All pictures together; the README must load quickly. */
const MAX_BYTES = 600_000

const OPERATOR = 'operator-key-of-the-screenshots'
const PASSWORD = 'ring-the-bell-2026'
const docs = path.join(import.meta.dirname, '../docs')
const folder = mkdtempSync(path.join(tmpdir(), 'bellwether-screenshots-'))
const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
const lifetime = { after: (work: () => unknown) => void ends.push(work) }

try {
  const { base } = await startService(lifetime, { DATA_DIR: folder, ADMIN_API_KEY: OPERATOR })
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
  await post(`/business/${businessId}/seed`, {})
  const person = { username: 'sofia', role: 'OWNER', password: PASSWORD }
  await post(`/business/${businessId}/user`, person)

  const { page } = await openPage(lifetime)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.goto(`${base}/console/`)
  await page.getByLabel('Username').fill(person.username)
  await page.getByLabel('Password').first().fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Main' }).first().waitFor()
  let bytes = 0
  for (const { name, address } of SHOTS) {
    await page.goto(`${base}/console${address}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.locator('[aria-busy]').first().waitFor({ state: 'detached' })
    await page.evaluate('document.fonts.ready.then(() => true)')
    const file = path.join(docs, `console-${name}.png`)
    await page.screenshot({ path: file })
    bytes += statSync(file).size
    console.log(`${file}: ${statSync(file).size} bytes`)
  }
  if (bytes > MAX_BYTES) throw new Error(`the screenshots have ${bytes} bytes, over ${MAX_BYTES}`)
} finally {
  for (const end of ends.toReversed()) await end()
}
