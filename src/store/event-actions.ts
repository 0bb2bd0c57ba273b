import type { RecipientValue } from '../contract/event-action.ts'
import type { Db } from '../database/database.ts'
import type { By } from './rows.ts'
import { empty, sql, type Sql } from '../database/sql.ts'
import { isChanged, type Changes } from './change-positions.ts'
import { definitionKeys, type DefinitionKey } from './event-definitions.ts'

export type StoredAction = {
  businessId: number
  eventActionId: number
  eventDefnId: number
  actionType: 'SEND_EMAIL'
  active: boolean
  emailCategoryId: number | null
  emailTemplateId: number
  /** Null: the recipient that the template names, or else the client. */
  recipient: RecipientValue | null
  createdDate: Temporal.Instant
  createdUser: string
  modifiedDate: Temporal.Instant
  modifiedUser: string
}

const columns = sql`
  business_id as "businessId", event_action_id as "eventActionId", event_defn_id as "eventDefnId",
  action_type as "actionType", active, email_category_id as "emailCategoryId",
  email_template_id as "emailTemplateId", recipient, created_date as "createdDate",
  created_user as "createdUser", modified_date as "modifiedDate", modified_user as "modifiedUser"`

/** The recipient of an action that names none. */
const byTemplate = sql`
  (select case when coalesce(t.to_address, '') = '' then 'client' else 'template' end
   from email_template t
   where (t.business_id, t.email_template_id)
       = (event_action.business_id, event_action.email_template_id))`

const writesTo = sql`
  coalesce(recipient, ${byTemplate}) as "writesTo", ${byTemplate} as "byTemplate"`

/** An action with its recipient, and the recipient that its template alone would give. */
export type ShownAction = StoredAction & { writesTo: RecipientValue; byTemplate: RecipientValue }

type ActionFilters = {
  /** Unset: of all definitions. */
  eventDefnIds?: number[]
  afterId?: number
  limit?: number
}

/** Lists active actions, oldest first. */
export function listActions(
  db: Db,
  businessId: number,
  { eventDefnIds, afterId = 0, limit }: ActionFilters,
) {
  return db.query<ShownAction>(sql`
    select ${columns}, ${writesTo} from event_action
    where business_id = ${businessId} and active and event_action_id > ${afterId}
      ${eventDefnIds ? sql`and event_defn_id = any (${eventDefnIds}::bigint[])` : empty}
    order by event_action_id limit ${limit ?? null}`)
}

/** Changed actions, also inactive ones, in the order of the changes. */
export function listChangedActions(
  db: Db,
  businessId: number,
  { changes, limit }: { changes: Changes; limit: number },
) {
  return db.query<ShownAction & { changedIn: string }>(sql`
    select ${columns}, ${writesTo}, changed_in::text as "changedIn" from event_action
    where business_id = ${businessId}
      ${isChanged(changes, sql`changed_in`, sql`event_action_id`)}
    order by changed_in, event_action_id limit ${limit}`)
}

export const findAction = (db: Db, businessId: number, eventActionId: number, lock = empty) =>
  db.findRow<ShownAction>(sql`
    select ${columns}, ${writesTo} from event_action
    where business_id = ${businessId} and event_action_id = ${eventActionId} ${lock}`)

export const lockAction = (tx: Db, businessId: number, eventActionId: number) =>
  findAction(tx, businessId, eventActionId, sql`for no key update`)

type ActionFields = Pick<
  StoredAction,
  'businessId' | 'eventDefnId' | 'active' | 'emailCategoryId' | 'emailTemplateId' | 'recipient'
>
export const insertAction = (tx: Db, action: ActionFields, { user, now }: By) =>
  tx.getRow<ShownAction>(sql`
    insert into event_action (business_id, event_defn_id, action_type, active, email_category_id,
      email_template_id, recipient, created_date, created_user, modified_date, modified_user)
    values (${action.businessId}, ${action.eventDefnId}, 'SEND_EMAIL', ${action.active},
            ${action.emailCategoryId}, ${action.emailTemplateId}, ${action.recipient},
            ${now}, ${user}, ${now}, ${user})
    returning ${columns}, ${writesTo}`)

export const updateAction = (
  tx: Db,
  action: ActionFields & { eventActionId: number },
  { user, now }: By,
) =>
  tx.getRow<ShownAction>(sql`
    update event_action
    set event_defn_id = ${action.eventDefnId}, active = ${action.active},
        email_category_id = ${action.emailCategoryId},
        email_template_id = ${action.emailTemplateId}, recipient = ${action.recipient},
        version = version + 1, modified_date = ${now}, modified_user = ${user}
    where business_id = ${action.businessId} and event_action_id = ${action.eventActionId}
    returning ${columns}, ${writesTo}`)

/** `transactional`: from the category of the action itself; null if it has none. */
export type RunningAction = StoredAction & { transactional: boolean | null }

/** The active actions of many definitions, in the order in which they run. */
export const listActionsOfDefinitions = (db: Db, keys: DefinitionKey[]) =>
  db.query<RunningAction>(
    actionsOf(keys, {
      columns: sql`
        ${columns},
        (select transactional from email_category g
         where (g.business_id, g.email_category_id) = (o.business_id, o.email_category_id))`,
      lock: empty,
    }),
  )

/**
 * The same by definition, locked for share until the transaction ends. Without the definitions of which
 * another transaction has locked an action.
 */
export async function lockFreeActions(tx: Db, keys: DefinitionKey[]) {
  const ids = { columns: sql`event_action_id as id`, lock: sql`for share skip locked` }
  // One round trip. The second statement also reads actions that another transaction has locked.
  const [locked, actions] = await Promise.all([
    tx.query<{ id: number }>(actionsOf(keys, ids)),
    listActionsOfDefinitions(tx, keys),
  ])
  const isFree = new Set(locked.map((row) => row.id))
  const byDefinition = Map.groupBy(actions, (action) => action.eventDefnId)
  const free = new Map<number, RunningAction[]>()
  for (const { eventDefnId } of keys) {
    const own = byDefinition.get(eventDefnId) ?? []
    if (own.every(({ eventActionId }) => isFree.has(eventActionId))) free.set(eventDefnId, own)
  }
  return free
}

const actionsOf = (keys: DefinitionKey[], { columns, lock }: { columns: Sql; lock: Sql }) => sql`
  select a.* from ${definitionKeys(keys)} cross join lateral (
    select ${columns} from event_action o
    where o.active and o.business_id = k.business_id and o.event_defn_id = k.event_defn_id
    order by event_action_id ${lock}) a`

/** Includes inactive actions, and those of inactive definitions; or all of one definition. */
export function listAllActions(db: Db, businessId: number, eventDefnId?: number) {
  const ofOne = eventDefnId === undefined ? empty : sql`and event_defn_id = ${eventDefnId}`
  return db.query<StoredAction>(sql`
    select ${columns} from event_action
    where business_id = ${businessId} ${ofOne} order by event_action_id`)
}
