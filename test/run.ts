import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, globSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { openEmbedded } from '../src/database/embedded.ts'
import { migrate } from '../src/database/migrate.ts'
import { findBrowser } from './support/browser.ts'
import { installForTests } from './support/install.ts'
import { fillDemo, fillWorld } from './support/templates.ts'

/**
 * Runs the tests: node test/run.ts [--watch …] [files or folders]
 * One server for the whole run, the embedded one or TEST_DATABASE_URL; tests take databases of their
 * own from templates with the schema alone, with the business of `startWorld`, or with the demo.
 */
const root = path.dirname(import.meta.dirname)
const given = process.argv.slice(2)
const files = given.filter((argument) => !argument.startsWith('--')).flatMap(testsIn)
const flags = given.filter((argument) => argument.startsWith('--'))

const stops: (() => Promise<unknown> | void)[] = []
let exitCode = 1
// The tests end first, then the server.
let tests: ChildProcess | undefined
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    stopping.abort()
    tests?.kill(signal)
  })
}
try {
  const isConsole = wanted().some((file) => file.includes('console'))
  if (isConsole) getBrowser()
  const server = await openServer()
  const template = await makeTemplate(server, 'template0', migrate)
  const world = await makeTemplate(server, template, fillWorld)
  const demo = isConsole ? await makeTemplate(server, template, fillAnalyzedDemo) : undefined
  exitCode = await runTests({
    TEST_SERVER_URL: server,
    TEST_TEMPLATE: template,
    TEST_WORLD_TEMPLATE: world,
    ...(demo ? { TEST_DEMO_TEMPLATE: demo } : {}),
  })
} finally {
  for (const stop of stops.toReversed()) await stop()
}
process.exit(exitCode)

function testsIn(place: string) {
  return statSync(place).isDirectory() ? globSync(`${place}/**/*.test.ts`) : [place]
}

async function openServer() {
  const existing = process.env.TEST_DATABASE_URL
  if (existing) return existing

  const folder = mkdtempSync(path.join(tmpdir(), 'bellwether-test-'))
  stops.push(() => rmSync(folder, { recursive: true, force: true }))
  // Nothing here outlives the run, so nothing need survive a power cut.
  const embedded = await openEmbedded(path.join(folder, 'data'), 'command', {
    fsync: 'off',
    full_page_writes: 'off',
    synchronous_commit: 'off',
    max_connections: '300',
  })
  stops.push(() => embedded.stop())
  return embedded.url
}

async function makeTemplate(server: string, from: string, fill: (url: string) => Promise<unknown>) {
  // A server that is shared may still have the template of a run that was killed.
  const template = `bellwether_template_${randomBytes(6).toString('hex')}`
  await onServer(server, `create database ${template} template ${from}`)
  stops.push(() => onServer(server, `drop database if exists ${template} with (force)`))
  const url = new URL(server)
  url.pathname = `/${template}`
  await fill(url.href)
  return template
}

async function fillAnalyzedDemo(url: string) {
  await fillDemo(url)
  // The service runs ANALYZE on tables that grew; in a clone it cannot see that they did.
  await onServer(url, 'analyze')
}

async function onServer(url: string, statement: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

function wanted() {
  return files.length > 0 ? files : globSync('test/**/*.test.ts', { cwd: root })
}

/** The tests of the console run in a real browser. */
function getBrowser() {
  if (findBrowser()) return
  const isDebian = existsSync('/usr/bin/apt-get') && process.getuid?.() === 0
  const playwright = path.join(root, 'node_modules/playwright-core/cli.js')
  installForTests({
    missing: isDebian
      ? "a browser, Debian's package chromium-headless-shell, for the tests of the console"
      : "a browser, Playwright's chromium-headless-shell, for the tests of the console",
    command: isDebian
      ? 'apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium-headless-shell || apt-get install -y -qq --no-install-recommends chromium'
      : `"${process.execPath}" "${playwright}" install chromium-headless-shell`,
    instead: 'Set CHROMIUM_PATH to a browser; without one the tests of the console fail.',
  })
}

async function runTests(environment: Record<string, string>) {
  if (stopping.signal.aborted) return 1
  // One more than a small machine has cores: some tests wait for a lease, a server or a browser.
  const args = ['--test', '--test-concurrency=3', '--test-timeout=900000', ...flags, ...wanted()]
  const child = (tests = spawn(process.execPath, args, {
    cwd: files.length > 0 ? process.cwd() : root,
    stdio: 'inherit',
    // Each file is a process of its own: they read the sources in the form that the first one left.
    env: {
      NODE_COMPILE_CACHE: path.join(root, 'node_modules/.cache/bellwether'),
      ...process.env,
      ...environment,
    },
  }))
  return new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
