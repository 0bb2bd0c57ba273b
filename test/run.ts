import { spawn, type ChildProcess } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildConsole } from '../src/cli/build-console.ts'
import { openEmbedded } from '../src/database/embedded.ts'
import { openLog } from '../src/log.ts'
import { findBrowser } from './support/browser.ts'
import { installForTests } from './support/install.ts'
import { describeSkipped } from './support/programs.ts'
import { makeTemplates } from './support/templates.ts'

/**
 * Runs the tests: node test/run.ts [--watch …] [files or folders]
 * One server for the whole run, the embedded one or TEST_DATABASE_URL; tests take databases of their
 * own from templates with the schema alone, with the business of `startWorld`, or with the demo.
 */
const root = path.dirname(import.meta.dirname)
const given = process.argv.slice(2)
const files = given.filter((argument) => !argument.startsWith('--')).flatMap(testsIn)
const flags = given.filter((argument) => argument.startsWith('--'))

/** Tests that start a service, a server, a command or a browser of their own, or change their process. */
const OWN_PROCESS = /\/test\/(cli|client|database|deploy|feeds|proofs)\//
const STARTS_BROWSER = /from '\.\.\/support\/(browser|console)\.ts'/
/** Files whose tests are all left out by `skipInShortRun`. */
const ONLY_COMPLETE_RUN = /\/console\/(mail-outage|report-period|restored)\.test\.ts$/
/** Files that find the demo as the others need it: in `npm test` they share a service and a browser. */
const SAME_DEMO = [
  /\/console\/reports?(-\w+)?\.test\.ts$/,
  /\/console\/(live|session|tags)\.test\.ts$/,
]
const isCompleteRun = process.env.CONSOLE_TESTS === 'all'
/** Of the proofs, those of durations find the same again; what the others found may be rare. */
const RANDOM_PROOF_FAILED =
  /^assertion .*\/test\/proofs\/(?!(console|file-import|lists|neighbours|prints|scale)\.)/
/** Importing the service takes about a second. */
const FILES_PER_PROCESS = 8

const stops: (() => Promise<unknown> | void)[] = []
const folder = mkdtempSync(path.join(tmpdir(), 'bellwether-test-'))
stops.push(() => rmSync(folder, { recursive: true, force: true }))
const failedList = path.join(folder, 'failed-files')
const skippedList = path.join(folder, 'skipped-tests')
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
  if (isConsole) {
    getBrowser()
    // Once, not by each of the services that start together.
    await buildConsole(openLog('warn'))
  }
  const { environment, drop } = await makeTemplates(await openServer(), { demo: isConsole })
  stops.push(drop)
  // More at once than there are cores: tests wait for leases, servers and browsers.
  exitCode = await runTests(groupTests(), availableParallelism() + 2, environment)
  if (exitCode !== 0 && process.env.TEST_AGAIN) exitCode = await runFailedAgain(environment)
  process.stdout.write(describeSkipped(skippedList))
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

function wanted() {
  const all = () =>
    globSync(path.join(root, 'test/**/*.test.ts')).filter(
      (file) => isCompleteRun || !ONLY_COMPLETE_RUN.test(file),
    )
  const chosen = files.length > 0 ? files : all()
  return chosen.map((file) => path.resolve(file)).toSorted()
}

/** The files that run in processes of their own, and files that import several of the others. */
function groupTests() {
  const { alone = [], shared = [] } = Object.groupBy(wanted(), (file) =>
    OWN_PROCESS.test(file) || STARTS_BROWSER.test(readFileSync(file, 'utf8')) ? 'alone' : 'shared',
  )
  const sameDemo = isCompleteRun
    ? []
    : SAME_DEMO.map((pattern) => alone.filter((file) => pattern.test(file)))
  const groups = [
    ...sameDemo.filter((some) => some.length > 0),
    ...Array.from({ length: Math.ceil(shared.length / FILES_PER_PROCESS) }, (_, index) =>
      shared.slice(index * FILES_PER_PROCESS, (index + 1) * FILES_PER_PROCESS),
    ),
  ]
  const grouped = new Set(groups.flat())
  return [...alone.filter((file) => !grouped.has(file)), ...groups.map(writeGroup)]
}

function writeGroup(some: string[], index: number) {
  const group = path.join(folder, `group-${index}.mjs`)
  writeFileSync(group, some.map((file) => `import '${pathToFileURL(file)}'\n`).join(''))
  return group
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

async function runTests(
  chosen: string[],
  concurrency: number,
  environment: Record<string, string>,
) {
  if (stopping.signal.aborted) return 1
  const args = [
    '--test',
    `--test-concurrency=${concurrency}`,
    '--test-timeout=1800000',
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${pathToFileURL(path.join(root, 'test/support/failed-files.ts'))}`,
    `--test-reporter-destination=${failedList}`,
    ...flags,
    ...chosen,
  ]
  const child = (tests = spawn(process.execPath, args, {
    cwd: root,
    stdio: 'inherit',
    // The processes read the sources in the form that the first one left.
    env: {
      NODE_COMPILE_CACHE: path.join(root, 'node_modules/.cache/bellwether'),
      TEST_SKIPPED_LIST: skippedList,
      ...process.env,
      ...environment,
    },
  }))
  return new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

/**
 * A test that fails because the machine was busy passes when its file runs alone; a defect fails
 * again. An assertion of a random proof counts at once: what it found may not happen a second time.
 */
async function runFailedAgain(environment: Record<string, string>) {
  const failures = readFileSync(failedList, 'utf8').trim().split('\n')
  const files = new Set(
    failures.map((line) => line.slice(line.indexOf(' ') + 1)).filter(existsSync),
  )
  const isFinal = failures.some((line) => RANDOM_PROOF_FAILED.test(line))
  if (files.size === 0 || isFinal) return 1
  const names = [...files].map((file) => path.relative(root, file)).join('\n  ')
  console.log(`\nFailed beside others, now alone:\n  ${names}\n`)
  return runTests([...files], 1, environment)
}
