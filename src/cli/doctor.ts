import fs from 'node:fs'
import { Command } from 'commander'
import { Reconciliation, type Findings } from '../automation/reconcile.ts'
import { DatabaseClock, monotonicMs, type Clock } from '../clock.ts'
import { readConfig, type Config } from '../config.ts'
import { parseAddress } from '../contract/addresses.ts'
import { inspectDatabase, type Inspection } from '../database/inspect.ts'
import { openDatabase } from '../database/postgres.ts'
import { readQueueHealth, type QueueHealth } from '../store/queue-health.ts'
import { StartError } from '../errors.ts'
import { checkMail, type Finding } from './check-mail.ts'
import { findServer, inOneLine } from './reach-database.ts'

export const command = new Command()
  .option('--mail <address>', 'also send one mail there, and look at what receivers look at')
  .addHelpText('after', '\nChanges nothing. Ends with 1 when something must be mended.')
  .action(async ({ mail }: { mail?: string }) => {
    const config = readConfig(process.env) // says itself what is wrong, and exits 2
    const to = mail === undefined ? undefined : parseAddress(mail)
    if (mail !== undefined && to === undefined) {
      throw new StartError(`--mail must be one plain address, local@domain: not '${mail}'.`)
    }
    const findings = await examine(config, to)
    for (const finding of findings) console.log(lineOf(finding))
    if (findings.some(({ state }) => state === 'bad')) process.exitCode = 1
  })

type Facts = {
  config: Config
  database: Inspection
  clock: DatabaseClock
  zones: Zones
  /** Unset where there is no schema to look at. */
  engine: { health: QueueHealth; findings: Findings; isWhole: boolean } | undefined
}

/** To look at one thing more, add a function. */
const CHECKS: ((facts: Facts) => Finding | undefined)[] = [
  checkNode,
  checkSettings,
  checkDisk,
  checkServer,
  checkSchema,
  checkRoles,
  checkClock,
  checkTimeZones,
  checkQueue,
  checkLateness,
  checkGivenUp,
  checkReconciliation,
  checkMatching,
]

async function examine(config: Config, mailTo: string | undefined): Promise<Finding[]> {
  const clock = new DatabaseClock()
  const zones = zonesAhead(clock.now())
  const { url, leave } = await findServer(config, 'command')
  try {
    const database = await inspectDatabase(url, zones.moments)
    clock.set(database.time.ms, database.time.answeredAt)
    const engine = await examineEngine(url, database, clock)
    const facts = { config, database, clock, zones, engine }
    const findings = CHECKS.flatMap((check) => check(facts) ?? [])
    return mailTo ? [...findings, ...(await checkMail(config, mailTo, clock))] : findings
  } catch (error) {
    throw inOneLine(url, error)
  } finally {
    await leave()
  }
}

/** Longer than this nobody wants to wait for a doctor; the service's own watchman walks on. */
const RECONCILIATION_MS = 30_000

async function examineEngine(url: string, { schema, rolesMissing }: Inspection, clock: Clock) {
  if (schema.version !== schema.known || rolesMissing.length > 0) return undefined
  const database = openDatabase({ url, connections: 1 })
  try {
    const health = await readQueueHealth(database.engine, clock.now())
    const reconciliation = new Reconciliation(database.engine, () => clock.now())
    const startedAt = monotonicMs()
    let isWhole = false
    while (!isWhole && monotonicMs() - startedAt < RECONCILIATION_MS)
      isWhole = await reconciliation.comparePage()
    return { health, findings: reconciliation.findings, isWhole }
  } finally {
    await database.close()
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
    todo: 'all follows Node, but for the working hours and first visits in reports: update the database',
  }
}

function checkQueue({ engine, clock }: Facts): Finding | undefined {
  if (!engine) return undefined
  const { overdue, oldestOverdue, stuckLeases, unplanned, oldestUnplanned } = engine.health
  const about = 'Queue'
  const lag = spanSince(oldestOverdue, clock)
  const planLag = spanSince(oldestUnplanned, clock)
  const says =
    overdue + stuckLeases + unplanned === 0
      ? 'nothing is overdue'
      : `${overdue} overdue, the oldest for ${inWords(lag)}; ${stuckLeases} leases of dead nodes; ` +
        `${unplanned} definitions being planned, the oldest for ${inWords(planLag)}`
  if (lag <= 60 && planLag <= 600 && stuckLeases === 0) return { state: 'ok', about, says }
  return {
    state: 'bad',
    about,
    says,
    todo: 'is a node with ROLE all or worker running? See its log',
  }
}

function checkLateness({ engine }: Facts): Finding | undefined {
  if (!engine) return undefined
  const { late, expired, mostLateSeconds } = engine.health
  const about = 'Lateness'
  if (late + expired === 0) return { state: 'ok', about, says: 'all of the last 24 hours in time' }
  return {
    state: 'note',
    about,
    says: `in the last 24 hours ${late} came more than a minute late and ${expired} too late to be of use; at most ${inWords(mostLateSeconds)}`,
    todo: 'GET /eventTriggers?status=EXPIRED names those that were not sent',
  }
}

function checkGivenUp({ engine }: Facts): Finding | undefined {
  if (!engine) return undefined
  const { gaveUp } = engine.health
  const about = 'Set aside'
  if (gaveUp === 0)
    return { state: 'ok', about, says: 'no trigger was given up after failed attempts' }
  return {
    state: 'bad',
    about,
    says: `${gaveUp} triggers of the last 7 days were given up after failed attempts`,
    todo: 'GET /eventTriggers?status=FAILED names them and their last error',
  }
}

function checkReconciliation({ engine }: Facts): Finding | undefined {
  if (!engine) return undefined
  const { definitions, objects, missing, unfounded, doubled, samples } = engine.findings
  const about = 'Reminders'
  const looked = `${definitions} definitions and ${objects} objects${engine.isWhole ? '' : ' (not all: there are many)'}`
  if (missing + unfounded + doubled === 0) {
    return { state: 'ok', about, says: `${looked}: each has its trigger, none is too many` }
  }
  const examples = samples
    .filter((sample) => sample.fault !== 'stoppedMatching')
    .map(
      ({ fault, eventDefnId, object }) => `${fault}: definition ${eventDefnId}, object ${object}`,
    )
  return {
    state: 'bad',
    about,
    says: `${looked}: ${missing} missing, ${unfounded} without reason, ${doubled} too many (${examples.slice(0, 3).join('; ')})`,
    todo: 'save the definition again to plan it anew, and tell us: this must not happen',
  }
}

function checkMatching({ engine }: Facts): Finding | undefined {
  if (!engine) return undefined
  const stopped = engine.findings.samples.filter((sample) => sample.fault === 'stoppedMatching')
  const about = 'Silence'
  if (stopped.length === 0) return { state: 'ok', about, says: 'no definition has fallen silent' }
  return {
    state: 'note',
    about,
    says: `${engine.findings.stoppedMatching} definitions no longer take up what comes: ${stopped.map((one) => one.eventDefnId).join(', ')}`,
    todo: 'GET /explain/{objectType}/{objectId} of a new object says why',
  }
}

const spanSince = (moment: Temporal.Instant | null, clock: Clock) =>
  moment ? (clock.now().epochMilliseconds - moment.epochMilliseconds) / 1000 : 0

function inWords(seconds: number) {
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return `${Math.round(seconds / 3600)} h`
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
