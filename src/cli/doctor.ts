import fs from 'node:fs'
import path from 'node:path'
import { Command } from 'commander'
import { Reconciliation, type Findings } from '../automation/reconcile.ts'
import { DatabaseClock, monotonicMs, type Clock } from '../clock.ts'
import { configWarnings, readConfig, type Config } from '../config.ts'
import { parseAddress } from '../contract/addresses.ts'
import { countOf } from '../texts/count-of.ts'
import type { ReplicaState } from '../database/database.ts'
import { hasDatabase } from '../database/embedded-server.ts'
import { inspectDatabase, type Inspection } from '../database/inspect.ts'
import { openDatabase } from '../database/postgres.ts'
import { StartError } from '../errors.ts'
import { listFeedHealth } from '../store/feed-health.ts'
import { findHold, type RestoreHold } from '../store/installation.ts'
import { requestMailRetry } from '../store/mail-servers.ts'
import { findDictionaryFaults, type DictionaryFault } from '../store/message-bodies.ts'
import { listOperatorProblems, NO_CHECK_IN } from '../store/operator-problems.ts'
import { countWithoutPostalAddress } from '../store/postal-addresses.ts'
import {
  checkEmailQueue,
  checkMailServer,
  readDelivery,
  type DeliveryState,
  type ProbedServer,
} from './check-delivery.ts'
import { checkConnections } from './check-connections.ts'
import { checkMail, SET_SMTP_URL, type Finding } from './check-mail.ts'
import { checkSenders } from './check-senders.ts'
import { formatDuration, secondsSince } from './durations.ts'
import { makeMailer } from './make-mailer.ts'
import { findServer, explainFailure } from './reach-database.ts'

export const command = new Command()
  .option(
    '--mail <address>',
    'also send one email to this address and check the DNS records for email',
  )
  .addHelpText(
    'after',
    '\nChanges nothing; with --mail the service also tries its mail server again. Exits with 1 if something must be fixed.',
  )
  .action(async ({ mail }: { mail?: string }) => {
    const config = readConfig(process.env) // throws for invalid settings: exit code 2
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
  /** Undefined without SMTP_URL. */
  mail: ProbedServer | undefined
  /** Undefined if the schema is missing or of another version. */
  engine: ExaminedEngine | undefined
}

type ExaminedEngine = DeliveryState & {
  /** Undefined without DATABASE_REPLICA_URL. */
  replica: ReplicaState | undefined
  hold: RestoreHold | undefined
  problems: Awaited<ReturnType<typeof listOperatorProblems>>
  dictionaries: DictionaryFault[]
  feeds: Awaited<ReturnType<typeof listFeedHealth>>
  withoutPostalAddress: Awaited<ReturnType<typeof countWithoutPostalAddress>>
  findings: Findings
  isWhole: boolean
  senders: Finding[]
}

/** To add a check, add a function. */
const CHECKS: ((facts: Facts) => Finding | undefined)[] = [
  checkNode,
  checkSettings,
  checkMailSettings,
  checkDisk,
  checkServer,
  ({ config, database }) => checkConnections(database.connections, config),
  checkReplica,
  checkSchema,
  checkRoles,
  checkOtherLogins,
  checkClock,
  checkTimeZones,
  checkHold,
  checkCheckIn,
  checkQueue,
  checkLateness,
  checkDeadLetters,
  checkReconciliation,
  checkStoppedMatching,
  checkSending,
  ({ engine, clock }) => engine && checkEmailQueue(engine, clock.now()),
  checkPauses,
  checkFeeds,
  checkPostalAddresses,
  checkOperatorProblems,
  checkDictionaries,
]

export async function examine(config: Config, mailTo: string | undefined): Promise<Finding[]> {
  const clock = new DatabaseClock()
  const zones = zonesAhead(clock.now())
  refuseMissingDatabase(config)
  const { url, leave } = await findServer(config, 'command')
  try {
    const database = await inspectDatabase(url, zones.moments)
    clock.set(database.time.ms, database.time.answeredAt)
    const [engine, mail] = await Promise.all([
      examineEngine(url, database, clock, config),
      probeMailServer(config),
    ])
    const facts = { config, database, clock, zones, mail, engine }
    const findings = [...CHECKS.flatMap((check) => check(facts) ?? []), ...(engine?.senders ?? [])]
    if (!mailTo) return findings
    const ofMail = await checkMail(config, mailTo, clock)
    if (engine && mail) await askForRetry(url, mail.server, clock)
    return [...findings, ...ofMail]
  } catch (error) {
    throw explainFailure(url, error)
  } finally {
    await leave()
  }
}

/** The service tries the mail server at once, if it has found that it takes no mail. */
async function askForRetry(url: string, server: string, clock: Clock) {
  const database = openDatabase({ url, connections: 1 })
  try {
    await requestMailRetry(database.engine, server, clock.now())
  } finally {
    await database.close()
  }
}

/** Opening a missing database would create it. */
function refuseMissingDatabase({ databaseUrl, dataDir }: Config) {
  if (databaseUrl || hasDatabase(dataDir)) return
  throw new StartError(
    `${path.resolve(dataDir)} does not contain a database. Set DATA_DIR to the folder of the service, or start the service first: it creates one.`,
  )
}

/** A full reconciliation of a large database takes longer; the service runs it in the background. */
const MAX_RECONCILE_MS = 30_000

async function examineEngine(
  url: string,
  { schema, rolesMissing }: Inspection,
  clock: Clock,
  config: Config,
): Promise<ExaminedEngine | undefined> {
  if (schema.version !== schema.known || rolesMissing.length > 0) return undefined
  const database = openDatabase({ url, replicaUrl: config.replicaUrl, connections: 1 })
  try {
    const replica = await database.checkReplica()
    const delivery = await readDelivery(database.engine, clock.now(), config)
    const reconciliation = new Reconciliation(database.engine, () => clock.now())
    const startedAt = monotonicMs()
    let isWhole = false
    while (!isWhole && monotonicMs() - startedAt < MAX_RECONCILE_MS)
      isWhole = await reconciliation.comparePage()
    const senders = await checkSenders(config, database.operator)
    const problems = await listOperatorProblems(database.engine)
    const dictionaries = await findDictionaryFaults(database.engine)
    const feeds = await listFeedHealth(database.engine)
    const withoutPostalAddress = await countWithoutPostalAddress(database.engine)
    const hold = await findHold(database.engine)
    const { findings } = reconciliation
    return {
      ...delivery,
      replica,
      hold,
      problems,
      dictionaries,
      feeds,
      withoutPostalAddress,
      findings,
      isWhole,
      senders,
    }
  } finally {
    await database.close()
  }
}

/** Connects, signs in and names the sender, but sends no mail. */
async function probeMailServer(config: Config): Promise<Facts['mail']> {
  const mailer = makeMailer(config)
  if (mailer.server === null) return undefined
  const trouble = await mailer.check(config.mailFrom.address)
  await mailer.close()
  return { server: mailer.server, trouble }
}

function checkNode(): Finding {
  const [major] = process.versions.node.split('.').map(Number)
  const found = { about: 'Node', says: process.versions.node }
  return major! >= 26
    ? { state: 'ok', ...found }
    : { state: 'bad', ...found, todo: 'run "npm ci" again: it installs Node 26' }
}

function checkSettings({ config }: Facts): Finding {
  return { state: 'ok', about: 'Settings', says: `valid; role ${config.role}` }
}

function checkSending({ mail, engine, clock }: Facts): Finding {
  if (mail) return checkMailServer(mail, engine?.mailServer, clock.now())
  const says = 'none: emails are captured and not sent'
  return { state: 'note', about: 'Mail server', says, todo: SET_SMTP_URL }
}

function checkMailSettings({ config }: Facts): Finding | undefined {
  const warnings = configWarnings(config)
  if (warnings.length === 0) return undefined
  const says = 'readers of the mails cannot answer them or follow their links'
  return { state: 'note', about: 'Addresses', says, todo: warnings.join('; ') }
}

const MIN_FREE_MB = 500

function checkDisk({ config }: Facts): Finding {
  const about = 'Disk'
  if (config.databaseUrl)
    return { state: 'ok', about, says: 'not checked: the database is not on this disk' }
  const { bavail, bsize } = fs.statfsSync(config.dataDir)
  const freeMb = Math.floor((bavail * bsize) / 1_000_000)
  const says = `${freeMb.toLocaleString('en')} MB free in ${config.dataDir}`
  return freeMb >= MIN_FREE_MB
    ? { state: 'ok', about, says }
    : {
        state: 'bad',
        about,
        says,
        todo: 'free some space: the database stops when the disk is full',
      }
}

function checkServer({ config, database }: Facts): Finding {
  const { majorVersion, serverVersion } = database
  const place = config.databaseUrl ? 'at DATABASE_URL' : `embedded, in ${config.dataDir}`
  const found = { about: 'Database', says: `PostgreSQL ${serverVersion}, ${place}` }
  if (majorVersion < 15)
    return { state: 'bad', ...found, todo: 'upgrade PostgreSQL to 15 or newer' }
  if (majorVersion > 18)
    return { state: 'note', ...found, todo: 'versions above 18 are not tested yet' }
  return { state: 'ok', ...found }
}

function checkReplica({ engine }: Facts): Finding | undefined {
  if (!engine?.replica) return undefined
  const about = 'Read replica'
  if ('lagSeconds' in engine.replica)
    return { state: 'ok', about, says: `${Math.ceil(engine.replica.lagSeconds)} s behind` }
  const says = `not used: ${engine.replica.problem}`
  const todo = 'check DATABASE_REPLICA_URL and the replication; until then the primary is read'
  return { state: 'note', about, says, todo }
}

function checkSchema({ database }: Facts): Finding {
  const { version, known } = database.schema
  const todo = 'run bellwether migrate, or start the service'
  const found = { about: 'Schema', says: `version ${version}; this Bellwether needs ${known}` }
  if (version < known) return { state: 'note', ...found, todo }
  if (version > known) return { state: 'bad', ...found, todo: 'run a newer Bellwether' }
  return { state: 'ok', ...found }
}

function checkRoles({ database }: Facts): Finding {
  const about = 'Roles'
  if (database.schema.version === 0) {
    return { state: 'note', about, says: 'none yet', todo: 'bellwether migrate creates them' }
  }
  const missing = database.rolesMissing
  if (missing.length === 0)
    return { state: 'ok', about, says: 'the database user can use all three roles' }
  return {
    state: 'bad',
    about,
    says: `the database user cannot use the roles ${missing.join(', ')}`,
    todo: `run as a database administrator: grant ${missing.join(', ')} to <user of DATABASE_URL>`,
  }
}

/** Other installations on the server share the three roles. */
function checkOtherLogins({ database: { connectRights } }: Facts): Finding {
  const about = 'Isolation'
  const { isOpen, canClose } = connectRights
  if (!isOpen) return { state: 'ok', about, says: 'other logins of the server cannot connect' }
  const says = 'every login of the server can connect to this database'
  return canClose
    ? { state: 'note', about, says, todo: 'start the service: it revokes that right' }
    : {
        state: 'bad',
        about,
        says,
        todo: 'run as a database administrator: grant connect on database <database> to <user of DATABASE_URL>; revoke connect on database <database> from public',
      }
}

const MAX_CLOCK_DIFFERENCE_MS = 1_000

function checkClock({ clock }: Facts): Finding {
  const ahead = Math.round(clock.machineAheadMs())
  const side = ahead < 0 ? 'behind' : 'ahead of'
  const found = { about: 'Clock', says: `${Math.abs(ahead)} ms ${side} the clock of the database` }
  if (Math.abs(ahead) <= MAX_CLOCK_DIFFERENCE_MS) return { state: 'ok', ...found }
  return {
    state: 'note',
    ...found,
    todo: 'synchronise both with NTP; the service uses the time of the database',
  }
}

type Zones = { moments: Temporal.Instant[]; offsets: Map<string, number[]> }

/** Node and PostgreSQL have their own time zone data: compares them for the next two years. */
function checkTimeZones({ config, zones, database }: Facts): Finding {
  const names = [...zones.offsets.keys()]
  const differing = names.filter(
    (name) => zones.offsets.get(name)!.join() !== database.offsets.get(name)?.join(),
  )
  const about = 'Time zones'
  const agree = names.length - differing.length
  const says = `Node has ${process.versions.tz}; the database has the same rules for ${agree} of ${names.length} zones`
  if (differing.length === 0) return { state: 'ok', about, says }
  return {
    state: 'note',
    about,
    says: `${says}, not for ${differing.slice(0, 5).join(', ')}${differing.length > 5 ? ' …' : ''}`,
    todo: `${config.databaseUrl ? 'update PostgreSQL' : 'update Bellwether when there is a newer version'}; only working hours and first visits in reports use its rules`,
  }
}

function checkHold({ engine }: Facts): Finding | undefined {
  if (!engine?.hold) return undefined
  const { heldSince, heldReason } = engine.hold
  const says = `the database was restored: ${heldReason}. No mail is sent since ${heldSince}`
  return { state: 'note', about: 'Restored', says, todo: 'bellwether release shows what waits' }
}

function checkQueue({ engine, clock }: Facts): Finding | undefined {
  // In a restored database triggers wait for a person.
  if (!engine || engine.hold) return undefined
  const { overdue, oldestOverdue, stuckLeases, unplanned, oldestUnplanned } = engine.health
  const about = 'Queue'
  const lag = secondsSince(oldestOverdue, clock.now())
  const planLag = secondsSince(oldestUnplanned, clock.now())
  const says =
    overdue + stuckLeases + unplanned === 0
      ? 'no trigger is overdue'
      : `${overdue} overdue triggers, the oldest for ${formatDuration(lag)}; ${stuckLeases} leases of dead nodes; ` +
        `${unplanned} definitions being planned, the oldest for ${formatDuration(planLag)}`
  if (lag <= 60 && planLag <= 600 && stuckLeases === 0) return { state: 'ok', about, says }
  return {
    state: 'bad',
    about,
    says,
    todo: 'check that a node with ROLE all or worker is running, and read its log',
  }
}

function checkLateness({ engine }: Facts): Finding | undefined {
  if (!engine) return undefined
  const { late, expired, mostLateSeconds } = engine.health
  const about = 'Lateness'
  if (late + expired === 0)
    return { state: 'ok', about, says: 'all triggers of the last 24 hours were in time' }
  return {
    state: 'note',
    about,
    says: `in the last 24 hours ${late} triggers were more than a minute late and ${expired} EXPIRED; at most ${formatDuration(mostLateSeconds)} late`,
    todo: 'GET /eventTriggers?status=EXPIRED lists those that were not sent',
  }
}

function checkDeadLetters({ engine }: Facts): Finding | undefined {
  if (!engine) return undefined
  const { gaveUp } = engine.health
  const about = 'Dead letter'
  if (gaveUp === 0)
    return { state: 'ok', about, says: 'no trigger was given up after failed attempts' }
  return {
    state: 'bad',
    about,
    says: `${gaveUp} triggers of the last 7 days were given up after failed attempts`,
    todo: 'GET /eventTriggers?status=FAILED lists them with their last error',
  }
}

function checkReconciliation({ engine }: Facts): Finding | undefined {
  if (!engine) return undefined
  const { definitions, objects, missing, unfounded, doubled, samples } = engine.findings
  const about = 'Reminders'
  const checked = `checked ${definitions} definitions and ${objects} objects${engine.isWhole ? '' : ' (stopped after 30 s)'}`
  if (missing + unfounded + doubled === 0) {
    return { state: 'ok', about, says: `${checked}: all triggers are as they should be` }
  }
  const examples = samples
    .filter((sample) => sample.fault !== 'stoppedMatching')
    .map(
      ({ fault, eventDefnId, object }) => `${fault}: definition ${eventDefnId}, object ${object}`,
    )
  return {
    state: 'bad',
    about,
    says: `${checked}: ${missing} missing, ${unfounded} unfounded, ${doubled} duplicate triggers (${examples.slice(0, 3).join('; ')})`,
    todo: 'save the definition again to plan it again, and report this as a bug',
  }
}

function checkStoppedMatching({ engine }: Facts): Finding | undefined {
  if (!engine) return undefined
  const stopped = engine.findings.samples.filter((sample) => sample.fault === 'stoppedMatching')
  const about = 'Matching'
  if (stopped.length === 0) {
    return { state: 'ok', about, says: 'no definition has stopped matching' }
  }
  return {
    state: 'note',
    about,
    says: `${engine.findings.stoppedMatching} definitions have stopped matching new objects: ${stopped.map((one) => one.eventDefnId).join(', ')}`,
    todo: 'GET /explain/{objectType}/{objectId} for a new object shows the reason',
  }
}

function checkPauses({ engine }: Facts): Finding | undefined {
  if (!engine || engine.health.pausedBusinesses === 0) return undefined
  const says = `all mail of ${engine.health.pausedBusinesses} businesses is paused`
  const todo = 'GET /business shows mailPausedReason; POST /business with mailPaused: false resumes'
  return { state: 'note', about: 'Pauses', says, todo }
}

/** Their owners fix most of them; a lost SECRET_KEY, and pulls that no node makes, are the operator's. */
const OF_OPERATOR = new Set<string>(['KEY_MISSING', 'LATE'])

function checkFeeds({ engine, clock }: Facts): Finding | undefined {
  if (!engine || engine.feeds.length === 0) return undefined
  const about = 'Feeds'
  const unwell = engine.feeds.filter(({ health, mode }) => health !== 'OK' && mode !== 'PAUSED')
  if (unwell.length === 0) {
    return {
      state: 'ok',
      about,
      says: `${countOf(engine.feeds.length, 'feed')}; none needs attention`,
    }
  }
  const isBad = unwell.some(({ health }) => OF_OPERATOR.has(health))
  const lines = unwell.slice(0, 5).map(({ businessId, feedId, health, since }) => {
    const duration = formatDuration(secondsSince(since, clock.now()))
    return `feed ${feedId} of business ${businessId} is ${health} for ${duration}`
  })
  const more = unwell.length > lines.length ? '; and others' : ''
  const says = `${unwell.length} of ${engine.feeds.length} need attention: ${lines.join('; ')}${more}`
  const todo = 'bellwether feeds shows the causes and what to do'
  return { state: isBad ? 'bad' : 'note', about, says, todo }
}

/** A note: the service may not run now. */
function checkCheckIn({ engine, clock }: Facts): Finding | undefined {
  const found = engine?.problems.find(({ problem }) => problem === NO_CHECK_IN)
  if (!found) return undefined
  const duration = formatDuration(secondsSince(found.since, clock.now()))
  const says = `no node has checked in for ${duration}: nothing is fired or sent`
  const todo = 'start the service; if it runs, its log says why'
  return { state: 'note', about: 'Nodes', says, todo }
}

function checkPostalAddresses({ engine }: Facts): Finding | undefined {
  if (!engine || engine.withoutPostalAddress.length === 0) return undefined
  const { withoutPostalAddress: found } = engine
  const named = found.slice(0, 5).map(({ businessId }) => businessId)
  const more = found.length > named.length ? ' and others' : ''
  const says = `businesses ${named.join(', ')}${more} send mails that are not transactional, without a postal address, which many countries require`
  const todo = 'POST /business with postalAddress; the page Today asks their owners for it'
  return { state: 'note', about: 'Post address', says, todo }
}

function checkOperatorProblems({ engine, clock }: Facts): Finding | undefined {
  const problems = engine?.problems ?? []
  const [first, ...others] = problems.filter(({ problem }) => problem !== NO_CHECK_IN)
  if (!first) return undefined
  const duration = formatDuration(secondsSince(first.since, clock.now()))
  const more = others.length > 0 ? `; and ${others.length} more` : ''
  const says = `for ${duration}: ${first.detail}${more}`
  const todo = 'fix the cause; waiting mails are then sent without further action'
  return { state: 'bad', about: 'Mails that wait', says, todo }
}

/** Mails whose content cannot be read; see docs/mail.md. */
function checkDictionaries({ engine }: Facts): Finding | undefined {
  const [first, ...others] = engine?.dictionaries ?? []
  if (!first) return undefined
  const more = others.length > 0 ? `; and ${others.length} more` : ''
  const says = `dictionary ${first.key} of business ${first.businessId} is ${first.fault}${more}`
  const todo =
    'restore these rows of mail_dictionary from a backup; until then their mails cannot be read or sent'
  return { state: 'bad', about: 'Contents of mails', says, todo }
}

/** The offsets of all zones of Node on the first of each month, for two years. */
function zonesAhead(now: Temporal.Instant): Zones {
  const first = now.toZonedDateTimeISO('UTC').with({ day: 1 }).startOfDay()
  const moments = Array.from({ length: 24 }, (_, months) => first.add({ months }).toInstant())
  const offsets = Intl.supportedValuesOf('timeZone').map((name): [string, number[]] => [
    name,
    moments.map((moment) => moment.toZonedDateTimeISO(name).offsetNanoseconds / 60e9),
  ])
  return { moments, offsets: new Map(offsets) }
}

export function lineOf({ state, about, says, todo }: Finding) {
  const line = `${state.padEnd(4)}  ${about.padEnd(11)} ${says}`
  return todo ? `${line}\n      ${' '.repeat(11)} → ${todo}` : line
}
