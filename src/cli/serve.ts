import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { Command } from 'commander'
import { makeOperatorKey } from '../auth/operator-key.ts'
import { makeSecret } from '../auth/secrets.ts'
import { createEngine, type Engine } from '../automation/engine.ts'
import { followTimeZones } from '../automation/time-zones.ts'
import { DatabaseClock } from '../clock.ts'
import { addressOf, readConfig, type Config } from '../config.ts'
import type { Database, Db } from '../database/database.ts'
import { openDatabase } from '../database/postgres.ts'
import { warmUp } from '../email/html-pool.ts'
import { unsubscribeLink } from '../email/unsubscribe.ts'
import { StartError } from '../errors.ts'
import { buildApp, type App } from '../http/server/app.ts'
import { measureEndings } from '../http/routes/engine-metrics.ts'
import { forgetOldAnswers } from '../http/server/idempotency.ts'
import { openLog, type Log } from '../log.ts'
import { forgetBodies } from '../store/emails.ts'
import { findOrSaveLinkSecret } from '../store/link-seal.ts'
import { SettingsCache } from '../store/settings.ts'
import { reachDatabase } from './reach-database.ts'
import { buildConsole } from './build-console.ts'
import { makeMailer } from './make-mailer.ts'

export const command = new Command()
  .addHelpText('after', '\nSettings come from the environment: see docs/configuration.md.')
  .action(serve)

async function serve() {
  const config = readConfig(process.env)
  const log = openLog(config.logLevel)
  const stops: (() => Promise<unknown> | void)[] = []
  // Heard from the beginning: a Ctrl-C during the start must not leave the database behind.
  const told = stopSignal(log)
  let exitCode = 0
  try {
    const app = await start(config, log, stops)
    exitCode = await told
    log.info('stopping')
    // Whatever hangs is left as it lies: another node, or the next start, takes it over.
    setTimeout(() => process.exit(exitCode), LONGEST_STOP_SECONDS * 1000).unref()
    await closeWithin(app, DRAIN_SECONDS)
  } finally {
    for (const stop of stops.toReversed()) await stop()
  }
  log.info('stopped')
  // Whatever a library may still hold open is not worth waiting for.
  process.exit(exitCode)
}

const LONGEST_STOP_SECONDS = 9

/** Leaves time for the rest, so that all is over within 10 s. */
const DRAIN_SECONDS = 8

async function start(config: Config, log: Log, stops: (() => Promise<unknown> | void)[]) {
  const consoleBuilt = config.role === 'worker' ? undefined : buildConsole(log)
  const { url, leave } = await reachDatabase(config, 'service')
  stops.push(leave)
  const onError = (err: Error) => log.warn({ err }, 'connection lost')
  const database = openDatabase({ url, onError, heartbeat: true, analyzesGrownTables: true })
  stops.push(() => database.close())
  const clock = new DatabaseClock()
  stops.push(await keepTime(clock, database, log))

  const linkSeal = await findOrSaveLinkSecret(database.operator, makeSecret('bws_'), clock.now())
  const settings = new SettingsCache()
  const parts = { config, database, clock, log, linkSeal, settings }
  const engine = config.role === 'api' ? undefined : makeEngine(parts)
  const services = {
    ...parts,
    ...(consoleBuilt && { consoleBuilt }),
    ...(engine && { lastClaimTime: engine.lastClaimTime }),
  }
  const app = await buildApp(services)
  await listen(app, config)
  if (engine) {
    stops.push(runEngine(engine), keepHouse(parts))
    followTimeZones(parts).catch((err) => log.error({ err }, 'time zone version not checked'))
  }
  // Only now that nothing can fail between making it and showing it: it is shown this once.
  const madeKey = config.adminApiKey
    ? undefined
    : await makeOperatorKey(database.operator, clock.now())
  sayWhereToLook(config, app, madeKey)
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

function makeEngine({ config, database, clock, log, linkSeal, settings }: Parts) {
  return createEngine({
    ...config,
    database,
    settings,
    clock,
    random: randomBytes,
    mailer: makeMailer(config),
    captures: config.smtpUrl === undefined,
    host: new URL(config.publicUrl).hostname,
    unsubscribeLink: (mail) => unsubscribeLink(config.publicUrl, linkSeal, mail),
    renderPatienceMs: 2_000,
    onError: (err) => log.error({ err }, 'the engine stumbled'),
    onEnded: measureEndings,
    onPlanned: (definition, planned) =>
      log.info({ ...definition, ...planned }, 'definition planned'),
  })
}

/** Runs the engine beside the service; stopping it waits until it has put down its work. */
function runEngine(engine: Engine) {
  warmUp()
  const stopping = new AbortController()
  const stopped = engine.run(stopping.signal)
  return () => {
    stopping.abort()
    return stopped
  }
}

/** A machine's clock drifts against the database's, so it is read again every minute. */
async function keepTime(clock: DatabaseClock, database: Database, log: Log) {
  const read = () => clock.synchronise(() => database.readTime())
  await read()
  const timer = setInterval(() => {
    read().catch((err) => log.warn({ err }, 'the database’s time could not be read'))
  }, 60_000)
  return () => clearInterval(timer)
}

function keepHouse({ config, database, clock, log }: Parts) {
  const tidy = async () => {
    const now = clock.now()
    await forgetOldAnswers(database.engine, now)
    await forgetOldBodies(database.engine, now.subtract({ hours: 24 * config.bodyRetentionDays }))
  }
  const timer = setInterval(() => {
    tidy().catch((err) => log.warn({ err }, 'not tidied'))
  }, 600_000)
  return () => clearInterval(timer)
}

/** In pages, so that no lock is held for long. */
async function forgetOldBodies(engine: Db, before: Temporal.Instant) {
  while ((await forgetBodies(engine, before, FORGOTTEN_AT_ONCE)) === FORGOTTEN_AT_ONCE);
}

const FORGOTTEN_AT_ONCE = 500

async function listen(app: App, { host, port }: Config) {
  try {
    await app.listen({ host, port })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const cause = LISTEN_FAULTS[code ?? '']
    if (!cause) throw error
    await app.close()
    throw new StartError(`Port ${port} on ${host} ${cause}: choose others with PORT and HOST.`)
  }
}

const LISTEN_FAULTS: Record<string, string> = {
  EADDRINUSE: 'is in use by another program',
  EACCES: 'needs rights that this user lacks',
  EADDRNOTAVAIL: 'is not an address of this machine',
  ENOTFOUND: 'is not a name that this machine knows',
  EAI_AGAIN: 'is not a name that this machine can look up now',
}

/** The exit code to end with, once there is a reason to. */
const stopSignal = (log: Log) =>
  new Promise<number>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
      process.on(signal, () => resolve(0))
    // Nobody knows what state a bug has left behind: end in order, and be started again.
    process.on('uncaughtException', (err) => {
      log.fatal({ err }, 'a bug')
      resolve(1)
    })
    process.on('unhandledRejection', (err) => log.error({ err }, 'a bug'))
  })

/** Lets requests in flight finish, and cuts off those that do not in time. */
async function closeWithin(app: App, seconds: number) {
  const cut = setTimeout(() => app.server.closeAllConnections(), seconds * 1000)
  await app.close()
  clearTimeout(cut)
}

const KEEP_THE_KEY =
  '  The key makes businesses and their keys. It is shown this once: keep it now.'

function sayWhereToLook(config: Config, app: App, madeKey: string | undefined) {
  const { port } = app.server.address() as AddressInfo // PORT=0 takes any that is free
  const base = addressOf(config.host, port)
  const database = config.databaseUrl ? 'as DATABASE_URL says' : `embedded, in ${config.dataDir}`
  const mail = config.smtpUrl ? 'sent as SMTP_URL says' : 'captured: none leaves this machine'
  const lines = [
    `Bellwether is running: ${base}`,
    '',
    `  Console           ${base}/console/`,
    `  API description   ${base}/docs   (OpenAPI: ${base}/openapi.json)`,
    `  Database          ${database}`,
    `  Mail              ${mail}`,
    ...(madeKey ? [`  Operator's key    ${madeKey}`, '', KEEP_THE_KEY] : []),
  ]
  // On stderr: stdout is the log, which is collected in places where no secret belongs.
  console.error(`\n${lines.join('\n')}\n`)
}
