import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import assert from 'node:assert/strict'
import { after, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { openPage } from './browser.ts'
import { cloneDatabase } from './database.ts'
import { startService } from './service.ts'
import { until } from './until.ts'

const lifetime = { after } as Pick<TestContext, 'after'>
const OPERATOR = 'operator-key-of-this-test'
const PASSWORD = 'ring-the-bell-2026'

type Person = { username: string; role: string; locationIdList?: number[] }

/** The real service with the demo business and users who can sign in. */
export async function startConsole(people: Person[], settings: Record<string, string> = {}) {
  const { url } = await cloneDatabase(lifetime)
  const service = await startService(lifetime, {
    DATABASE_URL: url,
    ADMIN_API_KEY: OPERATOR,
    RATE_LIMIT: '100000/s,100000',
    ...settings,
  })
  const post = async (path: string, body: object) => {
    const answer = await fetch(service.base + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${OPERATOR}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    assert.ok(answer.ok, `POST ${path}: ${answer.status}`)
    return answer.json() as Promise<{ businessId: number; key: string }>
  }
  const { businessId } = await post('/business', {
    name: 'Lindenhof Physiotherapy',
    timeZone: 'Europe/Zurich',
  })
  // A busy machine may answer 503; loading the demo again adds what is missing.
  await until(() =>
    post(`/business/${businessId}/seed`, {}).then(
      () => true,
      () => false,
    ),
  )
  for (const person of people) {
    await post(`/business/${businessId}/user`, { ...person, password: PASSWORD })
  }

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
  const { key } = await post(`/business/${businessId}/apiKey`, { name: 'test' })
  const call = async (method: 'GET' | 'POST', path: string, body?: object) => {
    const answer = await fetch(service.base + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    assert.ok(answer.ok, `${method} ${path}: ${answer.status}`)
    // oxlint-disable-next-line typescript/no-explicit-any -- answers are asserted on, not typed
    return (await answer.json()) as any
  }
  return { service, businessId, openAs, call, url, password: PASSWORD }
}

const AXE_SOURCE = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
)

const ALL_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** The rules whose result depends on the colour scheme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

/** Fails with every WCAG 2.2 AA rule that the page violates; in dark only those about colours. */
export async function assertAccessible(page: Page, scheme: 'light' | 'dark') {
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

/** Keeps a picture of the page, to be looked at after the run. */
export async function keepScreenshot(page: Page, name: string) {
  await page.screenshot({ path: path.join(SCREENSHOTS, `${name}.png`) })
}

/** In the page. */
declare const axe: {
  run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>
}
