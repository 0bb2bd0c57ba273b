import fs from 'node:fs'
import { Command } from 'commander'
import { DatabaseClock } from '../clock.ts'
import { readConfig, type Config } from '../config.ts'
import { inspectDatabase, type Inspection } from '../database/inspect.ts'
import { findServer, inOneLine } from './reach-database.ts'

export const command = new Command()
  .addHelpText('after', '\nChanges nothing. Ends with 1 when something must be mended.')
  .action(async () => {
    const config = readConfig(process.env) // says itself what is wrong, and exits 2
    const findings = await examine(config)
    for (const finding of findings) console.log(lineOf(finding))
    if (findings.some(({ state }) => state === 'bad')) process.exitCode = 1
  })

type Finding = { state: 'ok' | 'note' | 'bad'; about: string; says: string; todo?: string }

type Facts = { config: Config; database: Inspection; clock: DatabaseClock; zones: Zones }

/** To look at one thing more, add a function. */
const CHECKS: ((facts: Facts) => Finding)[] = [
  checkNode,
  checkSettings,
  checkDisk,
  checkServer,
  checkSchema,
  checkRoles,
  checkClock,
  checkTimeZones,
]

async function examine(config: Config): Promise<Finding[]> {
  const clock = new DatabaseClock()
  const zones = zonesAhead(clock.now())
  const { url, leave } = await findServer(config, 'command')
  try {
    const database = await inspectDatabase(url, zones.moments)
    clock.set(database.time.ms, database.time.askedAt, database.time.answeredAt)
    return CHECKS.map((check) => check({ config, database, clock, zones }))
  } catch (error) {
    throw inOneLine(url, error)
  } finally {
    await leave()
  }
}

function checkNode(): Finding {
  const [major] = process.versions.node.split('.').map(Number)
  const found = { about: 'Node', says: process.versions.node }
  return major! >= 26
    ? { state: 'ok', ...found }
    : { state: 'bad', ...found, todo: 'run "npm ci" again: it brings Node 26' }
}

function checkSettings({ config }: Facts): Finding {
  const mail = config.smtpUrl ? 'mail is sent' : 'mail is captured, none leaves (SMTP_URL is unset)'
  return { state: 'ok', about: 'Settings', says: `all readable; role ${config.role}; ${mail}` }
}

const LEAST_FREE_MB = 500

function checkDisk({ config }: Facts): Finding {
  const about = 'Disk'
  if (config.databaseUrl) return { state: 'ok', about, says: 'the database is elsewhere' }
  const { bavail, bsize } = fs.statfsSync(config.dataDir)
  const freeMb = Math.floor((bavail * bsize) / 1_000_000)
  const says = `${freeMb.toLocaleString('en')} MB free in ${config.dataDir}`
  return freeMb >= LEAST_FREE_MB
    ? { state: 'ok', about, says }
    : { state: 'bad', about, says, todo: 'free some space: the database stops when there is none' }
}

function checkServer({ config, database }: Facts): Finding {
  const { majorVersion, serverVersion } = database
  const place = config.databaseUrl ? 'at DATABASE_URL' : `embedded, in ${config.dataDir}`
  const found = { about: 'Database', says: `PostgreSQL ${serverVersion}, ${place}` }
  if (majorVersion < 15) return { state: 'bad', ...found, todo: 'upgrade it to 15 or newer' }
  if (majorVersion > 18) return { state: 'note', ...found, todo: 'newer than 18 is not tested yet' }
  return { state: 'ok', ...found }
}

function checkSchema({ database }: Facts): Finding {
  const { version, known } = database.schema
  const found = { about: 'Schema', says: `version ${version}, this Bellwether knows ${known}` }
  if (version < known) return { state: 'note', ...found, todo: 'bellwether migrate, or just start' }
  if (version > known) return { state: 'bad', ...found, todo: 'run a newer Bellwether' }
  return { state: 'ok', ...found }
}

function checkRoles({ database }: Facts): Finding {
  const about = 'Roles'
  if (database.schema.version === 0) {
    return { state: 'note', about, says: 'none yet', todo: 'they come with the schema' }
  }
  const missing = database.rolesMissing
  if (missing.length === 0) return { state: 'ok', about, says: 'this user can take on all three' }
  return {
    state: 'bad',
    about,
    says: `this user cannot act as ${missing.join(', ')}`,
    todo: `as an administrator: grant ${missing.join(', ')} to the user of DATABASE_URL`,
  }
}

const MOST_APART_MS = 1_000

function checkClock({ clock }: Facts): Finding {
  const ahead = Math.round(clock.machineAheadMs())
  const side = ahead < 0 ? 'behind' : 'ahead of'
  const found = { about: 'Clock', says: `${Math.abs(ahead)} ms ${side} the database's` }
  if (Math.abs(ahead) <= MOST_APART_MS) return { state: 'ok', ...found }
  return { state: 'note', ...found, todo: 'the database’s counts; keep both in step, as by NTP' }
}

type Zones = { moments: Temporal.Instant[]; offsets: Map<string, number[]> }

/** Node and PostgreSQL each carry their own rules: do they agree for the next two years? */
function checkTimeZones({ zones, database }: Facts): Finding {
  const names = [...zones.offsets.keys()]
  const differing = names.filter(
    (name) => zones.offsets.get(name)!.join() !== database.offsets.get(name)?.join(),
  )
  const about = 'Time zones'
  const agree = names.length - differing.length
  const says = `Node has ${process.versions.tz}; the database agrees on ${agree} of ${names.length}`
  if (differing.length === 0) return { state: 'ok', about, says }
  return {
    state: 'note',
    about,
    says: `${says}, not on ${differing.slice(0, 5).join(', ')}${differing.length > 5 ? ' …' : ''}`,
    todo: 'mails follow Node, reports the database: update the older of the two',
  }
}

/** Every offset of Node's zones on the first of each month, two years ahead. */
function zonesAhead(now: Temporal.Instant): Zones {
  const first = now.toZonedDateTimeISO('UTC').with({ day: 1 }).startOfDay()
  const moments = Array.from({ length: 24 }, (_, months) => first.add({ months }).toInstant())
  const offsets = Intl.supportedValuesOf('timeZone').map((name): [string, number[]] => [
    name,
    moments.map((moment) => moment.toZonedDateTimeISO(name).offsetNanoseconds / 60e9),
  ])
  return { moments, offsets: new Map(offsets) }
}

function lineOf({ state, about, says, todo }: Finding) {
  const line = `${state.padEnd(4)}  ${about.padEnd(11)} ${says}`
  return todo ? `${line}\n      ${' '.repeat(11)} → ${todo}` : line
}
