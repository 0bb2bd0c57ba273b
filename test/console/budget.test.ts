import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { buildConsole } from '../../src/cli/build-console.ts'
import { CONSOLE_FOLDER } from '../../src/http/routes/console.ts'
import { openLog } from '../../src/log.ts'

const MAX_FIRST_LOAD = 160_000
const MAX_PAGE = 450_000
const built = path.join(CONSOLE_FOLDER, 'dist')

// Does nothing if another test has built it.
before(() => buildConsole(openLog('silent')))

const read = (file: string) => readFileSync(path.join(built, file), 'utf8')
const gzipped = (files: Iterable<string>) =>
  [...files].reduce((sum, file) => sum + gzipSync(read(file)).length, 0)

/** The static imports of a script, recursively. */
function needed(file: string, known = new Set<string>()) {
  if (known.has(file)) return known
  known.add(file)
  const imports = read(file).matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g)
  for (const [, name] of imports) needed(`assets/${name}`, known)
  return known
}

/** The scripts of the first page and their imports. */
function firstLoad() {
  const scripts = read('index.html').matchAll(/(?:src|href)="\/console\/(assets\/[^"]+\.js)"/g)
  const files = new Set<string>()
  for (const [, file] of scripts) needed(file!, files)
  return files
}

test('the first load is at most 160 KB of compressed JavaScript', (t) => {
  const bytes = gzipped(firstLoad())
  t.diagnostic(`${bytes} bytes`)
  assert.ok(bytes > 50_000, 'the scripts were not found')
  assert.ok(bytes <= MAX_FIRST_LOAD, `${bytes} bytes`)
})

const LANGUAGES = ['en', 'de', 'fr'] as const

/** A key of each part of the texts: those of the frame, of the pages and of reasons. */
const PARTS = ['filesGone', 'zoneEffect', 'definitionInactive']

/** The longest texts of a language, which are loaded with the first page; found by what they contain. */
const sizeOfTexts = (scripts: string[]) =>
  PARTS.reduce((sum, key) => {
    const files = scripts.filter((file) => new RegExp(`[{,]${key}:\``).test(read(file)))
    assert.equal(files.length, LANGUAGES.length, `the texts with ${key} were not found`)
    return sum + Math.max(...files.map((file) => gzipped([file])))
  }, 0)

test('no page is more than 450 KB of compressed JavaScript, with the longest texts', (t) => {
  const shell = firstLoad()
  const lazy = new Set(
    [...shell].flatMap((file) =>
      [...read(file).matchAll(/import\(\s*["'`]\.\/([^"'`]+\.js)["'`]\s*\)/g)].map(
        ([, name]) => `assets/${name}`,
      ),
    ),
  )
  assert.ok(lazy.size >= 5, 'the pages were not found')
  const texts = sizeOfTexts([...lazy])
  t.diagnostic(`texts: ${texts} bytes`)
  for (const file of lazy) {
    const bytes = gzipped(new Set([...shell, ...needed(file)])) + texts
    t.diagnostic(`${file}: ${bytes} bytes`)
    assert.ok(bytes <= MAX_PAGE, `${file}: ${bytes} bytes`)
  }
})
