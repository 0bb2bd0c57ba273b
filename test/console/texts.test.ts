import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { enPages } from '../../console/texts/en-pages.ts'
import { en } from '../../console/texts/en.ts'
import { CONSOLE_FOLDER } from '../../src/http/routes/console.ts'

const sources = globSync('**/*.{ts,tsx}', { cwd: CONSOLE_FOLDER, exclude: ['dist', 'texts'] })

function keysOf(texts: object, prefix = ''): string[] {
  return Object.entries(texts).flatMap(([name, value]) =>
    typeof value === 'string' ? `${prefix}${name}` : keysOf(value, `${prefix}${name}.`),
  )
}

const all = [...keysOf(en), ...keysOf(enPages)]
const known = new Set(
  all.flatMap((key) => [key, key.replace(/_(zero|one|two|few|many|other)$/, '')]),
)

test('every text key in the console exists', () => {
  const missing = sources.flatMap((file) => {
    const source = readFileSync(path.join(CONSOLE_FOLDER, file), 'utf8')
    const asked = source.matchAll(/(?:\bt\(\s*|i18nKey=)["']([a-z]\w*(?:\.\w+)+)["']/g)
    return [...asked].flatMap(([, key]) => (known.has(key!) ? [] : `${file}: ${key}`))
  })
  assert.deepEqual(missing, [])
})

test('the two text files have no section of the same name', () => {
  assert.deepEqual(
    Object.keys(en).filter((name) => name in enPages),
    [],
  )
})
