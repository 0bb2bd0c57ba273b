import pg from 'pg'
import { saveDefinition } from '../src/automation/define.ts'
import { planDefinition } from '../src/automation/plan.ts'
import { objectKind } from '../src/contract/objects.ts'
import { saveObjects } from '../src/scheduling/save.ts'
import { sharedSaves } from '../src/scheduling/shared-saves.ts'
import { SettingsCache } from '../src/store/settings.ts'
import { openGraphileQueue } from './peers/graphile-worker.ts'
import { openBossQueue } from './peers/pg-boss.ts'
import { inPieces, median, openStage, rateOf } from './peers/stage.ts'

/**
 * Appointments with five reminders each, booked one by one by sixteen callers, and moved in bulk,
 * compared with peers that enqueue in the same transaction. A peer's appointment goes into the same table,
 * with the same history and audit; its reminders are fixed and need no matching. The floor of moving is
 * the fewest statements that leave the same rows: what share of it do we reach?
 * `node bench/enqueue.bench.ts [rounds] [moved]`
 */
const ROUNDS = Number(process.argv[2] ?? 5)
const MOVED = Number(process.argv[3] ?? 5_000)
const [CALLERS, SECONDS, AT_ONCE] = [16, 4, 500]
const HOURS = [-168, -72, -48, -24, -2]

const stage = await openStage()
const { database, business, pool } = stage
const { businessId } = business
const db = database.forBusiness(businessId, 'key:bench')
const calendar = objectKind('calendar')!
const now = () => Temporal.Now.instant()
const who = { businessId, user: 'key:bench', settings: new SettingsCache() }
const saving = () => ({ ...who, now: now() })
const shared = sharedSaves(now)

// The stage has one reminder a day before; add the others.
for (const triggerHours of HOURS.filter((hours) => hours !== -24)) {
  const body = { active: true, businessId, objectType: 'CALENDAR', triggerHours, triggerMinutes: 0 }
  const asked = { ...body, eventType: { eventTypeId: 3 } }
  const { definition } = await db.transaction((tx) => saveDefinition(tx, asked, saving()))
  await planDefinition(database, definition, now)
}
const { rows } = await pool.query(
  `select (select min(client_id) from client)::int as "clientId",
          (select min(professional_id) from professional)::int as "professionalId",
          (select min(reason_id) from reason)::int as "reasonId",
          (select min(location_id) from location)::int as "locationId"`,
)
const ids = rows[0] as Record<'clientId' | 'professionalId' | 'reasonId' | 'locationId', number>

let count = 0
const nextStart = () => now().epochMilliseconds + 300 * 3_600_000 + (count += 1) * 60_000

type Query = (text: string, values: unknown[]) => Promise<pg.QueryResult>
type Queue = {
  name: string
  put(
    query: Query,
    jobs: { id: number; place: number; runAt: Temporal.Instant }[],
  ): Promise<unknown>
  close?(): Promise<unknown>
}
type Contender = {
  name: string
  /** Without it, the contender moves the appointments of the one before it. */
  book?(start: number): Promise<number>
  move(moves: { id: number; start: number }[]): Promise<unknown>
}

const bellwether: Contender = {
  name: 'Bellwether',
  book: async (startTime) => {
    const body = { ...ids, startTime, endTime: startTime + 1_800_000 }
    const { object } = await shared.run({ ...who, kind: calendar, db, body })
    return object.calendarId as number
  },
  move: (moves) =>
    db.transaction((tx) =>
      saveObjects(
        tx,
        calendar,
        moves.map(({ id, start }) => ({
          calendarId: id,
          startTime: start,
          endTime: start + 1_800_000,
        })),
        saving(),
      ),
    ),
}

/** The peers connect as the owner of the schema, without row-level security. */
const application = new pg.Pool({ connectionString: stage.url, max: CALLERS })

async function inTransaction<T>(work: (query: Query) => Promise<T>) {
  const client = await application.connect()
  try {
    await client.query(
      `begin; set local app.business_id = '${businessId}'; set local app.username = 'key:bench'`,
    )
    const query = (text: string, values: unknown[]) =>
      client.query({ text, values, name: nameOf(text) })
    const result = await work(query)
    await client.query('commit')
    return result
  } finally {
    client.release()
  }
}

const names = new Map<string, string>()
const nameOf = (text: string) => {
  if (!names.has(text)) names.set(text, `bench${names.size}`)
  return names.get(text)!
}

const remindersOf = (id: number, start: number) =>
  HOURS.map((hours, place) => ({
    id,
    place,
    runAt: Temporal.Instant.fromEpochMilliseconds(start + hours * 3_600_000),
  }))

const peerWith = (queue: Queue): Contender => ({
  name: queue.name,
  book: (start) =>
    inTransaction(async (query) => {
      const { rows } = await query(
        `insert into calendar (business_id, client_id, professional_id, reason_id, location_id,
           start_time, end_time, status, created_date, created_user, modified_date, modified_user)
         values ($1, $2, $3, $4, $5, to_timestamp($6::float8 / 1000),
                 to_timestamp($6::float8 / 1000) + interval '30 minutes', 'OPEN',
                 clock_timestamp(), 'key:bench', clock_timestamp(), 'key:bench')
         returning calendar_id`,
        [businessId, ids.clientId, ids.professionalId, ids.reasonId, ids.locationId, start],
      )
      const id = Number(rows[0].calendar_id)
      await queue.put(query, remindersOf(id, start))
      return id
    }),
  move: (moves) =>
    inTransaction(async (query) => {
      await query(
        `update calendar c
         set start_time = to_timestamp(m.start / 1000), version = version + 1,
             end_time = to_timestamp(m.start / 1000) + interval '30 minutes',
             previous_start_time = c.start_time,
             modified_date = clock_timestamp(), modified_user = 'key:bench'
         from unnest($2::bigint[], $3::float8[]) as m (id, start)
         where c.business_id = $1 and c.calendar_id = m.id`,
        [businessId, moves.map((move) => move.id), moves.map((move) => move.start)],
      )
      await queue.put(
        query,
        moves.flatMap(({ id, start }) => remindersOf(id, start)),
      )
    }),
})

/** One statement for each batch. It reads no reminder, checks nothing, and knows that the offset stays. */
const floor: Contender = {
  name: 'floor',
  move: (moves) =>
    inTransaction((query) =>
      query(
        `with moved as (
           update calendar c
           set start_time = to_timestamp(m.start / 1000), version = version + 1,
               end_time = to_timestamp(m.start / 1000) + interval '30 minutes',
               previous_start_time = c.start_time,
               modified_date = clock_timestamp(), modified_user = 'key:bench'
           from unnest($2::bigint[], $3::float8[]) as m (id, start)
           where c.business_id = $1 and c.calendar_id = m.id
           returning c.calendar_id, c.start_time
         )
         update pending_trigger w
         set anchor_time = m.start_time, modified_date = clock_timestamp(), modified_user = 'SYSTEM',
             scheduled_time = m.start_time + (w.scheduled_time - w.anchor_time),
             next_attempt_time = m.start_time + (w.scheduled_time - w.anchor_time)
         from moved m cross join event_definition d
         where d.business_id = $1 and w.business_id = $1 and w.event_defn_id = d.event_defn_id
           and w.object_id = m.calendar_id and w.object_type = 'CALENDAR'`,
        [businessId, moves.map((move) => move.id), moves.map((move) => move.start)],
      ),
    ),
}

async function measureBooking(book: NonNullable<Contender['book']>, seconds = SECONDS) {
  const booked: number[] = []
  const until = performance.now() + seconds * 1000
  const startedAt = performance.now()
  const call = async () => {
    while (performance.now() < until) booked.push(await book(nextStart()))
  }
  await Promise.all(Array.from({ length: CALLERS }, call))
  return { rate: rateOf(booked.length, startedAt), booked }
}

// pg-boss cannot move many jobs at once: it would cancel each and add another.
const canMove = ({ name }: Contender) => name !== 'pg-boss'

async function measureMoving({ move }: Contender, booked: number[]) {
  const some = booked.slice(0, MOVED)
  const startedAt = performance.now()
  for (const piece of inPieces(some, AT_ONCE)) {
    await move(piece.map((id) => ({ id, start: nextStart() })))
  }
  return rateOf(some.length, startedAt)
}

const queues: Queue[] = [await openGraphileQueue(stage), await openBossQueue(stage)]
const contenders = [bellwether, floor, ...queues.map(peerWith)]
const figures = new Map(contenders.map(({ name }) => [name, { book: [], move: [] } as Figures]))
type Figures = { book: number[]; move: number[] }
// Warm-up: afterwards the code is compiled and the statements are prepared.
let booked: number[] = []
for (const contender of [...contenders, ...contenders, ...contenders]) {
  if (contender.book) booked = (await measureBooking(contender.book, 2)).booked
  if (canMove(contender)) await measureMoving(contender, booked)
}
for (let round = 1; round <= ROUNDS; round += 1) {
  for (const contender of contenders) {
    await pool.query('vacuum analyze')
    await pool.query('checkpoint')
    const { book, move } = figures.get(contender.name)!
    if (contender.book) {
      const measured = await measureBooking(contender.book)
      booked = measured.booked
      book.push(measured.rate)
    }
    if (canMove(contender)) move.push(await measureMoving(contender, booked))
    const last = { book: book.slice(-1), move: move.slice(-1) }
    console.log(`round ${round}  ${contender.name.padEnd(16)} ${describe(last)}`)
  }
}
const own = figures.get('Bellwether')!
for (const [name, figure] of figures) {
  console.log(`${name.padEnd(16)} ${describe(figure, own)}`)
}

/** The medians, and how many times faster Bellwether is. */
function describe({ book, move }: Figures, own?: Figures) {
  const rate = (what: string, values: number[], ownValues?: number[]) => {
    if (values.length === 0) return []
    const ratio = ownValues ? ` (${(median(ownValues) / median(values)).toFixed(2)})` : ''
    return [`${Math.round(median(values))} ${what}/s${ratio}`]
  }
  return [...rate('booked', book, own?.book), ...rate('moved', move, own?.move)].join(', ')
}
await application.end()
for (const { close } of queues) await close?.()
await stage.close()
process.exit(0)
