import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openEmbedded } from '../src/database/embedded.ts'
import { randomFrom } from './proofs/random.ts'
import { makeTemplates } from './support/templates.ts'

/**
 * Breaks random places of src/ and console/, one at a time, and lists those that no test notices:
 * node test/mutate.ts [--places=100] [--seed=1] [--from=0] [--to=100] [--files=6] [folders]
 * Works on a copy. For each place it runs the test files that are nearest to it, until one fails.
 */
const root = path.dirname(import.meta.dirname)
const given = process.argv.slice(2)
const option = (name: string, otherwise: number) =>
  Number(given.find((one) => one.startsWith(`--${name}=`))?.split('=')[1] ?? otherwise)
const folders = given.filter((one) => !one.startsWith('--'))
/** A broken loop may never end. */
const MAX_RUN_MS = 300_000

const sources = globSync('{src,console,test}/**/*.{ts,tsx}', { cwd: root })
  .filter((file) => !/(^|\/)(dist|\.build-[^/]*)\/|\.d\.ts$/.test(file))
  .toSorted()
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')

const copy = mkdtempSync(path.join(tmpdir(), 'bellwether-mutate-'))

async function breakPlaces(environment: Environment) {
  const unnoticed: string[] = []
  let tried = 0
  const places = choosePlaces(option('places', 100), option('seed', 1))
  const intact = await runTest(environment, 'test/docs.test.ts')
  if (intact) throw new Error(`the tests fail although nothing is broken: ${intact}`)
  for (const [i, place] of places.entries()) {
    if (i < option('from', 0) || i >= option('to', places.length)) continue
    tried += 1
    const tests = nearestTests(place.file).slice(0, option('files', 6))
    const text = read(place.file)
    const target = path.join(copy, place.file)
    writeFileSync(
      target,
      text.slice(0, place.at) + place.to + text.slice(place.at + place.from.length),
    )
    const noticed = await firstFailure(environment, tests)
    writeFileSync(target, text)
    const line = text.slice(0, place.at).split('\n').length
    const what = `${place.file}:${line}  ${place.from.trim()} → ${place.to.trim()}`
    console.log(`${i + 1}/${places.length} ${noticed ? 'noticed  ' : 'unnoticed'} ${what}`)
    if (noticed) console.log(`    ${noticed}`)
    else unnoticed.push(`${what}\n    by ${tests.join(' ')}`)
  }
  console.log(`\n${tried - unnoticed.length} of ${tried} noticed.`)
  for (const one of unnoticed) console.log(`  ${one}`)
}

type Place = { file: string; at: number; from: string; to: string }

/** Different places, all equally likely. */
function choosePlaces(count: number, seed: number): Place[] {
  const { below } = randomFrom(seed)
  const all = sources.filter(isWanted).flatMap(placesIn)
  return Array.from(
    { length: Math.min(count, all.length) },
    () => all.splice(below(all.length), 1)[0]!,
  )
}

function isWanted(file: string) {
  if (file.startsWith('test/')) return false
  return folders.length === 0 || folders.some((folder) => file.startsWith(folder))
}

const REPLACED: Record<string, string> = {
  '===': '!==',
  '!==': '===',
  '<=': '<',
  '>=': '>',
  ' < ': ' <= ',
  ' > ': ' >= ',
  '&&': '||',
  '||': '&&',
  ' + ': ' - ',
  ' - ': ' + ',
  true: 'false',
  false: 'true',
}
const IN_SQL: Record<string, string> = {
  ' = ': ' <> ',
  ' <= ': ' < ',
  ' >= ': ' > ',
  ' < ': ' <= ',
  ' > ': ' >= ',
  ' and ': ' or ',
  'is null': 'is not null',
  'is not null': 'is null',
}

/** Comments, texts and patterns are skipped; the first group is an SQL statement, the second code to break. */
const TOKENS =
  /(?<=[=(,:&|?!] ?)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\n])+\/[a-z]*|\/\*[^]*?\*\/|\/\/[^\n]*|\bsql`((?:\\.|[^`\\])*)`|`(?:\\.|[^`\\])*`|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|([!=]==|[<>]=|&&|\|\|| [<>+-] |\btrue\b|\bfalse\b|\b\d[\d_]*\b)/g
const SQL_TOKENS = / (?:=|[<>]=?|and) |is (?:not )?null/g

function placesIn(file: string): Place[] {
  const text = read(file)
  return [...text.matchAll(TOKENS)].flatMap(({ index, 0: all, 1: statement, 2: code }) => {
    if (statement !== undefined) {
      const start = index + all.indexOf('`') + 1
      return [...statement.matchAll(SQL_TOKENS)].map(({ index: at, 0: from }) => ({
        file,
        at: start + at,
        from,
        to: IN_SQL[from]!,
      }))
    }
    if (code === undefined || isType(text, index)) return []
    if (/^\d/.test(code) && isLayout(text, index)) return []
    return [{ file, at: index, from: code, to: REPLACED[code] ?? otherNumber(code) }]
  })
}

/** A limit or a duration that is one longer is not broken. */
const otherNumber = (code: string) => (/^\d$/.test(code) ? String(Number(code) + 1) : '0')

const lineAt = (text: string, at: number) =>
  text.slice(text.lastIndexOf('\n', at) + 1, text.indexOf('\n', at))

/** Tests do not assert margins. */
const isLayout = (text: string, at: number) =>
  /\bstyle=|\b(?:margin|padding|gap|width|height|size|radius|flex)\w*[:=]/i.test(lineAt(text, at))

/** Node removes types without reading them. */
function isType(text: string, at: number) {
  return /^\s*(?:import|export type|type|\/?\*)\b|^\s*\w+\??: [^,]*$|^\s*\|/.test(lineAt(text, at))
}

/** Test files that import the file, also through others: those with a similar name first. */
function nearestTests(file: string) {
  // Without the s of a plural.
  const wordsOf = (name: string) => new Set(name.match(/[a-z]{3,}?(?=s?(?![a-z]))/gi) ?? [])
  const words = wordsOf(file.replace(/^(src|console)/, ''))
  const distances = distancesTo(file)
  const isConsole = file.startsWith('console/')
  return [...distances.keys()]
    .filter((one) => one.endsWith('.test.ts') && !one.startsWith('test/proofs/'))
    .filter((one) => isConsole || !one.startsWith('test/console/'))
    .map((one) => {
      const alike = [...wordsOf(one)].filter((word) => words.has(word)).length
      return { one, rank: distances.get(one)! - 2 * alike }
    })
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ one }) => one)
}

/** How many imports lead from each file to this one. */
function distancesTo(file: string) {
  const distances = new Map([[file, 0]])
  for (const [reached, distance] of distances) {
    for (const importer of importers().get(reached) ?? []) {
      if (!distances.has(importer)) distances.set(importer, distance + 1)
    }
  }
  return distances
}

/** Started in another process, or by a name that is put together. */
const STARTED: [importer: string, file: string][] = [
  ['test/support/service.ts', 'src/cli/serve.ts'],
  ['test/support/console.ts', 'console/main.tsx'],
  ...sources
    .filter((file) => file.startsWith('src/cli/'))
    .map((file): [string, string] => ['test/support/command.ts', file]),
]

let known: Map<string, string[]> | undefined

/** The files that import each file. */
function importers() {
  if (known) return known
  const edges = sources.flatMap((file) =>
    [...read(file).matchAll(/(?:\bfrom |\bimport\(|^import )'(\.[^']+)'/gm)].map(
      ([, to]): [string, string] => [file, path.join(path.dirname(file), to!)],
    ),
  )
  known = new Map()
  for (const [importer, file] of [...edges, ...STARTED]) {
    known.set(file, [...(known.get(file) ?? []), importer])
  }
  return known
}

function copyRepository() {
  const { stdout } = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  for (const file of stdout.split('\0').filter(Boolean)) {
    cpSync(path.join(root, file), path.join(copy, file))
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'))
}

type Environment = Record<string, string>

async function firstFailure(environment: Environment, tests: string[]) {
  for (const file of tests) {
    const failure = await runTest(environment, file)
    if (failure) return `${file}: ${failure}`
  }
  return undefined
}

/** The first test of the file that fails. A file that does not end has noticed, too. */
async function runTest(environment: Environment, file: string) {
  const args = ['--test', '--test-reporter=tap', file]
  const child = spawn(process.execPath, args, {
    cwd: copy,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...environment, CONSOLE_TESTS: 'all' },
    // A group of processes, which ends as a whole.
    detached: true,
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  const end = () => process.kill(-child.pid!, 'SIGKILL')
  const timer = setTimeout(end, MAX_RUN_MS)
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(timer)
  if (code === 0) return undefined
  if (code === null) return `not ended within ${MAX_RUN_MS / 1_000} s`
  return /^ *not ok \d+ - (.*)/m.exec(output)?.[1] ?? `exit code ${code}`
}

async function openServer() {
  const existing = process.env.TEST_DATABASE_URL
  if (existing) return { url: existing, stop: async () => {} }
  return openEmbedded(path.join(copy, 'data'), 'command', {
    fsync: 'off',
    synchronous_commit: 'off',
    max_connections: '300',
  })
}

try {
  copyRepository()
  const server = await openServer()
  try {
    const { environment, drop } = await makeTemplates(server.url, { demo: true })
    await breakPlaces(environment).finally(drop)
  } finally {
    await server.stop()
  }
} finally {
  rmSync(copy, { recursive: true, force: true })
}
