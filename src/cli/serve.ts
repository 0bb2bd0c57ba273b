import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import { createOperatorKey } from '../auth/api-keys.ts'
import { makeSecret } from '../auth/secrets.ts'
import { createEngine, type Engine } from '../automation/engine.ts'
import { followTimeZones } from '../automation/time-zones.ts'
import { DatabaseClock } from '../clock.ts'
import { urlOf, configWarnings, readConfig, type Config } from '../config.ts'
import type { Database, ReplicaState } from '../database/database.ts'
import { readConnectionLimits } from '../database/connection-limits.ts'
import { openDatabase } from '../database/postgres.ts'
import { newClient, serverNames } from '../database/servers.ts'
import { repeatEvery } from '../repeat.ts'
import { warmUp } from '../email/html-pool.ts'
import { mailRouteOf } from '../email/mail-route.ts'
import { makeResolver } from '../email/resolver.ts'
import { answerLinks } from '../email/answer-links.ts'
import type { Mailer } from '../email/mailer.ts'
import { calendarLink, unsubscribeLink } from '../email/unsubscribe.ts'
import { StartError } from '../errors.ts'
import { createFeedLoops } from '../feeds/loop.ts'
import { openSourceAccess } from '../feeds/source-access.ts'
import { buildApp, type App } from '../http/server/app.ts'
import {
  measureAttempt,
  measureEmailsEnded,
  measureEndings,
} from '../http/routes/engine-metrics.ts'
import { measurePull } from '../http/routes/feed-metrics.ts'
import { openLog, type Log } from '../log.ts'
import { createTargetLoop } from '../report-delivery/check-targets.ts'
import { createReportScheduleLoops } from '../report-delivery/schedule-loops.ts'
import { findOrSaveLinkSecret } from '../store/unsubscribe-links.ts'
import { SettingsCache } from '../store/settings.ts'
import { VERSION } from '../version.ts'
import { awaitDatabase } from './reach-database.ts'
import { buildConsole } from './build-console.ts'
import { stayCheckedIn } from './check-in.ts'
import { checkConnections } from './check-connections.ts'
import type { Finding } from './check-mail.ts'
import { cleanUp } from './clean-up.ts'
import { logFeedHealth } from './log-feed-health.ts'
import { logMailServer } from './log-mail-server.ts'
import { makeMailer } from './make-mailer.ts'
import { bounceAddressesOf, receiveBounces } from './receive-bounces.ts'

export const command = new Command()
  .addHelpText('after', '\nSettings come from the environment: see docs/configuration.md.')
  .action(serve)

async function serve() {
  const config = readConfig(process.env)
  const log = openLog(config.logLevel)
  for (const warning of configWarnings(config)) log.warn(warning)
  const stops: Stops = []
  // Registered first: Ctrl-C during the start must also stop the embedded database.
  const stopping = awaitSignals(log)
  let exitCode = 0
  try {
    const started = await start(config, log, stops, stopping)
    exitCode = await stopping.requested
    log.info('stopping')
    // Work that hangs is abandoned: another node, or this one after its next start, takes it over.
    setTimeout(() => process.exit(exitCode), MAX_STOP_SECONDS * 1000).unref()
    // Together: the engine claims nothing more from now on, and needs the time to end its mails.
    if (started) await Promise.all([started.stopEngine(), closeWithin(started.app, DRAIN_SECONDS)])
  } finally {
    for (const stop of stops.toReversed()) await stop()
  }
  log.info('stopped')
  // A library may still hold a handle open.
  process.exit(exitCode)
}

const MAX_STOP_SECONDS = 9

/** Leaves time for the other steps: the whole stop must take at most 10 s. */
const DRAIN_SECONDS = 8

type Stops = (() => Promise<unknown> | void)[]

/** Undefined if the process has to stop before its database answers. */
async function start(config: Config, log: Log, stops: Stops, stopping: Stopping) {
  const consoleBuilt = config.role === 'worker' ? undefined : buildConsole(log)
  const reached = await awaitDatabase(config, log, stopping.signal)
  if (!reached) return undefined
  const { url, leave } = reached
  stops.push(leave)
  const { poolerUrl, replicaUrl, databaseUrl, dataDir } = config
  await countConnections(url, config, log)
  const onError = (err: Error) => log.warn({ err }, 'database connection lost')
  const heartbeat = { onUpgrade: () => stopForUpgrade(stopping, log) }
  const folder = databaseUrl ? undefined : dataDir
  const database = openDatabase({
    url,
    poolerUrl,
    replicaUrl,
    onReplica: (state) => logReplica(log, state),
    folder,
    onError,
    heartbeat,
    analyzesGrownTables: true,
  })
  stops.push(() => database.close())
  const { hold, stop } = await stayCheckedIn(database, config, log)
  stops.push(stop)
  const clock = new DatabaseClock()
  stops.push(await followDatabaseTime(clock, database, log))

  const linkSeal = await findOrSaveLinkSecret(database.operator, makeSecret('bws_'))
  const settings = new SettingsCache()
  const parts = { config, database, clock, log, linkSeal, settings }
  const mailer = makeMailer(config)
  const engine = config.role === 'api' ? undefined : makeEngine(parts, mailer)
  const services = {
    ...parts,
    ...(consoleBuilt && { consoleBuilt }),
    ...(engine && {
      lastClaimTime: engine.lastClaimTime,
      throttledProviders: () => mailer.throttledProviders(),
    }),
  }
  const app = await buildApp(services)
  await listen(app, config)
  const receiving = await receiveBounces(parts)
  if (receiving) stops.push(receiving.close)
  const stopEngine = engine ? runEngine(engine) : async () => {}
  stops.push(stopEngine)
  if (engine) {
    stops.push(cleanUpPeriodically(parts))
    followTimeZones(parts).catch((err) => log.error({ err }, 'checking the time zone data failed'))
  }
  // Last, so that nothing can fail between creating the key and showing it: it is shown only once.
  const newKey = config.adminApiKey ? undefined : await createOperatorKey(database.operator)
  printSummary(config, app, { newKey, isHeld: hold !== null })
  return { app, stopEngine }
}

function logReplica(log: Log, state: ReplicaState) {
  if ('problem' in state) log.warn(state, 'the read replica is not used: the primary is read')
  else log.info(state, 'the read replica is used')
}

/** With too few connections the service would start, and then refuse most requests. */
async function countConnections(url: string, config: Config, log: Log) {
  const client = newClient(url, { application_name: 'bellwether_start' })
  await client.connect()
  const check = async () =>
    checkConnections(await readConnectionLimits(client), config, { isStarting: true })
  try {
    // A node that was replaced may close its connections now.
    for (let i = 0; i < 4 && (await check()).state === 'bad'; i += 1) await sleep(500)
    reportConnections(await check(), log)
  } finally {
    await client.end()
  }
}

function reportConnections({ state, says, todo }: Finding, log: Log) {
  if (state === 'bad') throw new StartError(`Too few connections: ${says}. To fix it, ${todo}.`)
  if (state === 'note') log.warn(`${says}; ${todo}`)
}

type Parts = {
  config: Config
  database: Database
  clock: DatabaseClock
  log: Log
  linkSeal: string
  settings: SettingsCache
}

function makeEngine({ config, database, clock, log, linkSeal, settings }: Parts, mailer: Mailer) {
  const shared = { database, random: randomBytes, host: new URL(config.publicUrl).hostname }
  const onScheduleError = (err: unknown) => log.error({ err }, 'running a report schedule failed')
  const schedules = {
    ...config,
    ...shared,
    linkSeal,
    now: () => clock.now(),
    onError: onScheduleError,
  }
  const feedLoops = createFeedLoops({
    ...config,
    ...shared,
    settings,
    access: openSourceAccess(config),
    now: () => clock.now(),
    onError: (err) => log.error({ err }, 'pulling a feed failed'),
    onHealth: (change) => logFeedHealth(log, change),
    onPulled: measurePull,
  })
  return createEngine({
    ...config,
    ...shared,
    settings,
    clock,
    mailer,
    ...bounceAddressesOf(config, linkSeal),
    senderChecks: { route: mailRouteOf(config), resolver: makeResolver(config.dnsServers) },
    captures: config.smtpUrl === undefined,
    unsubscribeLink: (mail) => unsubscribeLink(config.publicUrl, linkSeal, mail),
    calendarLink: (mail) => calendarLink(config.publicUrl, linkSeal, mail),
    answerLinks: (mail) => answerLinks(config.publicUrl, linkSeal, mail),
    maxRenderWaitMs: 2_000,
    moreLoops: [...createReportScheduleLoops(schedules), createTargetLoop(schedules), ...feedLoops],
    onError: (err) => log.error({ err }, 'engine iteration failed'),
    onEnded: measureEndings,
    onEmailsEnded: measureEmailsEnded,
    onAttempt: measureAttempt,
    onMailServer: (change) => logMailServer(log, change),
    onOperatorProblem: (problem) => log.error(problem, 'mails wait until the operator fixes this'),
    onPlanned: (definition, planned) =>
      log.info({ ...definition, ...planned }, 'definition planned'),
  })
}

/** Runs the engine concurrently with the service. The returned function waits until it has released its work. */
function runEngine(engine: Engine) {
  warmUp()
  const stopping = new AbortController()
  const stopped = engine.run(stopping.signal)
  return () => {
    stopping.abort()
    return stopped
  }
}

/** The database's time is read every second: somebody may set its clock, and the machines drift apart. */
export async function followDatabaseTime(
  clock: DatabaseClock,
  database: Pick<Database, 'readTime'>,
  log: Pick<Log, 'warn'>,
) {
  const read = () => clock.read(() => database.readTime())
  await read()
  const reading = repeatEvery(1_000, () =>
    read().catch((err) => log.warn({ err }, 'reading the time of the database failed')),
  )
  clock.onSetBack((stepMs) => log.warn({ stepMs }, 'the clock of the database was set back'))
  return reading.stop
}

function cleanUpPeriodically({ config, database, clock, log }: Parts) {
  let isRunning = false
  const timer = setInterval(async () => {
    // The first one after RETENTION_MONTHS was set may take longer than the interval.
    if (isRunning) return
    isRunning = true
    try {
      const deleted = await cleanUp(database, config, clock.now())
      if (deleted.triggers + deleted.mails + deleted.audit > 0)
        log.info(deleted, 'deleted after RETENTION_MONTHS')
    } catch (err) {
      log.warn({ err }, 'cleanup failed')
    } finally {
      isRunning = false
    }
  }, 600_000)
  return () => clearInterval(timer)
}

async function listen(app: App, { host, port }: Config) {
  try {
    await app.listen({ host, port })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const cause = LISTEN_FAULTS[code ?? '']
    if (!cause) throw error
    await app.close()
    throw new StartError(`Port ${port} on ${host} ${cause}. Choose others with PORT and HOST.`)
  }
}

const LISTEN_FAULTS: Record<string, string> = {
  EADDRINUSE: 'is in use by another program',
  EACCES: 'needs privileges that this user lacks',
  EADDRNOTAVAIL: 'is not an address of this machine',
  ENOTFOUND: 'is not a host name that this machine can resolve',
  EAI_AGAIN: 'is not a host name that this machine can resolve at the moment',
}

type Stopping = ReturnType<typeof awaitSignals>

/** `requested` resolves with the exit code when the process has to stop. */
function awaitSignals(log: Log) {
  const { promise: requested, resolve: request } = Promise.withResolvers<number>()
  const aborting = new AbortController()
  void requested.then(() => aborting.abort())
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => request(0))
  // After a bug the state is unknown: stop in order, so that a supervisor restarts the process.
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'uncaught exception')
    request(1)
  })
  process.on('unhandledRejection', (err) => log.error({ err }, 'unhandled rejection'))
  return { requested, request, signal: aborting.signal }
}

/** The notice is repeated until this node has stopped. */
function stopForUpgrade({ request, signal }: Stopping, log: Log) {
  if (signal.aborted) return
  log.warn('a newer version of Bellwether upgrades the database: this node stops')
  request(0)
}

/** Lets running requests finish, and closes the connections of those that take too long. */
async function closeWithin(app: App, seconds: number) {
  const cut = setTimeout(() => app.server.closeAllConnections(), seconds * 1000)
  await app.close()
  clearTimeout(cut)
}

const KEY_NOTE =
  '  The key creates businesses and their API keys. Store it now: it is not shown again.'

const HOLD_NOTE = 'no mail is sent until you run: bellwether release'

type StartState = { newKey: string | undefined; isHeld: boolean }

function printSummary(config: Config, app: App, { newKey, isHeld }: StartState) {
  const { port } = app.server.address() as AddressInfo // PORT=0 uses any free port
  const base = urlOf(config.host, port)
  const database = config.databaseUrl
    ? serverNames(config.databaseUrl)
    : `embedded, in ${config.dataDir}`
  const mail = config.smtpUrl
    ? `sent through ${new URL(config.smtpUrl).host}`
    : 'captured: no email is sent'
  const lines = [
    `Bellwether is running: ${base}`,
    '',
    `  Version           ${VERSION}`,
    `  Console           ${base}/console/`,
    `  API reference     ${base}/docs   (OpenAPI: ${base}/openapi.json)`,
    `  Database          ${database}`,
    `  Mail              ${mail}`,
    ...configWarnings(config).map((warning) => `  Warning           ${warning}`),
    ...(isHeld ? [`  Restored          ${HOLD_NOTE}`] : []),
    ...(newKey ? [`  Operator's key    ${newKey}`, '', KEY_NOTE] : []),
  ]
  // On stderr, because stdout is the log, which must not contain secrets.
  console.error(`\n${lines.join('\n')}\n`)
}
