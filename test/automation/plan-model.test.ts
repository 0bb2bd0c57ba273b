import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { planUnplanned } from '../../src/automation/planner.ts'
import { sql } from '../../src/database/sql.ts'
import { isFull, proofSeed } from '../proofs/random.ts'
import { startWorld } from '../support/world.ts'

/**
 * Compares random runs of bookings and definitions with a model in memory that shares no code with
 * the service: after every step both have the same triggers. The engine does not run, so nothing
 * fires, and only planning is tested.
 */
const HOUR = 3_600_000

type Appointment = {
  id: number
  start: number
  status: string
  place: number
  vip: boolean
  active: boolean
}
type Definition = {
  id: number
  eventTypeId: 1 | 2 | 3
  active: boolean
  hours: number
  place: number | null
  vip: boolean
  newStatus: string | null
  late: 'SKIP' | 'SEND'
}
type Row = {
  definition: number
  object: number
  anchor: number
  scheduled: number
  status: 'SCHEDULED' | 'EXPIRED' | 'CANCELLED'
  /** Of an event: the status before and after. */
  moved?: [string | null, string]
}

const VISIT = 30 * 60_000
const LIVE = new Set(['OPEN', 'CONFIRMED'])

class Model {
  readonly appointments: Appointment[] = []
  readonly definitions: Definition[] = []
  readonly rows: Row[] = []
  now = 0
  /** Whether the business's own status WAITING is live. */
  isWaitingLive = true

  saved(after: Appointment, before: Appointment | undefined) {
    for (const definition of this.definitions.filter((each) => each.active)) {
      if (definition.eventTypeId === 3) this.#remind(definition, after, 'object', before)
      else this.#addEvent(definition, after, before)
    }
  }

  defined(definition: Definition, before: Definition | undefined) {
    if (before && before.eventTypeId !== definition.eventTypeId) {
      for (const row of this.#pending(definition)) row.status = 'CANCELLED'
    }
    if (definition.eventTypeId !== 3) return this.#retime(definition)
    for (const appointment of this.appointments) {
      this.#remind(definition, appointment, 'definition', undefined)
    }
  }

  livenessChanged() {
    for (const definition of this.definitions.filter((each) => each.active)) {
      if (definition.eventTypeId !== 3) continue
      for (const appointment of this.appointments) {
        this.#remind(definition, appointment, 'liveness', undefined)
      }
    }
  }

  #pending = (definition: Definition) =>
    this.rows.filter((row) => row.definition === definition.id && row.status === 'SCHEDULED')

  #selects = (definition: Definition, { place, vip }: Appointment) =>
    (definition.place === null || definition.place === place) && (!definition.vip || vip)

  #isLive(status: string, isAfter: boolean) {
    if (status === 'WAITING') return this.isWaitingLive
    return LIVE.has(status) || (isAfter && status === 'COMPLETED')
  }

  #matches(definition: Definition, appointment: Appointment) {
    return (
      definition.active &&
      appointment.active &&
      this.#selects(definition, appointment) &&
      this.#isLive(appointment.status, definition.hours >= 0)
    )
  }

  #remind(
    definition: Definition,
    appointment: Appointment,
    cause: 'object' | 'definition' | 'liveness',
    before: Appointment | undefined,
  ) {
    const own = this.rows.filter(
      (row) => row.definition === definition.id && row.object === appointment.id && !row.moved,
    )
    const pending = own.find((row) => row.status === 'SCHEDULED')
    if (!this.#matches(definition, appointment)) {
      if (pending) pending.status = 'CANCELLED'
      return
    }
    const anchor = appointment.start
    const due = anchor + definition.hours * HOUR
    if (own.some((row) => row.status === 'EXPIRED' && row.anchor === anchor)) {
      if (pending) pending.status = 'CANCELLED'
      return
    }
    // A reminder that is sent late is due at once, and stays so until its definition changes.
    if (pending?.anchor === anchor && pending.scheduled <= this.now && cause !== 'definition')
      return
    if (pending?.anchor === anchor && pending.scheduled === due) return
    const planned = pending ?? { definition: definition.id, object: appointment.id }
    if (due >= this.now) {
      this.#put(planned, { anchor, scheduled: due, status: 'SCHEDULED' })
      return
    }
    const wasMatching = before && this.#matches(definition, before) && before.start === anchor
    if (cause !== 'object' || wasMatching) {
      if (pending) pending.status = 'CANCELLED'
      return
    }
    const isUseful = definition.hours < 0 ? this.now < anchor : true
    const sends = definition.late === 'SEND' && isUseful
    this.#put(planned, {
      anchor,
      scheduled: sends ? this.now : due,
      status: sends ? 'SCHEDULED' : 'EXPIRED',
    })
  }

  #put(row: Partial<Row>, values: Partial<Row>) {
    const isNew = row.status === undefined
    Object.assign(row, values)
    if (isNew) this.rows.push(row as Row)
  }

  #addEvent(definition: Definition, after: Appointment, before: Appointment | undefined) {
    const isCreated = definition.eventTypeId === 1
    if (isCreated !== (before === undefined) || !after.active) return
    if (!this.#selects(definition, after)) return
    if (before) {
      const isSame =
        before.start === after.start &&
        before.status === after.status &&
        before.place === after.place
      if (isSame) return
      const { newStatus } = definition
      const isMove = before.status !== after.status
      if (newStatus !== null && !(isMove && ['*', after.status].includes(newStatus))) return
    }
    const moved: Row['moved'] = [before?.status ?? null, after.status]
    this.rows.push({
      definition: definition.id,
      object: after.id,
      anchor: this.now,
      scheduled: this.now + Math.max(0, definition.hours) * HOUR,
      status: isOnlyRecorded(after, this.now, moved) ? 'EXPIRED' : 'SCHEDULED',
      moved,
    })
  }

  /** The event stays; the definition decides whether and when it fires. */
  #retime(definition: Definition) {
    for (const row of this.#pending(definition)) {
      const appointment = this.appointments.find((each) => each.id === row.object)!
      const [from, to] = row.moved!
      const { newStatus } = definition
      const isMatching =
        definition.active &&
        this.#selects(definition, appointment) &&
        (definition.eventTypeId === 1 ||
          newStatus === null ||
          (from !== to && ['*', to].includes(newStatus)))
      const scheduled = row.anchor + Math.max(0, definition.hours) * HOUR
      const isPast = scheduled !== row.scheduled && scheduled < this.now
      if (!isMatching) row.status = 'CANCELLED'
      else if (isOnlyRecorded(appointment, row.anchor, row.moved!)) row.status = 'EXPIRED'
      else if (isPast) row.status = 'CANCELLED'
      else row.scheduled = scheduled
    }
  }
}

/** The visit was over when it was saved, and its status did not change. */
const isOnlyRecorded = (
  { start }: Appointment,
  savedAt: number,
  [from, to]: NonNullable<Row['moved']>,
) => start + VISIT <= savedAt && (from === null || from === to)

const which = fc.nat(20)
const startIn = fc.integer({ min: -30, max: 60 })
const status = fc.constantFrom('OPEN', 'CONFIRMED', 'WAITING', 'COMPLETED', 'CANCELLED', 'NO_SHOW')
const place = fc.nat(1)
const rule = {
  eventTypeId: fc.constantFrom(3, 3, 3, 3, 1, 2) as fc.Arbitrary<1 | 2 | 3>,
  hours: fc.constantFrom(-48, -24, -2, -1, 0, 1, 24),
  place: fc.option(place, { freq: 3 }),
  vip: fc.constantFrom(false, false, false, true),
  newStatus: fc.constantFrom(null, '*', 'CANCELLED', 'CONFIRMED'),
  late: fc.constantFrom('SKIP', 'SEND') as fc.Arbitrary<'SKIP' | 'SEND'>,
}
const anyStep = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('book'), startIn, status, place, vip: fc.boolean() }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('move'), which, startIn }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('status'), which, status }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('relocate'), which, place }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('tag'), which, vip: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('note'), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove'), which, active: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('define'), ...rule }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('redefine'), which, ...rule }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('switch'), which, active: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('live'), isLive: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('wait'), hours: fc.integer({ min: 1, max: 20 }) }),
  },
)
// oxlint-disable-next-line typescript/no-explicit-any -- one of the records above
type Step = any

test('after every step of a random run the triggers are those of a plain model', async (t) => {
  const world = await startWorld(t)
  const { businessId, call, clock, database, db, ids, save } = world
  const other = await save('/location', { name: 'Seefeld' })
  const places = [ids.locationId, other.locationId] as number[]
  const saveWaitingStatus = (isLive: boolean) =>
    save('/status', {
      objectType: 'CALENDAR',
      status: 'WAITING',
      label: 'Waiting',
      live: isLive,
      liveAfter: isLive,
    })

  const onError = (error: unknown) => {
    throw error
  }
  const settle = () => planUnplanned({ database, now: () => clock.now(), onError })

  const actualRows = async (model: Model) => {
    const rows = await db.query<Record<string, unknown>>(sql`
      select event_defn_id as definition, object_id as object, status,
             (extract(epoch from anchor_time) * 1000)::bigint as anchor,
             (extract(epoch from scheduled_time) * 1000)::bigint as scheduled
      from any_trigger
      where event_defn_id = any (${model.definitions.map((each) => each.id)}::bigint[])
        and object_id = any (${model.appointments.map((each) => each.id)}::bigint[])`)
    return inOrder(rows as unknown as Row[])
  }

  const definitionBody = (definition: Omit<Definition, 'id'>) => ({
    active: definition.active,
    businessId,
    objectType: 'CALENDAR',
    eventType: { eventTypeId: definition.eventTypeId },
    triggerHours: definition.hours,
    triggerMinutes: 0,
    locationIdList: definition.place === null ? [] : [places[definition.place]],
    filterTagMapJson: definition.vip ? '{"vip":["yes"]}' : null,
    newStatus: definition.newStatus,
    latePolicy: definition.late,
  })

  const pick = <T>(all: T[], at: number): T | undefined => all[at % Math.max(1, all.length)]
  const tagsOf = (vip: boolean) => ({ tags: vip ? { vip: ['yes'] } : {} })

  const applyStep = async (model: Model, step: Step) => {
    const change = async (body: object, changes: Partial<Appointment>) => {
      const appointment = pick(model.appointments, step.which)
      if (!appointment) return
      const before = { ...appointment }
      await save('/calendar', { calendarId: appointment.id, ...body })
      Object.assign(appointment, changes)
      const isSame = JSON.stringify(before) === JSON.stringify(appointment)
      if (!isSame) model.saved(appointment, before)
    }
    const redefine = async (changes: Partial<Definition>) => {
      const definition = pick(model.definitions, step.which)
      if (!definition) return
      const before = { ...definition }
      const after = { ...definition, ...changes }
      await save('/eventDefinition', { eventDefnId: definition.id, ...definitionBody(after) })
      Object.assign(definition, changes)
      if (JSON.stringify(before) !== JSON.stringify(definition)) model.defined(definition, before)
    }
    switch (step.do) {
      case 'book': {
        const { status, place, vip } = step
        const start = model.now + step.startIn * HOUR
        const { calendarId: id } = await save('/calendar', {
          ...ids,
          startTime: start,
          endTime: start + VISIT,
          status,
          locationId: places[place],
          ...tagsOf(vip),
        })
        const appointment = { id, start, status, place, vip, active: true }
        model.appointments.push(appointment)
        return model.saved(appointment, undefined)
      }
      case 'move': {
        const start = model.now + step.startIn * HOUR
        return change({ startTime: start, endTime: start + VISIT }, { start })
      }
      case 'status':
        return change({ status: step.status }, { status: step.status })
      case 'relocate':
        return change({ locationId: places[step.place] }, { place: step.place })
      case 'tag':
        return change(tagsOf(step.vip), { vip: step.vip })
      case 'note':
        return change({ note: String(model.rows.length) }, {})
      case 'remove':
        return change({ active: step.active }, { active: step.active })
      case 'define': {
        const { do: _do, ...rest } = step
        const definition = { ...rest, active: true }
        const saved = await save('/eventDefinition', definitionBody(definition))
        model.definitions.push({ ...definition, id: saved.eventDefnId })
        return model.defined(model.definitions.at(-1)!, undefined)
      }
      case 'redefine': {
        const { do: _do, which: _which, ...rest } = step
        return redefine(rest)
      }
      case 'switch': {
        const definition = pick(model.definitions, step.which)
        if (!definition || step.active) return redefine({ active: step.active })
        await call('DELETE', `/eventDefinition/${definition.id}`)
        if (!definition.active) return
        definition.active = false
        return model.defined(definition, definition)
      }
      case 'live': {
        if (step.isLive === model.isWaitingLive) return
        await saveWaitingStatus(step.isLive)
        await settle()
        model.isWaitingLive = step.isLive
        return model.livenessChanged()
      }
      case 'wait':
        clock.advance({ hours: step.hours })
        model.now = clock.now().epochMilliseconds
    }
  }

  let runs = 0
  const property = fc.asyncProperty(
    fc.array(anyStep, { minLength: 5, maxLength: 25, size: 'max' }),
    async (steps) => {
      runs += 1
      await saveWaitingStatus(true)
      await settle()
      const model = new Model()
      model.now = clock.now().epochMilliseconds
      try {
        for (const [index, step] of steps.entries()) {
          await applyStep(model, step)
          const actual = await actualRows(model)
          const expected = inOrder(model.rows)
          assert.deepEqual(actual, expected, `after step ${index}: ${JSON.stringify(step)}`)
        }
      } finally {
        for (const { id } of model.definitions) await call('DELETE', `/eventDefinition/${id}`)
      }
    },
  )
  await fc.assert(property, {
    numRuns: isFull ? 2_000 : 50,
    seed: proofSeed(t),
  })
  t.diagnostic(`${runs} runs`)
})

const inOrder = (rows: Row[]) =>
  rows
    .map(({ definition, object, anchor, scheduled, status }) =>
      [definition, object, anchor, scheduled, status].join(' '),
    )
    .toSorted()
