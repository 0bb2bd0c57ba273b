import { spawn, spawnSync } from 'node:child_process'
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

/**
 * Breaks random places of src/ and console/, one at a time, and lists those that no test notices:
 * node test/mutate.ts [--places=100] [--seed=1] [--files=6] [folders]
 * Works on a copy. For each place it runs the test files that are nearest to it.
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

async function breakPlaces(server: string) {
  const unnoticed: string[] = []
  const places = choosePlaces(option('places', 100), option('seed', 1))
  if ((await runTests(server, ['test/docs.test.ts'])) === 'noticed') {
    throw new Error('the tests fail although nothing is broken')
  }
  for (const [i, place] of places.entries()) {
    const tests = nearestTests(place.file).slice(0, option('files', 6))
    const text = read(place.file)
    const target = path.join(copy, place.file)
    writeFileSync(
      target,
      text.slice(0, place.at) + place.to + text.slice(place.at + place.from.length),
    )
    const outcome = tests.length === 0 ? 'unnoticed' : await runTests(server, tests)
    writeFileSync(target, text)
    const line = text.slice(0, place.at).split('\n').length
    const what = `${place.file}:${line}  ${place.from.trim()} → ${place.to.trim()}`
    console.log(`${i + 1}/${places.length} ${outcome.padEnd(9)} ${what}`)
    if (outcome === 'unnoticed') unnoticed.push(`${what}\n    by ${tests.join(' ')}`)
  }
  console.log(`\n${places.length - unnoticed.length} of ${places.length} noticed.`)
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

/** Comments and text are skipped; the first group is an SQL statement, the second code to break. */
const TOKENS =
  /\/\*[^]*?\*\/|\/\/[^\n]*|\bsql`((?:\\.|[^`\\])*)`|`(?:\\.|[^`\\])*`|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|([!=]==|[<>]=|&&|\|\|| [<>+-] |\btrue\b|\bfalse\b|\b\d[\d_]*\b)/g
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
    const to = REPLACED[code] ?? String(Number(code.replaceAll('_', '')) + 1)
    return [{ file, at: index, from: code, to }]
  })
}

/** Node removes types without reading them. */
function isType(text: string, at: number) {
  const line = text.slice(text.lastIndexOf('\n', at) + 1, text.indexOf('\n', at))
  return /^\s*(?:import|export type|type|\/?\*)\b|^\s*\w+\??: [^,]*$|^\s*\|/.test(line)
}

/** Test files that import the file, also through others: those with a similar name first. */
function nearestTests(file: string) {
  const wordsOf = (name: string) => new Set(name.match(/[a-z]{3,}/gi) ?? [])
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

/** Tests that do not end have noticed. */
async function runTests(server: string, tests: string[]) {
  const child = spawn(process.execPath, ['test/run.ts', ...tests], {
    cwd: copy,
    stdio: 'ignore',
    env: { ...process.env, TEST_DATABASE_URL: server, CONSOLE_TESTS: 'all' },
    timeout: MAX_RUN_MS,
  })
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  return code === 0 ? 'unnoticed' : 'noticed'
}

try {
  copyRepository()
  const server = await openEmbedded(path.join(copy, 'data'), 'command', {
    fsync: 'off',
    synchronous_commit: 'off',
    max_connections: '300',
  })
  try {
    await breakPlaces(server.url)
  } finally {
    await server.stop()
  }
} finally {
  rmSync(copy, { recursive: true, force: true })
}
