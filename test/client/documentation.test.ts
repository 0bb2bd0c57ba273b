import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { temporaryFolder } from '../support/folder.ts'
import { startWorld } from '../support/world.ts'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '../..')
const tsc = path.join(root, 'node_modules/typescript/bin/tsc')

test('the example of docs/client.md compiles and runs with the client as it is built', async (t) => {
  const folder = temporaryFolder(t)
  const outDir = path.join(folder, 'dist')
  await run(process.execPath, [tsc, '-p', path.join(root, 'src/client'), '--outDir', outDir])
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))

  const page = readFileSync(path.join(root, 'docs/client.md'), 'utf8')
  const example = /```ts\n(import .*?)```/s.exec(page)![1]!
  const source = example
    .replace("'bellwether/client'", "'./dist/client/client.js'")
    .replaceAll(/process\.env\.\w+/g, '$&!')
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(path.join(folder, 'example.ts'), source + MISTAKE)
  const options = ['--strict', '--noEmit', '--skipLibCheck', '--module', 'nodenext']
  const libraries = ['--target', 'esnext', '--lib', 'esnext,dom', '--types', 'node']
  await run(process.execPath, [tsc, ...options, ...libraries, 'example.ts'], { cwd: folder })

  const { app, key } = await startWorld(t)
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const { stdout } = await run(process.execPath, ['example.ts'], {
    cwd: folder,
    env: { ...process.env, BELLWETHER_URL: address, BELLWETHER_KEY: key },
  })
  assert.match(stdout, /422 invalid-input/)
  assert.match(stdout, /\/endTime/)
})

/** It compiles only if the types of the client reach its user. */
const MISTAKE = `
// @ts-expect-error
void (() => bellwether.createClient({ firstNam: 'Anna' }))
`
