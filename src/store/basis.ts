import { eventTypeById, type ObjectType } from '../contract/event-type.ts'
import { toColumn, type ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import { listAllActiveDefinitions, type StoredDefinition } from './event-definitions.ts'
import { knownIds } from './objects.ts'
import { RecentlyUsed } from './recently-used.ts'
import { listAllStatuses, type Status } from './statuses.ts'

/** What a save must know before it can decide. */
export type Basis = {
  /**
   * Of the ids it refers to, those of the business, as `kind:id`, each with what matching and
   * timing need of it: a client's tags, a location's zone, the end of a campaign; and the price of
   * a service.
   */
  known: Map<string, unknown>
  /** As many as were asked for; invitations make their own. */
  ids: (number | string)[]
  /** For objects that events happen to. */
  setup: Setup | undefined
}

/** What every save goes by and few ever change. */
export type Setup = {
  /** Another one as soon as anything of this was changed (migrations/0023). */
  mark: string
  /** The business's own zone. */
  timeZone: string
  /** The removed ones too. */
  statuses: Map<ObjectType, Status[]>
  /** Active ones, by the objects that they wait for. */
  definitions: Map<ObjectType, StoredDefinition[]>
  /** Those places, members of staff and services that were referred to since. */
  known: Map<string, unknown>
}

export type Asked = { wanted: Map<ObjectKind, Set<number>>; count: number }

/** Kept from save to save: what is read for every booking is most of its cost. */
const setups = new RecentlyUsed<number, Setup>(1_000)
const PARTS_OF_SETUP = ['location', 'professional', 'reason']

export async function readBasis(
  tx: Db,
  businessId: number,
  kind: ObjectKind,
  asked: Asked,
): Promise<Basis> {
  if (!kind.objectType) return { ...(await ask(tx, businessId, kind, asked)), setup: undefined }

  const kept = setups.get(businessId)
  const open = kept ? withoutKnown(asked.wanted, kept) : asked.wanted
  const { mark, known, ids } = await ask(tx, businessId, kind, { ...asked, wanted: open })
  // Whatever was kept is what would have been read.
  if (kept && kept.mark === mark)
    return { known: together(asked.wanted, known, kept), ids, setup: kept }

  const setup = await readSetup(tx, businessId, mark)
  const again = await ask(tx, businessId, kind, { ...asked, count: 0 })
  return { known: together(asked.wanted, again.known, setup), ids, setup }
}

/** All in one statement. */
async function ask(tx: Db, businessId: number, kind: ObjectKind, { wanted, count }: Asked) {
  const known = knownIds(businessId, wanted, NEEDED)
  const isNumbered = kind.id !== 'invitationUUID'
  const sequence = `${kind.table}_${toColumn(kind.id)}_seq`
  const ids = isNumbered
    ? sql`array(select nextval(${sequence}) from generate_series(1, ${count}::int))`
    : sql`null`
  const [row] = await tx.query<Answer>(sql`
    select ${known ? sql`(select json_agg(json_build_array(known, needed)) from (${known}) k)` : sql`null::json`} as known,
           ${ids} as ids, (select mark from setup_mark where business_id = ${businessId}) as mark`)
  return { mark: row!.mark, known: new Map(row!.known ?? []), ids: row!.ids ?? [] }
}

type Answer = { known: [string, unknown][] | null; ids: (number | string)[] | null; mark: string }

/** The price of a service and its currency. */
export type ServicePrice = [price: number | null, currency: string | null]

const NEEDED: Record<string, string> = {
  client: 'tags',
  reason: 'jsonb_build_array(price, currency)',
  location: 'to_jsonb(time_zone)',
  invitationCampaign: 'to_jsonb((extract(epoch from expires_time) * 1000)::bigint)',
}

async function readSetup(tx: Db, businessId: number, mark: string): Promise<Setup> {
  const [statuses, definitions, [business]] = await Promise.all([
    listAllStatuses(tx, businessId),
    listAllActiveDefinitions(tx, businessId),
    tx.query<{ timeZone: string }>(sql`
      select time_zone as "timeZone" from business where business_id = ${businessId}`),
  ])
  const setup: Setup = {
    mark,
    timeZone: business!.timeZone,
    statuses: Map.groupBy(statuses, (status) => status.objectType),
    definitions: Map.groupBy(definitions, (each) => eventTypeById(each.eventTypeId)!.objectType),
    known: new Map(),
  }
  setups.set(businessId, setup)
  return setup
}

function withoutKnown(wanted: Asked['wanted'], { known }: Setup): Asked['wanted'] {
  const open = new Map<ObjectKind, Set<number>>()
  for (const [kind, ids] of wanted) {
    const rest = [...ids].filter((id) => !known.has(`${kind.kind}:${id}`))
    if (rest.length > 0) open.set(kind, new Set(rest))
  }
  return open
}

/** What was found now and what is kept; parts of the setup that were found now are kept too. */
function together(wanted: Asked['wanted'], found: Map<string, unknown>, { known }: Setup) {
  for (const [kind, ids] of wanted) {
    if (!PARTS_OF_SETUP.includes(kind.kind)) continue
    for (const id of ids) {
      const named = `${kind.kind}:${id}`
      if (found.has(named)) known.set(named, found.get(named))
      else if (known.has(named)) found.set(named, known.get(named))
    }
  }
  return found
}
