import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { checkIn as checkInAt, type LastSeen } from '../automation/restored.ts'
import { monotonicMs } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Database } from '../database/database.ts'
import { folderOf } from '../database/embedded-server.ts'
import type { Log } from '../log.ts'
import { repeatEvery } from '../repeat.ts'
import { noteNode, noteNodeStop, type NodeRun } from '../store/nodes.ts'
import { VERSION } from '../version.ts'

/*
 * A node notes in DATA_DIR which database it saw, and when. If the database knows less than that later, it
 * was restored; see docs/backup.md.
 */

type Place = Pick<Config, 'dataDir' | 'databaseUrl'>

const CHECK_IN_EVERY_MS = 5_000
/** When a database is back, nodes that kept running connect within 5 s, and check in 5 s later. */
const RUNNING_NODES_MS = 15_000

/** Holds the database if it was restored, and notes what it knows now. */
export async function checkInNode(database: Database, place: Place, lastSeen = read(place)) {
  const folder = place.databaseUrl ? undefined : identityOf(folderOf(place.dataDir))
  const until = monotonicMs() + RUNNING_NODES_MS
  const find = () => checkInAt(database.operator, { lastSeen, folder }, monotonicMs() < until)
  let installation = await find()
  while (!installation) {
    await setTimeout(1_000)
    installation = await find()
  }
  write(place, installation)
  return installation
}

/** The same while the service runs: a database can be restored under it. Also notes that the node runs. */
export async function stayCheckedIn(database: Database, place: Config, log: Log) {
  try {
    // Of a node with DATABASE_URL, the folder holds nothing else.
    fs.mkdirSync(place.dataDir, { recursive: true })
  } catch {
    log.warn(
      `DATA_DIR ${place.dataDir} cannot be written: a restored database is noticed only if it is a copy or a snapshot`,
    )
  }
  const { role } = place
  const node: NodeRun = { nodeId: randomUUID(), host: os.hostname(), role, version: VERSION }
  const checkIn = async (lastSeen?: LastSeen) => {
    const found = await checkInNode(database, place, lastSeen)
    await noteNode(database.operator, node, found.seenTime)
    return found
  }
  let current = await checkIn()
  const report = () => {
    if (current.hold) log.warn(current.hold, 'the database was restored: no mail is sent')
  }
  report()
  const repeated = repeatEvery(CHECK_IN_EVERY_MS, async () => {
    const wasHeld = current.hold !== null
    try {
      current = await checkIn(current)
      if (!wasHeld) report()
    } catch (err) {
      log.warn({ err }, 'checking whether the database was restored failed')
    }
  })
  const stop = async () => {
    await repeated.stop()
    const noted = noteNodeStop(database.operator, node, current.seenTime).catch((err: unknown) =>
      log.warn({ err }, 'noting the stop of the node failed'),
    )
    // A database that is away does not delay the stop.
    await Promise.race([noted, setTimeout(1_000, undefined, { ref: false })])
  }
  return { hold: current.hold, stop }
}

const fileOf = ({ dataDir }: Place) => path.join(dataDir, 'last-seen.json')

/** Undefined if there is no file, or a copy of another folder's. */
function read(place: Place): LastSeen | undefined {
  try {
    const { installationId, seenTime, folder } = JSON.parse(fs.readFileSync(fileOf(place), 'utf8'))
    if (folder !== identityOf(place.dataDir)) return undefined
    return { installationId, seenTime: Temporal.Instant.from(seenTime) }
  } catch {
    return undefined
  }
}

/** Without a folder that it can write, a node has no memory of its own. */
function write(place: Place, { installationId, seenTime }: LastSeen) {
  const note = { installationId, seenTime: String(seenTime), folder: identityOf(place.dataDir) }
  const file = fileOf(place)
  try {
    fs.writeFileSync(`${file}.${process.pid}`, JSON.stringify(note))
    fs.renameSync(`${file}.${process.pid}`, file)
  } catch {
    // A start says so.
  }
}

/** A copied folder has another inode or another time of birth; a renamed one has the same. */
function identityOf(folder: string) {
  const found = fs.statSync(folder, { bigint: true, throwIfNoEntry: false })
  return found && `${found.ino}-${found.birthtimeNs}`
}
