import type { Definition } from '../contract/event-definition.ts'
import type { Db } from '../database/database.ts'
import type { By } from './rows.ts'
import { sql, type Sql } from '../database/sql.ts'
import { isOverAMinuteAgo } from './database-time.ts'

/** Where the database is: see database_place() in the migrations. */
export type DatabasePlace = { place: string; timeline: string }

export type Installation = DatabasePlace & {
  installationId: string
  /** A node was connected then. */
  seenTime: Temporal.Instant
  /** Null: it is not held. */
  hold: RestoreHold | null
  releasedTime: Temporal.Instant | null
  releasedUser: string | null
  /** The last backup by the command; null: none. */
  backupTime: Temporal.Instant | null
}

/** Why a restored database sends nothing, and since when. */
export type RestoreHold = {
  heldSince: Temporal.Instant
  heldReason: string
  /** Changes after it are lost. */
  lostFrom: Temporal.Instant
  /** Null: not known. */
  lostUntil: Temporal.Instant | null
  newerState: NewerState | null
}

/** What a restored database does not know of the lost time. */
export const LOST_CHANGES = ['cancellations', 'erasures', 'suppressions', 'sentMails'] as const
export type LostChange = (typeof LOST_CHANGES)[number]

/** What was taken from newer backups, exports and logs: how many of each. */
export type NewerState = {
  /** What each source tells about; `businessId` null: of all businesses. */
  known: { businessId: number | null; changes: LostChange[] }[]
  cancellations: number
  erasures: number
  suppressions: number
  /** Mails of the queue that were sent. */
  sentMails: number
  /** Triggers that were sent, or may have been. */
  sentBefore: { businessId: number; eventDefnId: number; triggers: number }[]
}

type Row = Omit<Installation, 'hold'> & { [Name in keyof RestoreHold]: RestoreHold[Name] | null }

const columns = sql`
  installation_id as "installationId", place, timeline, seen_time as "seenTime",
  held_since as "heldSince", held_reason as "heldReason", lost_from as "lostFrom",
  lost_until as "lostUntil", newer_state as "newerState", released_time as "releasedTime",
  released_user as "releasedUser", backup_time as "backupTime"`

function installationOf({
  heldSince,
  heldReason,
  lostFrom,
  lostUntil,
  newerState,
  ...rest
}: Row): Installation {
  const hold =
    heldSince && heldReason !== null && lostFrom
      ? { heldSince, heldReason, lostFrom, lostUntil, newerState }
      : null
  return { ...rest, hold }
}

/** Undefined before the first start. */
export async function findInstallation(db: Db) {
  const row = await db.findRow<Row>(sql`select ${columns} from installation`)
  return row && installationOf(row)
}

export async function findHold(db: Db) {
  return (await findInstallation(db))?.hold ?? undefined
}

/**
 * Whether the database is not held, as a condition of the statements that claim work. If no node has
 * checked in for a minute, it may have been restored under them: the next one that does may hold it.
 */
export const NOT_HELD = sql`
  not exists (select from installation
              where held_since is not null or ${isOverAMinuteAgo(sql`seen_time`)})`

/** Whether a trigger or a mail of this time ends without being sent, by the choice at the release. */
export const expiresAtRelease = (time: Sql) =>
  sql`coalesce(${time} <= (select expires_until from installation), false)`

export const readDatabasePlace = (db: Db) =>
  db.getRow<DatabasePlace>(sql`
    select database_place() as place, database_timeline() as timeline`)

/** At the first start. */
export const insertInstallation = (
  tx: Db,
  { place, timeline }: DatabasePlace,
  now: Temporal.Instant,
) =>
  tx.query(sql`
    insert into installation (place, timeline, seen_time) values (${place}, ${timeline}, ${now})
    on conflict do nothing`)

/** Undefined before the first start. */
export async function lockInstallation(tx: Db) {
  const row = await tx.findRow<Row>(sql`select ${columns} from installation for update`)
  return row && installationOf(row)
}

/** A clock that was set back does not set `seenTime` back. */
export async function saveSeen(
  tx: Db,
  { place, timeline }: DatabasePlace,
  now: Temporal.Instant,
): Promise<Installation> {
  const row = await tx.getRow<Row>(sql`
    update installation
    set place = ${place}, timeline = ${timeline}, seen_time = greatest(seen_time, ${now}::timestamptz)
    returning ${columns}`)
  return installationOf(row)
}

export const holdDatabase = (
  tx: Db,
  { reason, lostUntil }: { reason: string; lostUntil: Temporal.Instant | null },
  now: Temporal.Instant,
) => tx.query(sql`select hold_database(${reason}, ${lostUntil}::timestamptz, ${now})`)

/** With `expiresUntil`, triggers and mails that were due by then end without being sent. */
export async function releaseDatabase(
  tx: Db,
  expiresUntil: Temporal.Instant | null,
  { user, now }: By,
) {
  await tx.query(sql`
    update installation
    set held_since = null, held_reason = null, expires_until = ${expiresUntil}::timestamptz,
        released_time = ${now}, released_user = ${user}`)
  if (expiresUntil) await tx.query(sql`select skip_report_schedules(${expiresUntil})`)
}

export const saveBackupTime = (operator: Db, now: Temporal.Instant) =>
  operator.query(sql`update installation set backup_time = ${now}`)

export const saveLostUntil = (tx: Db, lostUntil: Temporal.Instant) =>
  tx.query(sql`update installation set lost_until = ${lostUntil}`)

export async function listBusinessIds(db: Db) {
  const rows = await db.query<{ id: number }>(sql`
    select business_id as id from business order by business_id`)
  return rows.map(({ id }) => id)
}

export const saveNewerState = (tx: Db, state: NewerState) =>
  tx.query(sql`update installation set newer_state = ${JSON.stringify(state)}::jsonb`)

export type DueTriggers = Pick<
  Definition,
  'eventTypeId' | 'triggerMonths' | 'triggerHours' | 'triggerMinutes' | 'description'
> & {
  businessId: number
  business: string
  eventDefnId: number
  anchorTime: Temporal.Instant
  scheduledTime: Temporal.Instant
  /** They were due when the hold began, so they may have been sent in the lost time. */
  isPast: boolean
  triggers: number
}

export const listDueTriggers = (
  engine: Db,
  { heldSince, now }: { heldSince: Temporal.Instant; now: Temporal.Instant },
  businessId: number | undefined,
) =>
  engine.query<DueTriggers>(sql`
    select b.business_id as "businessId", b.name as business, d.event_defn_id as "eventDefnId",
           d.description, d.event_type_id as "eventTypeId", d.trigger_months as "triggerMonths",
           d.trigger_hours as "triggerHours", d.trigger_minutes as "triggerMinutes",
           due.anchor_time as "anchorTime", due.scheduled_time as "scheduledTime",
           due.is_past as "isPast", due.triggers
    from (select business_id, event_defn_id, anchor_time, scheduled_time,
                 next_attempt_time <= ${heldSince} as is_past, count(*) as triggers
          from pending_trigger
          where next_attempt_time <= ${now}
            and business_id = coalesce(${businessId ?? null}::bigint, business_id)
          group by 1, 2, 3, 4, 5) due
    join event_definition d using (business_id, event_defn_id)
    join business b using (business_id)
    order by b.business_id, d.event_defn_id`)

/** How many mails of each business are in the queue since before the hold. */
export const countQueuedBefore = (
  engine: Db,
  heldSince: Temporal.Instant,
  businessId: number | undefined,
) =>
  engine.query<{ businessId: number; business: string; emails: number }>(sql`
    select b.business_id as "businessId", b.name as business, count(*) as emails
    from email_queue q join business b using (business_id)
    where q.created_date <= ${heldSince}
      and q.business_id = coalesce(${businessId ?? null}::bigint, q.business_id)
    group by 1, 2 order by 1`)
