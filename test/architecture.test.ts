import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const root = path.dirname(import.meta.dirname)

/** Which folder may import which. A new entry is a decision: change ARCHITECTURE.md with it. */
const MAY_IMPORT: Record<string, string[]> = {
  contract: [],
  texts: [],
  client: [],
  database: [],
  email: [],
  store: ['database'],
  reports: ['database', 'email'],
  auth: ['database', 'store'],
  automation: ['database', 'store', 'email'],
  scheduling: ['database', 'store', 'automation', 'email'],
  demo: ['database', 'store', 'scheduling', 'email'],
  matching: ['database', 'store'],
  'file-import': ['database', 'store', 'scheduling', 'matching'],
  feeds: ['database', 'store', 'automation', 'scheduling', 'matching'],
  'report-delivery': ['database', 'store', 'email', 'auth', 'automation', 'reports'],
  http: [
    'database',
    'demo',
    'feeds',
    'file-import',
    'scheduling',
    'automation',
    'reports',
    'report-delivery',
    'email',
    'auth',
    'store',
  ],
  'config.ts': ['database'],
  'log.ts': ['database'],
  'clock.ts': [],
  'errors.ts': [],
  'lower-priority.ts': [],
  'parser-pool.ts': [],
  'parser-tasks.ts': [],
  'batcher.ts': [],
  'recently-used.ts': [],
  'repeat.ts': [],
  'time-slice.ts': [],
  'version.ts': [],
  'work-queue.ts': [],
  'xml.ts': [],
}

/** Every folder may import these; they import no other part of src/. */
const COMMON = new Set([
  'contract',
  'texts',
  'clock.ts',
  'errors.ts',
  'lower-priority.ts',
  'parser-pool.ts',
  'parser-tasks.ts',
  'batcher.ts',
  'recently-used.ts',
  'repeat.ts',
  'time-slice.ts',
  'version.ts',
  'work-queue.ts',
  'xml.ts',
])
/** Every folder may import the types of the settings and the log. */
const TYPES_FOR_ALL = ['config.ts', 'log.ts']
/** These compose the parts, and may import everything. */
const FREE = new Set(['cli', 'main.ts'])

test('imports point down, never up or across', () => {
  const wrong = sources('src').flatMap((file) => {
    const from = partOf(file)
    if (FREE.has(from)) return []
    const allowed = MAY_IMPORT[from]
    if (!allowed) return [`${file}: ${from} is not in the table`]
    return importsOf(file)
      .filter(({ to }) => to !== from && !COMMON.has(to) && !allowed.includes(to))
      .filter(({ to, typeOnly }) => !(typeOnly && TYPES_FOR_ALL.includes(to)))
      .map(({ to }) => `${file} imports ${to}`)
  })
  assert.deepEqual(wrong, [])
})

test('no file imports itself through others, not even for types', () => {
  const imports = new Map(sources('src', 'console').map((file) => [file, importedFiles(file)]))
  const free = new Set<string>()
  // A file is free of cycles once all files that it imports are.
  for (let before = -1; before < free.size;) {
    before = free.size
    for (const [file, imported] of imports) {
      if (imported.every((one) => free.has(one) || !imports.has(one))) free.add(file)
    }
  }
  const inCycles = [...imports.keys()].filter((file) => !free.has(file))
  assert.deepEqual(inCycles, [])
})

/** They cost little to load. Schemas would bring their library. */
const isTableOfContract = (file: string) =>
  file.startsWith('src/contract/') &&
  importedFiles(file).length === 0 &&
  !/^import /m.test(read(file))

test('the console imports the client, types and tables of the contract, and nothing else of the service', () => {
  const wrong = sources('console')
    .flatMap(fileImportsOf)
    .filter(({ to }) => to.startsWith('src/') && !to.startsWith('src/client/'))
    .filter(({ typeOnly, to }) => !(typeOnly && to.startsWith('src/contract/')))
    .filter(({ to }) => !isTableOfContract(to))
  assert.deepEqual(wrong, [])
})

test('the console loads the words of reasons and the names of cities, and nothing else of the service', () => {
  const loaded = sources('console').flatMap((file) =>
    importStatements(file).flatMap(({ dynamic, to }) => (dynamic ? [to] : [])),
  )
  const ofService = loaded.filter((to) => to.startsWith('src/'))
  assert.deepEqual(
    ofService.toSorted(),
    ['cities', 'reasons'].flatMap((folder) =>
      ['de', 'en', 'fr'].map((language) => `src/texts/${folder}/${language}.json`),
    ),
  )
})

test('pages are composed by the router only: nothing below imports a page', () => {
  const isAbove = (file: string) => /^console\/(pages\/|router\.tsx$)/.test(file)
  const wrong = sources('console')
    .filter((file) => !isAbove(file))
    .flatMap((file) =>
      importedFiles(file)
        .filter((to) => to.startsWith('console/pages/'))
        .map((to) => `${file} imports ${to}`),
    )
  assert.deepEqual(wrong, [])
})

test('the client imports types of the contract only, and nothing of Node', () => {
  const wrong = sources('src/client')
    .flatMap(fileImportsOf)
    .filter(({ to }) => !to.startsWith('src/client/'))
    .filter(({ typeOnly, to }) => !typeOnly || !/^(src\/contract\/|typebox$)/.test(to))
  assert.deepEqual(wrong, [])
})

test('only clock.ts reads the machine’s time', () => {
  const readsTime = /Date\.now\(|new Date\(\s*\)|performance\.now\(|Temporal\.Now|hrtime/
  const wrong = sources('src').filter(
    (file) => file !== 'src/clock.ts' && readsTime.test(read(file)),
  )
  assert.deepEqual(wrong, [])
})

test('only database-time.ts asks the database for the time', () => {
  const asks = /\b(now\(\)|current_timestamp|clock_timestamp\(\)|localtimestamp)/i
  const wrong = sources('src/store', 'src/reports').filter((file) => {
    const statements = [...read(file).matchAll(/sql`[^`]*`/g)].join('\n')
    return asks.test(statements)
  })
  assert.deepEqual(wrong, ['src/store/database-time.ts'])
})

test('only store/, reports/ and database/ contain SQL', () => {
  const mayContainSql = new Set(['store', 'reports', 'database'])
  const wrong = sources('src')
    .filter((file) => !mayContainSql.has(partOf(file)))
    .filter((file) => /\bsql`|database\/sql\.ts/.test(read(file)))
  assert.deepEqual(wrong, [])
})

test('there are no utils folders, no barrels and no default exports', () => {
  const catchAllFiles = sources('src', 'test', 'console').filter((file) =>
    /(^|\/)(utils?|helpers?|common|types|index)(\.tsx?|\/)/.test(file),
  )
  assert.deepEqual(catchAllFiles, [])
  const defaults = sources('src', 'console')
    .filter((file) => file !== 'console/vite.config.ts')
    .filter((file) => /^export default/m.test(read(file)))
  assert.deepEqual(defaults, [])
})

test('random tests name their seed, so that every run of npm test does the same', () => {
  const wrong = sources('test')
    .filter((file) => file !== 'test/proofs/random.ts' && file !== 'test/architecture.test.ts')
    .filter((file) => {
      const properties = [...read(file).matchAll(/\bfc\.(?:assert|check|sample)\(/g)].length
      const seeded = [...read(file).matchAll(/\bnumRuns: [^}]*\bseed\b/g)].length
      return /\bMath\.random\(/.test(read(file)) || properties !== seeded
    })
  assert.deepEqual(wrong, [])
})

function sources(...folders: string[]) {
  return folders
    .flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root }))
    .filter((file) => !/(^|\/)(dist|node_modules|\.build-[^/]*)\//.test(file))
    .toSorted()
}

const read = (file: string) => readFileSync(path.join(root, file), 'utf8')

/** The folder below src/, or the file itself if it is directly in src/. */
const partOf = (file: string) => file.split('/')[1]!

const importsOf = (file: string) =>
  importStatements(file).map(({ typeOnly, to }) => ({ typeOnly, to: partOf(to) }))

const importedFiles = (file: string) =>
  importStatements(file)
    .filter(({ dynamic }) => !dynamic)
    .map(({ to }) => to)

function importStatements(file: string) {
  const found = read(file).matchAll(
    /(?:^|\n)\s*(?:import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s)?['"](\.[^'"]+)['"]|import\(['"`](\.[^'"`]+)['"`]\)/g,
  )
  return [...found].map(([, typeOnly, stated, dynamic]) => ({
    typeOnly: Boolean(typeOnly),
    dynamic: dynamic !== undefined,
    to: path.join(path.dirname(file), (stated ?? dynamic)!),
  }))
}

/** Every import of a file, by the file or the package that it names. */
const fileImportsOf = (file: string) =>
  [...read(file).matchAll(/^(?:import|export)\s+(type\s)?[^'"`;]*\sfrom\s['"]([^'"]+)['"]/gms)].map(
    ([, typeOnly, to]) => ({
      file,
      typeOnly: Boolean(typeOnly),
      to: to!.startsWith('.') ? path.join(path.dirname(file), to!) : to!,
    }),
  )
