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
import { SharedSaves } from '../../src/scheduling/save-together.ts'
import { SettingsCache } from '../../src/store/settings.ts'
import type { Lifetime } from '../support/clean-up.ts'
import { cloneDatabase } from '../support/database.ts'
import { stepsOf } from '../support/engine-steps.ts'
import {
  Crash,
  Disturbed,
  Interleaving,
  isServerTimeout,
  type Process,
  type Span,
} from './interleave.ts'
import {
  brokenPromises,
  isGivenUp,
  type Appointment,
  type Definition,
  type RunRecord,
  type Settled,
  type Version,
} from './model.ts'
import { randomFrom, type Random } from './random.ts'
import { rewriting } from './without-guards.ts'

const HOUR = 3_600_000
const LEASE_SECONDS = 10
const MAX_RETRY_SECONDS = 2 * LEASE_SECONDS
const NODES = 3

/** What may be taken out of the engine, to see that the proof notices. */
export type Mutation = {
  rewrite?: (statement: Sql) => Sql
  parts?: Partial<EngineParts>
  /** Instead of the run's own fault rates, where that is what a guard is for. */
  freezing?: number
  planning?: number
  firing?: number
}

export type Told = {
  broken: string[]
  /** What happened and what was found, where a promise was broken. */
  story: string[]
  /** The same for the same run. */
  fingerprint: number
  steps: number
  crashes: number
  frozen: number
  mails: number
  triggers: number
  givenUp: number
}

export type World = Awaited<ReturnType<typeof startWorld>>

const START = Date.parse('2026-03-02T09:00:00Z')

/** A database with one business, its staff and a template, and a clock of its own. */
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
  const clear = await clearing(owner)
  return { database, ...business, clear, countBlocked: counting(owner) }
}

/** Nodes remember a business by its number, so no two worlds of one process have the same. */
let worlds = 0

const SETTINGS = {
  // The same few statements by the hundred thousand on tables that stay small.
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  // The server should not lose patience on a busy machine, nor with one who is paused for a while.
  statement_timeout: '1h',
  idle_in_transaction_session_timeout: '1h',
}

/**
 * Takes away what a simulated run left, also what nobody else could: the next one begins with nothing but
 * the business itself.
 */
async function clearing(owner: pg.Client) {
  const { rows } = await owner.query<{ name: string }>(`
    select format('%I', relname) as name from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace`)
  const tables = rows.map((row) => row.name)
  const grown = tables.filter((name) => !KEPT.has(name))
  await owner.query('set session_replication_role = replica')
  for (const name of tables) await owner.query(`alter table ${name} set (autovacuum_enabled = off)`)
  // A function keeps the plans of its statements.
  const statements = grown.map((name) => `delete from ${name};`).join(' ')
  await owner.query(`
    create function pg_temp.clear() returns void language plpgsql as $$begin ${statements} end$$`)
  let cleared = 0
  return async () => {
    await owner.query(CLEAR)
    if ((cleared += 1) % VACUUM_EVERY === 0) await owner.query(`vacuum ${grown.join(',')}`)
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

/** Who goes first of those due in the same moment is the server's choice; here it is the oldest. */
const inOrder = rewriting((text) =>
  text.includes('pending_trigger q')
    ? text.replaceAll(/order by q\.next_attempt_time(?=\s+limit)/g, '$&, q.event_trigger_id')
    : text,
)

/** The engine's own statements, with nothing taken out. */
const asWritten = inOrder

/** To ask who is at this database costs more than to ask who waits, and connections last. */
function counting(owner: pg.Client) {
  const isHere = new Map<number, boolean>()
  const ask = async (question: pg.QueryConfig) =>
    (await owner.query<{ pid: number; here: boolean }>(question)).rows
  return async () => {
    const waiting = await ask(WAITING)
    const isAnyoneNew = waiting.some(({ pid }) => !isHere.has(pid))
    for (const { pid, here } of isAnyoneNew ? await ask(PRESENT) : []) isHere.set(pid, here)
    return waiting.filter(({ pid }) => isHere.get(pid)).length
  }
}

const WAITING = { name: 'waiting', text: 'select distinct pid from pg_locks where not granted' }
const PRESENT = {
  name: 'present',
  text: `
    select pid, datname is not distinct from current_database() as here from pg_stat_activity`,
}

async function openBusiness(database: Database) {
  let ms = START
  const clock: Clock = { now: () => Temporal.Instant.fromEpochMilliseconds(ms) }
  const move = (by: number) => void (ms += by)
  const begin = () => void (ms = START)
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
  return { db, businessId, clock, move, begin, ids, emailTemplateId: emailTemplateId! }
}

/** One simulated run from its seed: what was done, and which promises it broke. */
export async function playRun(world: World, seed: number, mutation: Mutation = {}): Promise<Told> {
  world.begin()
  const play = new Play(world, seed, mutation)
  try {
    const told = await play.play()
    await world.clear()
    return told
  } catch (error) {
    await play.abandon()
    throw isServerTimeout(error) ? new Disturbed(error) : error
  }
}

class Play {
  readonly #world: World
  readonly #random: Random
  readonly #parts: Partial<EngineParts>
  readonly #faultRates: FaultRates
  readonly #rewrite: (statement: Sql) => Sql
  readonly #steps: Interleaving
  readonly #settings = new SettingsCache()
  readonly #nodes: Node[] = []
  /** All that ever were a node. */
  readonly #workers: Process[] = []
  readonly #definitions: number[] = []
  readonly #appointments: number[] = []
  readonly #settled: Settled[] = []
  readonly #broken: string[] = []
  #frozen: Process[] = []
  #processes = 0
  #serverTimeout: unknown
  /** The latest that the clock ever said: leases may last until a little after it. */
  #latest = START

  constructor(world: World, seed: number, mutation: Mutation) {
    const { rewrite = (it) => it, parts = {} } = mutation
    this.#world = world
    this.#random = randomFrom(seed)
    this.#parts = parts
    this.#faultRates = faultRatesOf(this.#random, mutation)
    this.#rewrite = (statement) => asWritten(rewrite(statement))
    this.#steps = new Interleaving(this.#random, world.countBlocked)
  }

  async play(): Promise<Told> {
    const random = this.#random
    for (let i = 0; i < NODES; i += 1) this.#nodes.push(this.#boot(i))
    await this.#defineSome()
    const moments = 4 + random.below(6)
    for (let moment = 0; moment < moments; moment += 1) {
      const together = 1 + random.below(4)
      const works = Array.from({ length: together }, () => this.#something())
      if (random.chance(this.#faultRates.planning)) works.push(...(await this.#planTogether()))
      await this.#together(works)
      if (random.chance(0.25)) await this.#settle()
      this.#passTime()
      this.#thawSome(0.5)
    }
    this.#thawSome(1)
    await this.#settle() // beside those who woke
    await this.#settle()
    for (let half = 0; half < 4; half += 1) {
      this.#move(15 * HOUR)
      await this.#settle()
    }
    const record = await this.#read()
    this.#broken.push(...brokenPromises(record), ...(await this.#reconcile()))
    const { steps, crashes, frozen, fingerprint } = this.#steps
    const [mails, triggers] = [record.mails.length, record.triggers.length]
    const givenUp = record.triggers.filter(isGivenUp).length
    const isBroken = this.#broken.length > 0
    const story = isBroken ? [...this.#steps.story, ...shown(record)] : []
    const counts = { steps, crashes, frozen, mails, triggers, givenUp }
    return { broken: this.#broken, story, fingerprint, ...counts }
  }

  abandon() {
    return this.#steps.abandon()
  }

  /** A node with a name of its own that may die at any of its next statements. */
  #boot(place: number, batchSize = 1 + this.#random.below(4), isSound = false): Node {
    const process = this.#process(isSound ? 'the sound node' : `node ${place}`)
    if (isSound) process.crashIn = process.freezeIn = Infinity
    this.#workers.push(process)
    const { database, clock } = this.#world
    const created = createEngine({
      database: this.#steps.view(database, process, this.#rewrite),
      clock,
      random: (size) => Buffer.from(Array.from({ length: size }, () => this.#random.below(256))),
      leaseSeconds: LEASE_SECONDS,
      mailer: new CaptureMailer(),
      captures: true,
      mailFrom: { name: 'Bellwether', address: 'no-reply@localhost' },
      host: 'localhost',
      calendarLink: () => null,
      unsubscribeLink: () => null,
      onError: (error) => this.#note(error),
      ...this.#parts,
      settings: this.#settings,
      batchSize,
    })
    return { process, engine: stepsOf(created) }
  }

  #process(what: string): Process {
    const name = `${what} (process ${(this.#processes += 1)})`
    const { crashing, freezing } = this.#faultRates
    const crashIn = this.#random.chance(crashing) ? 1 + this.#random.below(40) : Infinity
    const freezes = this.#random.chance(freezing)
    const freezeIn = freezes ? 2 + this.#random.below(4) : Infinity
    const crashesAfter = this.#random.chance(0.5)
    return { name, isDead: false, isFrozen: false, crashIn, crashesAfter, freezeIn, mishaps: 0 }
  }

  /** Nobody may stumble over anything but a crash. */
  #note(error: unknown) {
    if (isServerTimeout(error)) this.#serverTimeout ??= error
    else if (!(error instanceof Crash)) {
      const { detail = '', where = '' } = error as { detail?: string; where?: string }
      this.#broken.push(`stumbled: ${String(error)} ${detail} ${where}`.trim())
    }
  }

  #move(ms: number) {
    const { move, clock } = this.#world
    move(ms)
    this.#latest = Math.max(this.#latest, clock.now().epochMilliseconds)
    this.#steps.tell(`it is ${clock.now()}`)
  }

  async #together(works: (() => Promise<unknown>)[]) {
    for (const error of await this.#steps.run(works)) if (error) this.#note(error)
    if (this.#serverTimeout) throw new Disturbed(this.#serverTimeout)
    this.#nodes.forEach((node, place) => {
      // A frozen node is not missed: another stands in for it, and one day it wakes.
      if (node.process.isFrozen) this.#frozen.push(node.process)
      if (node.process.isDead || node.process.isFrozen) this.#nodes[place] = this.#boot(place)
    })
  }

  #thawSome(probability: number) {
    for (const process of this.#frozen) {
      if (!process.isFrozen || !this.#random.chance(probability)) continue
      process.isFrozen = false
      this.#steps.tell(`${process.name} wakes`)
    }
  }

  #something(): () => Promise<unknown> {
    const random = this.#random
    const node = random.pick(this.#nodes)
    if (random.chance(this.#faultRates.firing)) return () => node.engine.fire()
    const choice = random.below(15)
    if (choice < 3) return () => node.engine.fire()
    if (choice < 4) return () => node.engine.takeOver()
    if (choice < 5) return () => node.engine.plan()
    if (choice < 6) return () => node.engine.heartbeat().then(() => node.engine.sweep())
    if (choice < 8 || this.#appointments.length === 0)
      return random.chance(0.3) ? () => this.#saveTogether() : () => this.#book()
    if (choice < 10) return () => this.#change(this.#anAppointment(), this.#newTime())
    if (choice < 12) {
      const status = random.pick(['CANCELLED', 'OPEN', 'CONFIRMED', 'COMPLETED', 'NO_SHOW'])
      return () => this.#change(this.#anAppointment(), { status })
    }
    if (choice < 13) return () => this.#redefine(random.pick(this.#definitions))
    if (choice < 14) {
      const active = random.chance(0.5)
      return () => this.#change(this.#anAppointment(), { active })
    }
    return () => this.#change(this.#anAppointment(), { note: `note ${random.below(100)}` })
  }

  #anAppointment() {
    const { isNarrow } = this.#faultRates
    return isNarrow ? this.#appointments[0]! : this.#random.pick(this.#appointments)
  }

  /** A definition is switched on, and before its plan is done others take it up. */
  async #planTogether() {
    const reminder = this.#random.pick(this.#definitions.slice(0, 2))
    await this.#switchOff(reminder)
    const keeps = this.#nodes.map(
      ({ engine }) =>
        () =>
          engine.plan(),
    )
    return [() => this.#redefine(reminder, 1), ...keeps]
  }

  #newTime() {
    const startTime = this.#world.clock.now().epochMilliseconds + this.#random.below(40) * HOUR
    return { startTime, endTime: startTime + HOUR / 2 }
  }

  async #book() {
    const body = { ...this.#world.ids, ...this.#newTime() }
    const saved = await this.#saveCalendar(this.#caller('books'), body)
    this.#appointments.push(saved.calendarId as number)
  }

  /** Those who come to a service at the same moment share a transaction. */
  async #saveTogether() {
    const random = this.#random
    const { businessId, clock, ids } = this.#world
    const bodies: object[] = [{ ...ids, ...this.#newTime() }]
    for (let more = 1 + random.below(2); more > 0 && this.#appointments.length > 0; more -= 1) {
      const status = random.pick(['CANCELLED', 'OPEN', 'COMPLETED'])
      const change = random.chance(0.5) ? this.#newTime() : { status }
      bodies.push({ calendarId: this.#anAppointment(), ...change })
    }
    const database = this.#caller(`saves ${bodies.length} together`)
    const db = database.forBusiness(businessId, 'key:simulation')
    const shared = new SharedSaves(() => clock.now())
    const kind = objectKind('calendar')!
    const who = { businessId, user: 'key:simulation', settings: this.#settings }
    const saved = await Promise.all(bodies.map((body) => shared.save({ db, ...who, kind, body })))
    for (const { object, isNew } of saved)
      if (isNew) this.#appointments.push(object.calendarId as number)
  }

  #change(calendarId: number, body: object) {
    const what = Object.entries(body)[0]!.join(' ')
    const caller = this.#caller(`changes ${calendarId} to ${what}`)
    return this.#saveCalendar(caller, { calendarId, ...body })
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

  /** A service process that may die during a request. */
  #caller(does: string): Database {
    const process = this.#process(`one who ${does}`)
    if (process.freezeIn < Infinity) this.#frozen.push(process)
    return this.#steps.view(this.#world.database, process, this.#rewrite)
  }

  /** One who is alone and to whom nothing happens. */
  async #undisturbed<T>(does: string, work: (database: Database) => Promise<T>): Promise<T> {
    const process = this.#process(`one who undisturbed ${does}`)
    process.crashIn = process.freezeIn = Infinity
    const database = this.#steps.view(this.#world.database, process, asWritten)
    const done: T[] = []
    await this.#together([() => work(database).then((result) => done.push(result))])
    if (done.length === 0) throw new Error(this.#broken.at(-1))
    return done[0]!
  }

  async #defineSome() {
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
    await this.#undisturbed('defines', (database) =>
      database.forBusiness(businessId, 'key:simulation').transaction(async (tx) => {
        for (const body of bodies) {
          const { definition } = await saveDefinition(tx, body, defining)
          await markPlanned(tx, definition) // there is nothing yet that could be planned
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
    return { ...bodyOf(businessId, { ...form, active: true }), eventActions }
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

  /** Another offset or text, on or off; the process that saves it may die before its plan is done. */
  async #redefine(eventDefnId: number, switching = 0.3) {
    const { businessId } = this.#world
    const random = this.#random
    // Drawn before anything is waited for, so that the seed alone decides what is drawn.
    const [switches, place, edit] = [random.chance(switching), random.below(4), random.below(100)]
    const database = this.#caller(`redefines ${eventDefnId}`)
    const db = database.forBusiness(businessId, 'key:simulation')
    const current = (await findDefinition(db, businessId, eventDefnId))!
    const active = switches ? !current.active : current.active
    const hours = current.triggerHours < 0 ? [-1, -3, -24] : [0, 1, 2]
    const { eventTypeId } = current
    const triggerHours = eventTypeId === 3 ? (hours[place] ?? current.triggerHours) : 0
    const form = bodyOf(businessId, { eventTypeId, triggerHours, active })
    // A new version also where it asks for the same.
    await this.#saveDefinition(database, { ...form, eventDefnId, description: `edit ${edit}` })
  }

  #passTime() {
    const random = this.#random
    const choice = random.below(10)
    if (choice < 2) this.#move(LEASE_SECONDS * 1000 + 1_000)
    else if (choice < 3) this.#move(-60_000)
    else if (choice < 4) this.#move(random.below(30) * HOUR)
    else if (choice < 9) this.#move(random.below(180) * 60_000)
  }

  /** One node is well for long enough: dead leases run out, and all that is due is dealt with. */
  async #settle() {
    const before = this.#latest
    const isAlone = !this.#steps.isAnyoneAwake()
    // It has been up for a lease when it begins, so it also retries failed triggers.
    const { engine } = this.#boot(NODES, 50, true)
    this.#move(LEASE_SECONDS * 1000 + 1_000)
    const settle = async () => {
      let done = 0
      do {
        done = (await engine.takeOver()) + (await engine.plan())
        while ((await engine.sweep()) + (await engine.fire()) > 0) {
          if (this.#broken.length > 20) return
        }
      } while (done > 0)
    }
    await this.#together([settle])
    // Triggers with failed attempts are attempted again after a while.
    this.#move(MAX_RETRY_SECONDS * 1000)
    await this.#together([settle])
    const at = this.#world.clock.now().epochMilliseconds
    this.#steps.tell('all is settled')
    // Whoever is at work beside it may leave something behind. And while the clock is behind what it
    // said once, a dead worker's lease may last on.
    if (isAlone && at > before + LEASE_SECONDS * 1000)
      this.#settled.push({ step: this.#steps.steps, at })
  }

  /** The watchman too must find everything in order. */
  async #reconcile(): Promise<string[]> {
    const { database, clock } = this.#world
    const found = await reconcileAll(database.engine, () => clock.now())
    const faults = found.missing + found.unfounded + found.doubled
    return faults === 0 ? [] : [`the watchman found ${JSON.stringify(found)}`]
  }

  async #read(): Promise<RunRecord> {
    const { db, businessId } = this.#world
    const { spans } = this.#steps
    const audit = await db.query<AuditRow & { object: string }>(sql`
      select object, id::bigint, (extract(epoch from time) * 1000)::bigint as time, after,
             xmin::text as xid
      from audit
      where business_id = ${businessId} and object in ('calendar', 'eventDefinition')
      order by audit_id`)
    const of = (object: string) => audit.filter((row) => row.object === object)
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
      appointments: versionsOf(of('calendar'), spans, appointmentOf),
      definitions: versionsOf(of('eventDefinition'), spans, definitionOf),
      actions: new Map(
        [...Map.groupBy(actions, (row) => row.definition)].map(([id, rows]) => [
          id,
          rows.map((row) => row.action),
        ]),
      ),
      triggers: triggers.map((row) => ({ ...row, step: spans.get(row.xid)?.committed })),
      mails: mails.map((row) => ({ ...row, step: spans.get(row.xid)!.committed })),
      settled: this.#settled,
      mishaps: this.#workers.reduce((sum, { mishaps }) => sum + mishaps, 0),
    }
  }

  async #switchOff(eventDefnId: number) {
    const { db, businessId } = this.#world
    const { eventTypeId, triggerHours } = (await findDefinition(db, businessId, eventDefnId))!
    const form = bodyOf(businessId, { eventTypeId, triggerHours, active: false })
    await this.#undisturbed(`switches ${eventDefnId} off`, (database) =>
      this.#saveDefinition(database, { ...form, eventDefnId }),
    )
  }
}

type Node = { process: Process; engine: ReturnType<typeof stepsOf> }

/** How often what happens: simulated runs that are alike find the same faults. */
type FaultRates = {
  crashing: number
  freezing: number
  planning: number
  firing: number
  /** All speak of the same appointment. */
  isNarrow: boolean
}

const faultRatesOf = (random: Random, { freezing, planning, firing }: Mutation): FaultRates => ({
  crashing: random.pick([0.1, 0.3, 0.6]),
  freezing: freezing ?? random.pick([0.1, 0.2, 0.6]),
  planning: planning ?? random.pick([0, 0.15, 0.4]),
  firing: firing ?? random.pick([0, 0, 0.3]),
  isNarrow: random.chance(0.3),
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

/** What each object was, from when until when; saves that changed nothing that matters are one. */
function versionsOf<V extends Version>(
  rows: AuditRow[],
  spans: Map<string, Span>,
  read: (row: AuditRow) => State<V>,
) {
  const versions = new Map<number, V[]>()
  for (const row of rows) {
    const own = versions.get(row.id) ?? []
    versions.set(row.id, own)
    const last = own.at(-1)
    const state = read(row)
    const { began, committed } = spans.get(row.xid)!
    if (last) {
      const { from: _from, until: _until, began: _began, at: _at, ...before } = last
      if (JSON.stringify(before) === JSON.stringify(state)) continue
      last.until = committed
    }
    own.push({ ...state, began, from: committed, until: Infinity, at: row.time } as V)
  }
  return versions
}

/** All that was found, for whoever must understand a disagreement. */
function shown({ appointments, definitions, triggers, mails, settled }: RunRecord) {
  const lines = (what: string, all: object[]) => all.map((one) => `${what} ${JSON.stringify(one)}`)
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
