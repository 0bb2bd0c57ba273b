import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { Command } from 'commander'
import { createOperatorKey } from '../auth/api-keys.ts'
import { makeSecret } from '../auth/secrets.ts'
import { createEngine, type Engine } from '../automation/engine.ts'
import { followTimeZones } from '../automation/time-zones.ts'
import { DatabaseClock } from '../clock.ts'
import { addressOf, configWarnings, readConfig, type Config } from '../config.ts'
import type { Database } from '../database/database.ts'
import { openDatabase } from '../database/postgres.ts'
import { warmUp } from '../email/html-pool.ts'
import { mailRouteOf } from '../email/mail-route.ts'
import { makeResolver } from '../email/resolver.ts'
import { answerLinks } from '../email/answer-links.ts'
import type { Mailer } from '../email/mailer.ts'
import { calendarLink, unsubscribeLink } from '../email/unsubscribe.ts'
import { StartError } from '../errors.ts'
import { buildApp, type App } from '../http/server/app.ts'
import {
  measureAttempt,
  measureEmailsEnded,
  measureEndings,
} from '../http/routes/engine-metrics.ts'
import { openLog, type Log } from '../log.ts'
import { createReportScheduleLoops } from '../report-delivery/schedule-loops.ts'
import { findOrSaveLinkSecret } from '../store/unsubscribe-links.ts'
import { SettingsCache } from '../store/settings.ts'
import { reachDatabase } from './reach-database.ts'
import { buildConsole } from './build-console.ts'
import { cleanUp } from './clean-up.ts'
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
  const stops: (() => Promise<unknown> | void)[] = []
  // Registered first: Ctrl-C during the start must also stop the embedded database.
  const stopRequested = stopSignal(log)
  let exitCode = 0
  try {
    const app = await start(config, log, stops)
    exitCode = await stopRequested
    log.info('stopping')
    // Work that hangs is abandoned: another node, or this one after its next start, takes it over.
    setTimeout(() => process.exit(exitCode), MAX_STOP_SECONDS * 1000).unref()
    await closeWithin(app, DRAIN_SECONDS)
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

async function start(config: Config, log: Log, stops: (() => Promise<unknown> | void)[]) {
  const consoleBuilt = config.role === 'worker' ? undefined : buildConsole(log)
  const { url, leave } = await reachDatabase(config, 'service')
  stops.push(leave)
  const onError = (err: Error) => log.warn({ err }, 'database connection lost')
  const database = openDatabase({ url, onError, heartbeat: true, analyzesGrownTables: true })
  stops.push(() => database.close())
  const clock = new DatabaseClock()
  stops.push(await synchroniseClock(clock, database, log))

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
  if (engine) {
    stops.push(runEngine(engine), cleanUpPeriodically(parts))
    followTimeZones(parts).catch((err) => log.error({ err }, 'checking the time zone data failed'))
  }
  // Last, so that nothing can fail between creating the key and showing it: it is shown only once.
  const newKey = config.adminApiKey ? undefined : await createOperatorKey(database.operator)
  printSummary(config, app, newKey)
  return app
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
  const schedules = { ...config, ...shared, now: () => clock.now(), onError: onScheduleError }
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
    moreLoops: createReportScheduleLoops(schedules),
    onError: (err) => log.error({ err }, 'engine iteration failed'),
    onEnded: measureEndings,
    onEmailsEnded: measureEmailsEnded,
    onAttempt: measureAttempt,
    onMailServer: (change) => logMailServer(log, change),
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

/** The clocks of machine and database drift apart, so the database's time is read again every minute. */
async function synchroniseClock(clock: DatabaseClock, database: Database, log: Log) {
  const read = () => clock.synchronise(() => database.readTime())
  await read()
  const timer = setInterval(() => {
    read().catch((err) => log.warn({ err }, 'reading the time of the database failed'))
  }, 60_000)
  return () => clearInterval(timer)
}

function cleanUpPeriodically({ config, database, clock, log }: Parts) {
  let isRunning = false
  const timer = setInterval(async () => {
    // The first one after RETENTION_MONTHS was set may take longer than the interval.
    if (isRunning) return
    isRunning = true
    try {
      const deleted = await cleanUp(database, config, clock.now())
      if (deleted.triggers + deleted.mails > 0) log.info(deleted, 'deleted after RETENTION_MONTHS')
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

/** Resolves with the exit code when the process has to stop. */
const stopSignal = (log: Log) =>
  new Promise<number>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
      process.on(signal, () => resolve(0))
    // After a bug the state is unknown: stop in order, so that a supervisor restarts the process.
    process.on('uncaughtException', (err) => {
      log.fatal({ err }, 'uncaught exception')
      resolve(1)
    })
    process.on('unhandledRejection', (err) => log.error({ err }, 'unhandled rejection'))
  })

/** Lets running requests finish, and closes the connections of those that take too long. */
async function closeWithin(app: App, seconds: number) {
  const cut = setTimeout(() => app.server.closeAllConnections(), seconds * 1000)
  await app.close()
  clearTimeout(cut)
}

const KEY_NOTE =
  '  The key creates businesses and their API keys. Store it now: it is not shown again.'

function printSummary(config: Config, app: App, newKey: string | undefined) {
  const { port } = app.server.address() as AddressInfo // PORT=0 uses any free port
  const base = addressOf(config.host, port)
  const database = config.databaseUrl ? 'DATABASE_URL' : `embedded, in ${config.dataDir}`
  const mail = config.smtpUrl ? 'sent through SMTP_URL' : 'captured: no email is sent'
  const lines = [
    `Bellwether is running: ${base}`,
    '',
    `  Console           ${base}/console/`,
    `  API reference     ${base}/docs   (OpenAPI: ${base}/openapi.json)`,
    `  Database          ${database}`,
    `  Mail              ${mail}`,
    ...configWarnings(config).map((warning) => `  Warning           ${warning}`),
    ...(newKey ? [`  Operator's key    ${newKey}`, '', KEY_NOTE] : []),
  ]
  // On stderr, because stdout is the log, which must not contain secrets.
  console.error(`\n${lines.join('\n')}\n`)
}
