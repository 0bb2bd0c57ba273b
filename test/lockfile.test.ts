import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

type Entry = {
  version: string
  resolved?: string
  optionalDependencies?: Record<string, string>
  dependencies?: Record<string, string>
}

const file = path.join(import.meta.dirname, '../package-lock.json')
const packages: Record<string, Entry> = JSON.parse(fs.readFileSync(file, 'utf8')).packages
const entries = Object.entries(packages)

test('the lockfile holds the packages of every platform, or npm ci would refuse it', () => {
  const missing = entries.flatMap(([place, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !packages[`node_modules/${name}`] && !packages[`${place}/node_modules/${name}`],
    ),
  )
  assert.deepEqual(missing, [], 'run: node scripts/complete-lockfile.ts')
})

test('the lockfile names no registry', () => {
  assert.deepEqual(
    entries.filter(([, { resolved }]) => resolved?.includes('://')).map(([place]) => place),
    [],
  )
})

test('every dependency has one exact version', () => {
  const { dependencies, optionalDependencies } = packages['']!
  const loose = Object.entries({ ...dependencies, ...optionalDependencies }).filter(
    ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
  )
  assert.deepEqual(loose, [])
})
