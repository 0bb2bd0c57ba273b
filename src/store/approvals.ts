import type {
  Approval,
  ApprovalSource,
  ApprovalStatus,
  HeldDefinition,
} from '../contract/approval.ts'
import type { Db } from '../database/database.ts'
import { empty, sql, type Sql } from '../database/sql.ts'
import type { By, Stored } from './rows.ts'

export type StoredApproval = Stored<Omit<Approval, 'status'>> & {
  status: ApprovalStatus | 'PASSED'
  /** RESEND: the mails to send again. */
  emailIds: number[]
}

const columns = sql`
  approval_id as "approvalId", business_id as "businessId", source, status, triggers, mails,
  bulk_limit as "bulkLimit", coalesce(definitions, '[]') as "byDefinition", email_ids as "emailIds", decided_time as "decidedTime",
  decided_user as "decidedUser", version, created_date as "createdDate",
  created_user as "createdUser", modified_date as "modifiedDate", modified_user as "modifiedUser"`

export type ApprovalKey = { businessId: number; approvalId: number }

const isKey = ({ businessId, approvalId }: ApprovalKey) =>
  sql`business_id = ${businessId} and approval_id = ${approvalId}`

export const findApproval = (db: Db, key: ApprovalKey, lock = empty) =>
  db.findRow<StoredApproval>(sql`
    select ${columns} from approval where ${isKey(key)} ${lock}`)

export const lockApproval = (tx: Db, key: ApprovalKey) => findApproval(tx, key, sql`for update`)

type ApprovalPage = { status: ApprovalStatus | undefined; after: number; limit: number }

/** Oldest first. A call that is still counting is listed only if `status` is COUNTING. */
export const listApprovals = (db: Db, businessId: number, { status, after, limit }: ApprovalPage) =>
  db.query<StoredApproval>(sql`
    select ${columns} from approval
    where business_id = ${businessId} and approval_id > ${after} and status <> 'PASSED'
      and ${status ? sql`status = ${status}` : sql`status <> 'COUNTING'`}
    order by approval_id limit ${limit}`)

type NewApproval = {
  source: ApprovalSource
  status: 'COUNTING' | 'WAITING'
  bulkLimit?: number
  held?: Held
  emailIds?: number[]
}

export async function insertApproval(
  tx: Db,
  businessId: number,
  { source, status, bulkLimit, held, emailIds = [] }: NewApproval,
  { user, now }: By,
) {
  const { triggers, mails, definitions } = held ?? { triggers: 0, mails: 0, definitions: null }
  const row = await tx.getRow<{ approvalId: number }>(sql`
    insert into approval (business_id, source, status, triggers, mails, bulk_limit, definitions,
      email_ids, beat_time, created_date, created_user, modified_date, modified_user)
    values (${businessId}, ${source}, ${status}, ${triggers}, ${mails}, ${bulkLimit ?? null},
      ${definitions && JSON.stringify(definitions)}::jsonb, ${emailIds}::bigint[], ${now}, ${now}, ${user}, ${now}, ${user})
    returning approval_id as "approvalId"`)
  return row.approvalId
}

/** The heartbeat of a bulk call. Returns false if the approval was decided or deleted meanwhile. */
export async function renewApproval(tx: Db, key: ApprovalKey, now: Temporal.Instant) {
  const rows = await tx.query(sql`
    update approval set beat_time = ${now}
    where ${isKey(key)} and status in ('COUNTING', 'WAITING') returning approval_id`)
  return rows.length > 0
}

type Settled = { status: 'PASSED' | 'WAITING'; held: Held; bulkLimit: number }

/** Records the counts, and whether the approval has to wait. */
export const settleApproval = (
  tx: Db,
  key: ApprovalKey,
  { status, held, bulkLimit }: Settled,
  now: Temporal.Instant,
) =>
  tx.query(sql`
    update approval
    set status = ${status}, triggers = ${held.triggers}, mails = ${held.mails},
        definitions = ${JSON.stringify(held.definitions)}::jsonb, bulk_limit = ${bulkLimit},
        version = version + 1, modified_date = ${now}, modified_user = 'SYSTEM'
    where ${isKey(key)}`)

export const decideApproval = (
  tx: Db,
  key: ApprovalKey,
  status: 'RELEASED' | 'CANCELLED',
  { user, now }: By,
) =>
  tx.getRow<StoredApproval>(sql`
    update approval
    set status = ${status}, decided_time = ${now}, decided_user = ${user}, version = version + 1,
        modified_date = ${now}, modified_user = ${user}
    where ${isKey(key)} returning ${columns}`)

/** Called when all triggers have followed the decision. Deletes an approval within the limit. */
export async function finishApproval(tx: Db, key: ApprovalKey) {
  await tx.query(sql`delete from approval where ${isKey(key)} and status = 'PASSED'`)
  await tx.query(sql`update approval set is_applied = true where ${isKey(key)}`)
}

export const markNotified = (tx: Db, key: ApprovalKey, now: Temporal.Instant) =>
  tx.query(sql`update approval set told_time = ${now} where ${isKey(key)}`)

export type UnfinishedApproval = ApprovalKey & { status: StoredApproval['status'] }

/** The interrupted calls of all businesses, and decisions that triggers have not followed yet. */
export const listUnfinishedApprovals = (engine: Db, brokenOffSince: Temporal.Instant) =>
  engine.query<UnfinishedApproval>(sql`
    select business_id as "businessId", approval_id as "approvalId", status from approval
    where not is_applied
      and (status = 'COUNTING' and beat_time < ${brokenOffSince}
           or status in ('PASSED', 'RELEASED', 'CANCELLED'))
    order by business_id, approval_id limit 100`)

/** Waiting approvals about which the business has not been notified. */
export const listApprovalsToNotify = (engine: Db) =>
  engine.query<ApprovalKey>(sql`
    select business_id as "businessId", approval_id as "approvalId" from approval
    where not is_applied and status = 'WAITING' and told_time is null
    order by business_id, approval_id limit 100`)

export type Held = { triggers: number; mails: number; definitions: HeldDefinition[] }

const heldBy = (key: ApprovalKey) =>
  sql`p.business_id = ${key.businessId} and p.approval_id = ${key.approvalId}`

export const countHeldMails = (tx: Db, key: ApprovalKey) => countMails(tx, heldBy(key))

export const countTriggerMails = (tx: Db, businessId: number, ids: number[]) =>
  countMails(
    tx,
    sql`p.business_id = ${businessId} and p.event_trigger_id = any (${ids}::bigint[])
        and p.worker is null`,
  )

/** The triggers for which `held` is true, and the mails that they would send: for a class, one per student. */
async function countMails(tx: Db, held: Sql): Promise<Held> {
  const definitions = await tx.query<HeldDefinition>(sql`
    select d.event_defn_id as "eventDefnId", d.description, t.triggers, t.mails
    from (
      select p.business_id, p.event_defn_id, count(*) as triggers,
             coalesce(sum(a.once + a.each * coalesce(cardinality(c.client_id_list), 1)), 0)::bigint as mails
      from pending_trigger p
      left join class_schedule c on p.object_type = 'CLASS_SCHEDULE'
        and c.business_id = p.business_id and c.class_schedule_id = p.object_id
      left join lateral (
        select count(*) filter (where recipient in ('staff', 'business')) as once,
               count(*) filter (where recipient is null or recipient in ('client', 'template')) as each
        from event_action a
        where a.business_id = p.business_id and a.event_defn_id = p.event_defn_id and a.active) a on true
      where ${held}
      group by p.business_id, p.event_defn_id) t
    join event_definition d using (business_id, event_defn_id)
    order by t.mails desc, d.event_defn_id`)
  const sum = (key: 'triggers' | 'mails') => definitions.reduce((all, one) => all + one[key], 0)
  return { triggers: sum('triggers'), mails: sum('mails'), definitions }
}

/** The lowest default; a business can set any limit of its own. */
const MIN_DEFAULT_LIMIT = 50
const TIMES_BUSIEST_HOUR = 3
const BUSIEST_OF_DAYS = 30

/** The limit that the business set, or else three times its busiest hour of the last 30 days. */
export async function readBulkLimit(tx: Db, businessId: number, now: Temporal.Instant) {
  const own = await tx.getRow<{ bulkLimit: number | null }>(sql`
    select bulk_limit as "bulkLimit" from business where business_id = ${businessId}`)
  if (own.bulkLimit !== null) return own.bulkLimit
  const hour = await tx.getRow<{ busiest: number | null }>(sql`
    select max(mails) as busiest from (
      select count(*) as mails from email
      where business_id = ${businessId} and outcome in ('SENT', 'CAPTURED', 'FAILED')
        and created_date >= ${now.subtract({ hours: 24 * BUSIEST_OF_DAYS })}
      group by date_trunc('hour', created_date)) hours`)
  return Math.max(MIN_DEFAULT_LIMIT, TIMES_BUSIEST_HOUR * (hour.busiest ?? 0))
}

export async function listHeldTriggers(
  tx: Db,
  key: ApprovalKey,
  { ids, limit }: { ids?: number[]; limit: number },
) {
  const rows = await tx.query<{ id: number }>(sql`
    select p.event_trigger_id as id from pending_trigger p
    where ${heldBy(key)} ${ids ? sql`and p.event_trigger_id = any (${ids}::bigint[])` : empty}
    order by p.event_trigger_id limit ${limit}`)
  return rows.map(({ id }) => id)
}

/** Lets triggers fire as planned, or at once if they are due. */
export async function freeTriggers(
  tx: Db,
  { businessId, approvalId }: ApprovalKey,
  ids: number[],
  { user, now }: By,
) {
  await tx.query(sql`
    with held as (
      select event_trigger_id from pending_trigger
      where business_id = ${businessId} and event_trigger_id = any (${ids}::bigint[])
        and approval_id = ${approvalId}
      order by event_trigger_id for update)
    update pending_trigger w
    set approval_id = null,
        next_attempt_time = case when ${isHeld}
          then greatest(w.scheduled_time, ${now}::timestamptz) else w.next_attempt_time end,
        released_time = case when ${isHeld} then ${now}::timestamptz else w.released_time end,
        modified_date = ${now}, modified_user = ${user}
    from held
    where w.business_id = ${businessId} and w.event_trigger_id = held.event_trigger_id`)
  tx.hint('bellwether_due')
}

/**
 * Links triggers of a bulk fire to the approval that they wait for; returns their ids. They keep their
 * time, unlike triggers of an import (`HELD_UNTIL`): `freeTriggers` tells them apart by it.
 */
export async function linkTriggers(tx: Db, { businessId, approvalId }: ApprovalKey, ids: number[]) {
  const rows = await tx.query<{ id: number }>(sql`
    update pending_trigger set approval_id = ${approvalId}
    where business_id = ${businessId} and event_trigger_id = any (${ids}::bigint[])
      and worker is null and approval_id is null
    returning event_trigger_id as id`)
  return rows.map(({ id }) => id)
}

/** The `next_attempt_time` of a trigger that waits for approval: no worker claims it. */
export const HELD_UNTIL = Temporal.Instant.from('9999-01-01T00:00Z')

/** Triggers of an import are held; those of a bulk fire keep their own time. */
const isHeld = sql`w.next_attempt_time = ${HELD_UNTIL}`
