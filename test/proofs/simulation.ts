import pg from 'pg'
import { createEngine, type EngineParts } from '../../src/automation/engine.ts'
import { saveDefinition } from '../../src/automation/define.ts'
import { planDefinition } from '../../src/automation/plan.ts'
import { reconcileAll } from '../../src/automation/reconcile.ts'
import type { Clock } from '../../src/clock.ts'
import { objectKind } from '../../src/contract/objects.ts'
import type { Database } from '../../src/database/database.ts'
import { sql, type Sql } from '../../src/database/sql.ts'
import { CaptureMailer } from '../../src/email/capture.ts'
import { findDefinition, markPlanned } from '../../src/store/event-definitions.ts'
import { checkHtmlOf } from '../../src/scheduling/email-templates.ts'
import { saveObject } from '../../src/scheduling/save.ts'
import { sharedSaves } from '../../src/scheduling/shared-saves.ts'
import { SettingsCache } from '../../src/store/settings.ts'
import type { Lifetime } from '../support/clean-up.ts'
import { cloneDatabase } from '../support/database.ts'
import { stepsOf } from '../support/engine-steps.ts'
import {
  Crash,
  Interleaving,
  isServerTimeout,
  MachineTooSlow,
  type Process,
  type Span,
} from './interleave.ts'
import {
  findBrokenPromises,
  isGivenUp,
  type Appointment,
  type Definition,
  type RunRecord,
  type Settled,
  type Version,
} from './model.ts'
import { randomFrom, type Random } from './random.ts'
import { SimulatedFeed } from './simulated-feed.ts'
import { rewriting } from './without-guards.ts'

const HOUR = 3_600_000
const LEASE_SECONDS = 10
const MAX_RETRY_SECONDS = 2 * LEASE_SECONDS
const NODES = 3

/** What a test changes in the engine, to see that the simulation fails. */
export type Mutation = {
  rewrite?: (statement: Sql) => Sql
  parts?: Partial<EngineParts>
  /** In place of the run's own fault rates, to cause what a guard is for. */
  freezing?: number
  planning?: number
  firing?: number
}

export type RunResult = {
  /** One line for each broken promise. */
  broken: string[]
  /** What happened and which rows were found, if a promise was broken. */
  log: string[]
  /** Equal for equal runs. */
  fingerprint: number
  steps: number
  crashes: number
  frozen: number
  mails: number
  triggers: number
  givenUp: number
}

type Ids = { locationId: number; professionalId: number; reasonId: number }
export type World = Awaited<ReturnType<typeof startWorld>>

const START = Date.parse('2026-03-02T09:00:00Z')

/** A database with one business, its staff, a template and a clock. */
export async function startWorld(t: Lifetime) {
  const { database, url } = await cloneDatabase(t, 20, SETTINGS)
  const owner = new pg.Client({ connectionString: url })
  owner.on('error', () => {})
  await owner.connect()
  t.after(() => owner.end())
  const name = new URL(url).pathname.slice(1)
  for (const setting of ['track_activities', 'update_process_title'])
    await owner.query(`alter database ${name} set ${setting} = off`)
  await owner.query(`select setval('business_business_id_seq', ${(worlds += 1)})`)
  const business = await openBusiness(database)
  const clear = await prepareClear(owner)
  return { database, ...business, clear, countBlocked: blockedCounter(owner) }
}

/** Nodes cache businesses by id, so each world of a process has another id. */
let worlds = 0

const SETTINGS = {
  // The same few statements run many times, on tables that stay small.
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  // No timeout may end a statement on a busy machine, or a transaction that the simulation pauses.
  statement_timeout: '1h',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '1h',
}

/**
 * Returns a function that deletes the rows of a simulated run, also those that no role of the service can
 * delete. The next run begins with the business, its staff and its template only.
 */
async function prepareClear(owner: pg.Client) {
  const { rows } = await owner.query<{ name: string }>(`
    select format('%I', relname) as name from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace`)
  const tables = rows.map((row) => row.name)
  const cleared = tables.filter((name) => !KEPT.has(name))
  await owner.query('set session_replication_role = replica')
  for (const name of tables) await owner.query(`alter table ${name} set (autovacuum_enabled = off)`)
  // The server plans the statements of a function once.
  const statements = cleared.map((name) => `delete from ${name};`).join(' ')
  await owner.query(`
    create function pg_temp.clear() returns void language plpgsql as $$begin ${statements} end$$`)
  let runs = 0
  return async () => {
    await owner.query(CLEAR)
    if ((runs += 1) % VACUUM_EVERY === 0) await owner.query(`vacuum ${cleared.join(',')}`)
  }
}

const CLEAR = { name: 'clear', text: 'select pg_temp.clear()' }
const KEPT = new Set([
  'business',
  'client',
  'email_template',
  'location',
  'migration',
  'professional',
  'reason',
  'server_epoch',
  'settings_version',
  'status',
])
const VACUUM_EVERY = 50

/** Claims triggers of the same time in a fixed order, so that a seed repeats its run. */
const inFixedOrder = rewriting((text) =>
  text.includes('pending_trigger q')
    ? text.replaceAll(/order by q\.next_attempt_time(?=\s+limit)/g, '$&, q.event_trigger_id')
    : text,
)

/**
 * Counts the sessions of this database that wait for a lock. Reading pg_stat_activity takes longer than
 * pg_locks and connections stay open, so it is read only if an unknown session waits.
 */
function blockedCounter(owner: pg.Client) {
  const isOfDatabase = new Map<number, boolean>()
  const read = async (query: pg.QueryConfig) =>
    (await owner.query<{ pid: number; isOfDatabase: boolean }>(query)).rows
  return async () => {
    const blocked = await read(BLOCKED)
    const isAnyNew = blocked.some(({ pid }) => !isOfDatabase.has(pid))
    for (const row of isAnyNew ? await read(SESSIONS) : [])
      isOfDatabase.set(row.pid, row.isOfDatabase)
    return blocked.filter(({ pid }) => isOfDatabase.get(pid)).length
  }
}

const BLOCKED = { name: 'blocked', text: 'select distinct pid from pg_locks where not granted' }
const SESSIONS = {
  name: 'sessions',
  text: `
    select pid, datname is not distinct from current_database() as "isOfDatabase"
    from pg_stat_activity`,
}

async function openBusiness(database: Database) {
  let ms = START
  const clock: Clock = { now: () => Temporal.Instant.fromEpochMilliseconds(ms) }
  const moveClock = (byMs: number) => void (ms += byMs)
  const resetClock = () => void (ms = START)
  const now = clock.now()
  const [row] = await database.operator.query<{ id: number }>(sql`
    insert into business (name, time_zone, created_date, created_user, modified_date, modified_user)
    values ('Praxis', 'Europe/Zurich', ${now}, 'OPERATOR', ${now}, 'OPERATOR')
    returning business_id as id`)
  const businessId = row!.id
  const db = database.forBusiness(businessId, 'key:simulation')
  const save = async (kind: string, body: object) => {
    const declared = objectKind(kind)!
    const html = await checkHtmlOf(declared, [body], businessId)
    const saving = { businessId, user: 'key:simulation', now, settings: new SettingsCache(), html }
    const { object } = await db.transaction((tx) => saveObject(tx, declared, body, saving))
    return object as unknown as Record<string, number>
  }
  const { locationId } = await save('location', { name: 'Altstadt' })
  const { professionalId } = await save('professional', {
    firstName: 'Elena',
    lastName: 'García',
    emailAddress: 'elena@example.org',
  })
  const { reasonId } = await save('reason', { name: 'Consultation' })
  const { clientId } = await save('client', {
    firstName: 'Anna',
    lastName: 'Müller',
    emailAddress: 'anna@example.org',
  })
  const { emailTemplateId } = await save('emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you, %CLIENT_FIRSTNAME%',
    emailBody: '<p>%APPT_START_TIME%</p>',
  })
  const ids = { locationId, professionalId, reasonId, clientId }
  return { db, businessId, clock, moveClock, resetClock, ids, emailTemplateId: emailTemplateId! }
}

/** Simulates the run of a seed and checks the promises. */
export async function simulateRun(
  world: World,
  seed: number,
  mutation: Mutation = {},
): Promise<RunResult> {
  world.resetClock()
  const run = new SimulatedRun(world, seed, mutation)
  try {
    const result = await run.simulate()
    await world.clear()
    return result
  } catch (error) {
    await run.abandon()
    throw isServerTimeout(error) ? new MachineTooSlow(error) : error
  }
}

class SimulatedRun {
  readonly #world: World
  readonly #random: Random
  readonly #parts: Partial<EngineParts>
  readonly #faultRates: FaultRates
  readonly #rewrite: (statement: Sql) => Sql
  readonly #steps: Interleaving
  /** Half of the runs have one, but none with a mutation: its random numbers are its own. */
  readonly #feed: SimulatedFeed | undefined
  readonly #feedRandom: Random
  readonly #settings = new SettingsCache()
  readonly #nodes: Node[] = []
  /** The processes of all nodes, also of replaced ones. */
  readonly #nodeProcesses: Process[] = []
  readonly #definitions: number[] = []
  readonly #appointments: number[] = []
  readonly #settled: Settled[] = []
  readonly #broken: string[] = []
  #frozen: Process[] = []
  #processes = 0
  #serverTimeout: unknown
  /** The latest time of the clock so far: leases may last until a little after it. */
  #latest = START

  constructor(world: World, seed: number, mutation: Mutation) {
    const { rewrite = (statement) => statement, parts = {} } = mutation
    this.#world = world
    this.#random = randomFrom(seed)
    this.#parts = parts
    this.#faultRates = faultRatesOf(this.#random, mutation)
    this.#rewrite = (statement) => inFixedOrder(rewrite(statement))
    this.#steps = new Interleaving(this.#random, world.countBlocked)
    this.#feedRandom = randomFrom(seed ^ 0x5eed)
    if (Object.keys(mutation).length > 0 || this.#feedRandom.chance(0.5)) return
    const { businessId, clock, ids } = world
    this.#feed = new SimulatedFeed({
      random: this.#feedRandom,
      businessId,
      clock,
      ids: ids as Ids,
      settings: this.#settings,
      onError: (error) => this.#onError(error),
    })
  }

  async simulate(): Promise<RunResult> {
    const random = this.#random
    for (let i = 0; i < NODES; i += 1) this.#nodes.push(this.#startNode(i))
    await this.#createDefinitions()
    if (this.#feed) await this.#runSafely('makes a feed', (database) => this.#feed!.open(database))
    const rounds = 4 + random.below(6)
    for (let round = 0; round < rounds; round += 1) {
      const count = 1 + random.below(4)
      const tasks = Array.from({ length: count }, () => this.#randomTask())
      if (random.chance(this.#faultRates.planning)) tasks.push(...(await this.#planConcurrently()))
      await this.#runConcurrently(tasks)
      if (random.chance(0.25)) await this.#settle()
      this.#passTime()
      this.#thawSome(0.5)
    }
    this.#thawSome(1)
    await this.#settle() // concurrently with the thawed processes
    await this.#settle()
    for (let i = 0; i < 4; i += 1) {
      this.#moveClock(15 * HOUR)
      await this.#settle()
    }
    this.#broken.push(...(await this.#compareFeed()))
    const record = await this.#readRecord()
    this.#broken.push(...findBrokenPromises(record), ...(await this.#reconcile()))
    const { steps, crashes, frozen, fingerprint } = this.#steps
    const [mails, triggers] = [record.mails.length, record.triggers.length]
    const givenUp = record.triggers.filter(isGivenUp).length
    const isBroken = this.#broken.length > 0
    const log = isBroken ? [...this.#steps.log, ...describe(record)] : []
    const counts = { steps, crashes, frozen, mails, triggers, givenUp }
    return { broken: this.#broken, log, fingerprint, ...counts }
  }

  abandon() {
    return this.#steps.abandon()
  }

  /** Starts a node that may crash at any of its next statements, unless it is healthy. */
  #startNode(index: number, batchSize = 1 + this.#random.below(4), isHealthy = false): Node {
    const process = this.#newProcess(isHealthy ? 'the healthy node' : `node ${index}`)
    if (isHealthy) process.crashIn = process.freezeIn = Infinity
    this.#nodeProcesses.push(process)
    const { database, clock } = this.#world
    const created = createEngine({
      database: this.#steps.view(database, process, this.#rewrite),
      clock,
      random: (size) => Buffer.from(Array.from({ length: size }, () => this.#random.below(256))),
      leaseSeconds: LEASE_SECONDS,
      maxLockWaitMs: 0,
      mailer: new CaptureMailer(),
      captures: true,
      mailFrom: { name: 'Bellwether', address: 'no-reply@localhost' },
      host: 'localhost',
      calendarLink: () => null,
      unsubscribeLink: () => null,
      onError: (error) => this.#onError(error),
      ...this.#parts,
      settings: this.#settings,
      batchSize,
    })
    return { process, engine: stepsOf(created) }
  }

  #newProcess(role: string): Process {
    const name = `${role} (process ${(this.#processes += 1)})`
    const { crashing, freezing } = this.#faultRates
    const crashIn = this.#random.chance(crashing) ? 1 + this.#random.below(40) : Infinity
    const freezes = this.#random.chance(freezing)
    const freezeIn = freezes ? 2 + this.#random.below(4) : Infinity
    const crashesAfter = this.#random.chance(0.5)
    return { name, isDead: false, isFrozen: false, crashIn, crashesAfter, freezeIn, failures: 0 }
  }

  /** Any error but a crash breaks a promise. */
  #onError(error: unknown) {
    if (isServerTimeout(error)) this.#serverTimeout ??= error
    else if (!(error instanceof Crash)) {
      const { detail = '', where = '' } = error as { detail?: string; where?: string }
      this.#broken.push(`unexpected error: ${String(error)} ${detail} ${where}`.trim())
    }
  }

  #moveClock(ms: number) {
    const { moveClock, clock } = this.#world
    moveClock(ms)
    this.#latest = Math.max(this.#latest, clock.now().epochMilliseconds)
    this.#steps.note(`the clock is moved to ${clock.now()}`)
  }

  async #runConcurrently(tasks: (() => Promise<unknown>)[]) {
    for (const error of await this.#steps.run(tasks)) if (error) this.#onError(error)
    if (this.#serverTimeout) throw new MachineTooSlow(this.#serverTimeout)
    this.#nodes.forEach(({ process }, index) => {
      // A new node replaces a dead or frozen one. The frozen process may be thawed later.
      if (process.isFrozen) this.#frozen.push(process)
      if (process.isDead || process.isFrozen) this.#nodes[index] = this.#startNode(index)
    })
  }

  #thawSome(probability: number) {
    for (const process of this.#frozen) {
      if (!process.isFrozen || !this.#random.chance(probability)) continue
      process.isFrozen = false
      this.#steps.note(`${process.name} is thawed`)
    }
  }

  #randomTask(): () => Promise<unknown> {
    if (this.#feed && this.#feedRandom.chance(0.3)) return this.#feedTask(this.#feed)
    const random = this.#random
    const node = random.pick(this.#nodes)
    if (random.chance(this.#faultRates.firing)) return () => node.engine.fire()
    const choice = random.below(15)
    if (choice < 3) return () => node.engine.fire()
    if (choice < 4) return () => node.engine.takeOver()
    if (choice < 5) return () => node.engine.plan()
    if (choice < 6) return () => node.engine.heartbeat().then(() => node.engine.sweep())
    if (choice < 8 || this.#appointments.length === 0)
      return random.chance(0.3) ? () => this.#saveSeveral() : () => this.#book()
    if (choice < 10) return () => this.#change(this.#randomAppointment(), this.#newTime())
    if (choice < 12) {
      const status = random.pick(['CANCELLED', 'OPEN', 'CONFIRMED', 'COMPLETED', 'NO_SHOW'])
      return () => this.#change(this.#randomAppointment(), { status })
    }
    if (choice < 13) return () => this.#changeDefinition(random.pick(this.#definitions))
    if (choice < 14) {
      const active = random.chance(0.5)
      return () => this.#change(this.#randomAppointment(), { active })
    }
    return () => this.#change(this.#randomAppointment(), { note: `note ${random.below(100)}` })
  }

  /** The source changes, and a node pulls it; or a person changes what is mirrored. */
  #feedTask(feed: SimulatedFeed) {
    const random = this.#feedRandom
    if (feed.appointments.length > 0 && random.chance(0.3)) {
      const status = random.pick(['CANCELLED', 'OPEN', 'CONFIRMED', 'COMPLETED', 'NO_SHOW'])
      const calendarId = random.pick(feed.appointments)
      return () => this.#change(calendarId, { status })
    }
    feed.change()
    return () => feed.pull(this.#startService('pulls the feed'))
  }

  /** One pull without faults makes everything equal. */
  async #compareFeed() {
    const feed = this.#feed
    if (!feed) return []
    await this.#runSafely('pulls the feed', (database) => feed.pull(database))
    const differences = await feed.findDifferences(this.#world.database)
    await this.#settle()
    return differences
  }

  #randomAppointment() {
    const { usesOneAppointment } = this.#faultRates
    return usesOneAppointment ? this.#appointments[0]! : this.#random.pick(this.#appointments)
  }

  /** Switches a definition on while every node plans, so that several find its plan incomplete. */
  async #planConcurrently() {
    const reminder = this.#random.pick(this.#definitions.slice(0, 2))
    await this.#switchOff(reminder)
    const plans = this.#nodes.map(
      ({ engine }) =>
        () =>
          engine.plan(),
    )
    return [() => this.#changeDefinition(reminder, 1), ...plans]
  }

  #newTime() {
    const startTime = this.#world.clock.now().epochMilliseconds + this.#random.below(40) * HOUR
    return { startTime, endTime: startTime + HOUR / 2 }
  }

  async #book() {
    const body = { ...this.#world.ids, ...this.#newTime() }
    const saved = await this.#saveCalendar(this.#startService('books'), body)
    this.#appointments.push(saved.calendarId as number)
  }

  /** Concurrent saves of one service process share a transaction. */
  async #saveSeveral() {
    const random = this.#random
    const { businessId, clock, ids } = this.#world
    const bodies: object[] = [{ ...ids, ...this.#newTime() }]
    for (let more = 1 + random.below(2); more > 0 && this.#appointments.length > 0; more -= 1) {
      const status = random.pick(['CANCELLED', 'OPEN', 'COMPLETED'])
      const change = random.chance(0.5) ? this.#newTime() : { status }
      bodies.push({ calendarId: this.#randomAppointment(), ...change })
    }
    const database = this.#startService(`saves ${bodies.length} together`)
    const db = database.forBusiness(businessId, 'key:simulation')
    const shared = sharedSaves(() => clock.now())
    const kind = objectKind('calendar')!
    const who = { businessId, user: 'key:simulation', settings: this.#settings }
    const saved = await Promise.all(bodies.map((body) => shared.run({ db, ...who, kind, body })))
    for (const { object, isNew } of saved)
      if (isNew) this.#appointments.push(object.calendarId as number)
  }

  #change(calendarId: number, body: object) {
    const what = Object.entries(body)[0]!.join(' ')
    const database = this.#startService(`changes ${calendarId} to ${what}`)
    return this.#saveCalendar(database, { calendarId, ...body })
  }

  async #saveCalendar(database: Database, body: object) {
    const { businessId, clock } = this.#world
    const db = database.forBusiness(businessId, 'key:simulation')
    const saving = {
      businessId,
      user: 'key:simulation',
      now: clock.now(),
      settings: this.#settings,
    }
    const saved = await db.transaction((tx) =>
      saveObject(tx, objectKind('calendar')!, body, saving),
    )
    return saved.object
  }

  /** A service process that may crash or freeze during a request. */
  #startService(task: string): Database {
    const process = this.#newProcess(`a service that ${task}`)
    if (process.freezeIn < Infinity) this.#frozen.push(process)
    return this.#steps.view(this.#world.database, process, this.#rewrite)
  }

  /** Runs a task alone, in a process that never crashes or freezes. */
  async #runSafely<T>(task: string, work: (database: Database) => Promise<T>): Promise<T> {
    const process = this.#newProcess(`a safe service that ${task}`)
    process.crashIn = process.freezeIn = Infinity
    const database = this.#steps.view(this.#world.database, process, inFixedOrder)
    const results: T[] = []
    await this.#runConcurrently([() => work(database).then((result) => results.push(result))])
    if (results.length === 0) throw new Error(this.#broken.at(-1))
    return results[0]!
  }

  async #createDefinitions() {
    const random = this.#random
    const forms = [
      { eventTypeId: 3, triggerHours: -random.pick([1, 2, 24]) },
      { eventTypeId: 3, triggerHours: random.pick([0, 1, 3]) },
      { eventTypeId: random.pick([1, 2]), triggerHours: 0 },
    ]
    const bodies = forms.map((form) => this.#definition(form, random.pick([1, 2])))
    const { businessId, clock } = this.#world
    const defining = {
      businessId,
      user: 'key:simulation',
      now: clock.now(),
      settings: this.#settings,
    }
    await this.#runSafely('creates definitions', (database) =>
      database.forBusiness(businessId, 'key:simulation').transaction(async (tx) => {
        for (const body of bodies) {
          const { definition } = await saveDefinition(tx, body, defining)
          await markPlanned(tx, definition) // there are no appointments yet
          this.#definitions.push(definition.eventDefnId)
        }
      }),
    )
  }

  #definition(form: Form, recipients: number) {
    const { businessId, emailTemplateId } = this.#world
    const eventActions = ['client', 'staff'].slice(0, recipients).map((value) => ({
      actionType: 'SEND_EMAIL',
      active: true,
      businessId,
      emailTemplateId,
      recipient: { value },
    }))
    return { ...bodyOf(businessId, { ...form, active: true }), allowPast: true, eventActions }
  }

  async #saveDefinition(database: Database, body: object) {
    const { businessId, clock } = this.#world
    const db = database.forBusiness(businessId, 'key:simulation')
    const defining = {
      businessId,
      user: 'key:simulation',
      now: clock.now(),
      settings: this.#settings,
    }
    const { definition } = await db.transaction((tx) => saveDefinition(tx, body, defining))
    await planDefinition(database, definition, () => clock.now())
    return definition.eventDefnId
  }

  /**
   * Changes the offset and description of a definition, or switches it. The process may crash before the
   * plan of the new version is complete.
   */
  async #changeDefinition(eventDefnId: number, switching = 0.3) {
    const { businessId } = this.#world
    const random = this.#random
    // All random numbers are drawn before the first await, so that they depend on the seed only.
    const [switches, index, edit] = [random.chance(switching), random.below(4), random.below(100)]
    const database = this.#startService(`changes definition ${eventDefnId}`)
    const db = database.forBusiness(businessId, 'key:simulation')
    const current = (await findDefinition(db, businessId, eventDefnId))!
    const active = switches ? !current.active : current.active
    const hours = current.triggerHours < 0 ? [-1, -3, -24] : [0, 1, 2]
    const { eventTypeId } = current
    const triggerHours = eventTypeId === 3 ? (hours[index] ?? current.triggerHours) : 0
    const form = bodyOf(businessId, { eventTypeId, triggerHours, active })
    // The description makes a new version, even if nothing else changes.
    await this.#saveDefinition(database, { ...form, eventDefnId, description: `edit ${edit}` })
  }

  #passTime() {
    const random = this.#random
    const choice = random.below(10)
    if (choice < 2) this.#moveClock(LEASE_SECONDS * 1000 + 1_000)
    else if (choice < 3) this.#moveClock(-60_000)
    else if (choice < 4) this.#moveClock(random.below(30) * HOUR)
    else if (choice < 9) this.#moveClock(random.below(180) * 60_000)
  }

  /** A healthy node runs until leases of dead nodes have expired and everything due is done. */
  async #settle() {
    const before = this.#latest
    const isAlone = !this.#steps.isAnyProcessAwake()
    // The node has been up for one lease when it begins, so it also retries failed triggers.
    const { engine } = this.#startNode(NODES, 50, true)
    this.#moveClock(LEASE_SECONDS * 1000 + 1_000)
    const settle = async () => {
      let done = 0
      do {
        done = (await engine.takeOver()) + (await engine.plan())
        while ((await engine.sweep()) + (await engine.fire()) > 0) {
          if (this.#broken.length > 20) return
        }
      } while (done > 0)
    }
    await this.#runConcurrently([settle])
    // Triggers with failed attempts are attempted again after a while.
    this.#moveClock(MAX_RETRY_SECONDS * 1000)
    await this.#runConcurrently([settle])
    const at = this.#world.clock.now().epochMilliseconds
    this.#steps.note('everything due is done')
    // A concurrent process may leave work behind. And while the clock is behind its latest time, the
    // lease of a dead worker may still last.
    if (isAlone && at > before + LEASE_SECONDS * 1000)
      this.#settled.push({ step: this.#steps.steps, at })
  }

  /** The reconciler must not find a fault either. */
  async #reconcile(): Promise<string[]> {
    const { database, clock } = this.#world
    const found = await reconcileAll(database.engine, () => clock.now())
    const faults = found.missing + found.unfounded + found.doubled
    return faults === 0 ? [] : [`the reconciler found ${JSON.stringify(found)}`]
  }

  async #readRecord(): Promise<RunRecord> {
    const { db, businessId } = this.#world
    const { spans } = this.#steps
    const audit = await db.query<AuditRow & { object: string }>(sql`
      select object, id::bigint, (extract(epoch from time) * 1000)::bigint as time, after,
             xmin::text as xid
      from audit
      where business_id = ${businessId} and object in ('calendar', 'eventDefinition')
      order by audit_id`)
    const rowsOf = (object: string) => audit.filter((row) => row.object === object)
    const triggers = await db.query<
      Omit<RunRecord['triggers'][number], 'step'> & { xid: string }
    >(sql`
      select event_trigger_id as id, event_defn_id as definition, object_id as object,
             (extract(epoch from anchor_time) * 1000)::bigint as anchor,
             (extract(epoch from scheduled_time) * 1000)::bigint as scheduled, status,
             status_reason as reason,
             (extract(epoch from coalesce(modified_date, created_date)) * 1000)::bigint as at,
             occurrence is null as "isReminder", xid
      from any_trigger
      join (select event_trigger_id, xmin::text as xid from pending_trigger
            union all select event_trigger_id, xmin::text from event_trigger) written
        using (event_trigger_id)
      where business_id = ${businessId} order by event_trigger_id`)
    const mails = await db.query<Omit<RunRecord['mails'][number], 'step'> & { xid: string }>(sql`
      select event_trigger_id as trigger, event_action_id as action,
             (extract(epoch from created_date) * 1000)::bigint as at, xmin::text as xid
      from email where business_id = ${businessId} order by email_id`)
    const actions = await db.query<{ definition: number; action: number }>(sql`
      select event_defn_id as definition, event_action_id as action from event_action
      where business_id = ${businessId} order by event_action_id`)
    return {
      appointments: versionsOf(rowsOf('calendar'), spans, appointmentOf),
      definitions: versionsOf(rowsOf('eventDefinition'), spans, definitionOf),
      actions: new Map(
        [...Map.groupBy(actions, (row) => row.definition)].map(([id, rows]) => [
          id,
          rows.map((row) => row.action),
        ]),
      ),
      triggers: triggers.map((row) => ({ ...row, step: spans.get(row.xid)?.committed })),
      mails: mails.map((row) => ({ ...row, step: spans.get(row.xid)!.committed })),
      settled: this.#settled,
      failures: this.#nodeProcesses.reduce((sum, { failures }) => sum + failures, 0),
    }
  }

  async #switchOff(eventDefnId: number) {
    const { db, businessId } = this.#world
    const { eventTypeId, triggerHours } = (await findDefinition(db, businessId, eventDefnId))!
    const form = bodyOf(businessId, { eventTypeId, triggerHours, active: false })
    await this.#runSafely(`switches ${eventDefnId} off`, (database) =>
      this.#saveDefinition(database, { ...form, eventDefnId }),
    )
  }
}

type Node = { process: Process; engine: ReturnType<typeof stepsOf> }

/** Random rates of faults and events: runs with different rates find different faults. */
type FaultRates = {
  crashing: number
  freezing: number
  planning: number
  firing: number
  /** All changes are of one appointment. */
  usesOneAppointment: boolean
}

const faultRatesOf = (random: Random, { freezing, planning, firing }: Mutation): FaultRates => ({
  crashing: random.pick([0.1, 0.3, 0.6]),
  freezing: freezing ?? random.pick([0.1, 0.2, 0.6]),
  planning: planning ?? random.pick([0, 0.15, 0.4]),
  firing: firing ?? random.pick([0, 0, 0.3]),
  usesOneAppointment: random.chance(0.3),
})
type Form = { eventTypeId: number; triggerHours: number }

const bodyOf = (businessId: number, { eventTypeId, ...form }: Form & { active: boolean }) => ({
  ...form,
  businessId,
  objectType: 'CALENDAR',
  triggerMinutes: 0,
  eventType: { eventTypeId },
})

type AuditRow = { id: number; time: number; after: Record<string, unknown>; xid: string }
type State<V> = Omit<V, keyof Version>

/** The versions of each object. A save that changes nothing of the state makes no new version. */
function versionsOf<V extends Version>(
  rows: AuditRow[],
  spans: Map<string, Span>,
  read: (row: AuditRow) => State<V>,
) {
  const versions = new Map<number, V[]>()
  for (const row of rows) {
    const ofObject = versions.get(row.id) ?? []
    versions.set(row.id, ofObject)
    const last = ofObject.at(-1)
    const state = read(row)
    const { began, committed } = spans.get(row.xid)!
    if (last) {
      const { from: _from, until: _until, began: _began, at: _at, ...before } = last
      if (JSON.stringify(before) === JSON.stringify(state)) continue
      last.until = committed
    }
    ofObject.push({ ...state, began, from: committed, until: Infinity, at: row.time } as V)
  }
  return versions
}

/** The whole record as lines, to explain a broken promise. */
function describe({ appointments, definitions, triggers, mails, settled }: RunRecord) {
  const lines = (name: string, items: object[]) =>
    items.map((item) => `${name} ${JSON.stringify(item)}`)
  return [
    ...lines('definition', [...definitions.values()].flat()),
    ...lines('appointment', [...appointments.values()].flat()),
    ...lines('trigger', triggers),
    ...lines('mail', mails),
    ...lines('settled', settled),
  ]
}

const appointmentOf = ({ id, after }: AuditRow): State<Appointment> => ({
  id,
  start: Date.parse(after.start_time as string),
  status: after.status as string,
  active: after.active as boolean,
})

const KINDS: Record<number, Definition['kind']> = { 1: 'CREATED', 2: 'CHANGED', 3: 'REMINDER' }

const definitionOf = ({ id, after }: AuditRow): State<Definition> => ({
  id,
  kind: KINDS[after.event_type_id as number]!,
  offset: (after.trigger_hours as number) * HOUR,
  active: after.active as boolean,
})
