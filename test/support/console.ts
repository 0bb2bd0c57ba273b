import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import assert from 'node:assert/strict'
import { after, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { openPage } from './browser.ts'
import { cloneDatabase, cloneDemo } from './database.ts'
import { startService } from './service.ts'
import { until } from './until.ts'

const lifetime = { after } as Pick<TestContext, 'after'>
const OPERATOR = 'operator-key-of-this-test'
const PASSWORD = 'ring-the-bell-2026'
const businessId = 1

/** `npm run test:console`, and so CI, runs all tests of the console, light and dark. */
export const isCompleteRun = process.env.CONSOLE_TESTS === 'all'

/** Leaves the test out of `npm test`, which runs the main path of the most used pages. */
export function skipInShortRun(t: TestContext) {
  if (!isCompleteRun) t.skip('only in npm run test:console, or with CONSOLE_TESTS=all')
  return !isCompleteRun
}

type Person = {
  username: string
  role: string
  emailAddress?: string
  locationIdList?: number[]
}

/** The real service with the demo business and users who can sign in. */
export async function startConsole(people: Person[], settings?: Record<string, string>) {
  if (settings) return serveConsole(await cloneDemo(lifetime), people, { settings })
  demo ??= cloneDemo(lifetime).then((clone) => serveConsole(clone, [], {}))
  // One file after the other: they are imported concurrently.
  demo = demo.then(async (started) => {
    await addPeople(started, people)
    return started
  })
  return demo
}

/** Files that share a process share it. */
let demo: ReturnType<typeof serveConsole> | undefined

/** The real service with a business that has nothing yet, and users who can sign in. */
export const startEmptyConsole = async (people: Person[]) =>
  serveConsole(await cloneDatabase(lifetime), people, {
    business: { name: 'Praxis am See', timeZone: 'Europe/Zurich' },
  })

type Console = { settings?: Record<string, string>; business?: { name: string; timeZone: string } }

async function serveConsole(
  { url, database }: Awaited<ReturnType<typeof cloneDatabase>>,
  people: Person[],
  { settings, business }: Console,
) {
  const service = await startService(lifetime, {
    DATABASE_URL: url,
    ADMIN_API_KEY: OPERATOR,
    RATE_LIMIT: '100000/s,100000',
    ...settings,
  })
  const asOperator = callWith(service.base, OPERATOR)
  if (business) await asOperator('POST', '/business', business)

  /** A page of the console as this person sees it. */
  const openAs = async (t: TestContext, username: string, path = '/') => {
    const opened = await openPage(t)
    const { page } = opened
    const data = { username, password: PASSWORD }
    // A busy machine may answer 503.
    await until(async () =>
      (await page.context().request.post(`${service.base}/session`, { data })).ok(),
    )
    await page.goto(`${service.base}/console${path}`)
    await page.getByRole('navigation', { name: 'Main' }).first().waitFor()
    return opened
  }
  /** Calls the service with a key of the business. */
  const { key } = await asOperator('POST', `/business/${businessId}/apiKey`, { name: 'test' })
  const call = callWith(service.base, key)
  await addPeople({ call, asOperator }, people)
  return { service, businessId, openAs, call, asOperator, url, database, password: PASSWORD }
}

type Callers = Record<'call' | 'asOperator', ReturnType<typeof callWith>>

/** People whom another file of the process added stay as they are, except for what is given here. */
async function addPeople({ call, asOperator }: Callers, people: Person[]) {
  const { items } = await call('GET', '/user')
  for (const person of people) {
    const known = items.find(({ username }: Person) => username === person.username)
    if (known) await call('POST', '/user', { ...person, userId: known.userId })
    else await asOperator('POST', `/business/${businessId}/user`, { ...person, password: PASSWORD })
  }
}

const callWith =
  (base: string, key: string) => async (method: 'GET' | 'POST', path: string, body?: object) => {
    const request = {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }
    let answer!: Response
    // A busy machine may answer 503.
    await until(async () => (answer = await fetch(base + path, request)).status !== 503)
    assert.ok(answer.ok, `${method} ${path}: ${answer.status}`)
    // oxlint-disable-next-line typescript/no-explicit-any -- answers are asserted on, not typed
    return (await answer.json()) as any
  }

/** Waits until nothing on the page is loading any more. */
export const waitUntilLoaded = (page: Page) =>
  page.locator('[aria-busy]').first().waitFor({ state: 'detached' })

/** Drags an appointment of one hour to an hour later. */
export async function dragByAnHour(page: Page, calendarId: number) {
  const visit = page.locator(`[data-visit="${calendarId}"]`)
  // The bar that says that no mail leaves moves the grid when it appears.
  await page.locator('[data-mail]').waitFor()
  await visit.hover({ position: { x: 12, y: 6 } })
  const box = (await visit.boundingBox())!
  await page.mouse.down()
  await page.mouse.move(box.x + 14, box.y + 40, { steps: 4 })
  await page.mouse.move(box.x + 14, box.y + 6 + box.height, { steps: 4 })
  await page.mouse.up()
  await page.getByRole('button', { name: 'Discard' }).waitFor()
}

const AXE_SOURCE = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
)

const ALL_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** The rules whose result depends on the colour scheme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

type Scheme = 'light' | 'dark'
export const SCHEMES: Scheme[] = isCompleteRun ? ['light', 'dark'] : ['light']

/** Fails with every WCAG 2.2 AA rule that the page violates; in dark only those about colours. */
export async function assertAccessible(page: Page, schemes = SCHEMES) {
  for (const scheme of schemes) await assertAccessibleIn(page, scheme)
}

async function assertAccessibleIn(page: Page, scheme: Scheme) {
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
  // Evaluated as a statement, because the page's content policy blocks other scripts.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(AXE_SOURCE)
  const violations = await page.evaluate(
    async (options) => {
      const { violations } = await axe.run(options)
      return violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`,
      )
    },
    {
      runOnly: scheme === 'light' ? ALL_RULES : COLOUR_RULES,
      resultTypes: ['violations'],
      // Mails run no scripts, so axe would wait for their frames in vain.
      iframes: false,
    },
  )
  assert.deepEqual(violations, [], scheme)
}

const SCREENSHOTS = path.join(import.meta.dirname, '../output/console')

/** With `CONSOLE_PICTURES=1`, saves a screenshot of the page for inspection after the run. */
export async function keepScreenshot(page: Page, name: string) {
  if (!process.env.CONSOLE_PICTURES) return
  await page.screenshot({ path: path.join(SCREENSHOTS, `${name}.png`) })
}

/** Screenshots in light, dark and on a phone, whose page must not scroll sideways. */
export async function keepPictures(page: Page, name: string) {
  const desktop = page.viewportSize()!
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await keepScreenshot(page, `${name}-${colorScheme}`)
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 390, height: 844 })
  await keepScreenshot(page, `${name}-phone`)
  assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
  await page.setViewportSize(desktop)
}

/** Exists in the page. */
declare const axe: {
  run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>
}
