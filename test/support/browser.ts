import { existsSync } from 'node:fs'
import { after } from 'node:test'
import { chromium, type Browser, type Page } from 'playwright-core'
import { cleanUpLater, type Lifetime } from './clean-up.ts'
import { onThisMachine } from './until.ts'

const PATHS = [
  process.env.CHROMIUM_PATH,
  // The headless build needs about half of the CPU time.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]

/** An installed browser, or the one from Playwright. */
export function findBrowser() {
  const known = [...PATHS, chromium.executablePath()]
  return known.find((place) => place !== undefined && place !== '' && existsSync(place))
}

const QUIET = [
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]

let browser: Promise<Browser> | undefined

/** One browser for all tests of a file, because starting it takes longer than most tests. */
function openBrowser() {
  const executablePath = findBrowser()
  if (!executablePath)
    throw new Error('no browser: set CHROMIUM_PATH, or run npm test, which installs one')
  const isRoot = process.getuid?.() === 0
  return chromium.launch({
    executablePath,
    args: isRoot ? [...QUIET, '--no-sandbox'] : QUIET,
  })
}
after(async () => (await browser)?.close())

/** A page with its own cookies and storage, its errors and its requests to other hosts. */
export async function openPage(t: Lifetime): Promise<{ page: Page; complaints: string[] }> {
  browser ??= openBrowser()
  const context = await (
    await browser
  ).newContext({
    viewport: { width: 1200, height: 860 },
    // Animations take time and processor.
    reducedMotion: 'reduce',
  })
  cleanUpLater(t, () => context.close())
  const page = await context.newPage()
  // Only ends a test that would hang.
  page.setDefaultTimeout(onThisMachine(30_000))

  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('requestfailed', (request) => {
    // Leaving a page cancels its requests.
    if (request.failure()?.errorText === 'net::ERR_ABORTED') return
    complaints.push(`failed: ${request.url()}`)
  })
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`)
  })
  page.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url())
    const isOurs = hostname === '127.0.0.1' || protocol === 'data:' || protocol === 'blob:'
    if (!isOurs) complaints.push(`request to another host: ${request.url()}`)
  })
  return { page, complaints }
}

/** Records every dialog that a script opens as a complaint. */
export function watchDialogs(page: Page, complaints: string[]) {
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
}
