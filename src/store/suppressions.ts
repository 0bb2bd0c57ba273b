import type { SuppressionReason } from '../contract/email.ts'
import type { Db } from '../database/database.ts'
import { empty, sql } from '../database/sql.ts'
import { columnsFor, insertRows } from './rows.ts'

export type Suppression = {
  businessId: number
  emailAddress: string
  reason: SuppressionReason
  detail: string | null
  createdDate: Temporal.Instant
  createdUser: string
}

const columns = sql`
  business_id as "businessId", email_address as "emailAddress", reason, detail,
  created_date as "createdDate", created_user as "createdUser"`

/** Lists which of these addresses are suppressed. */
export function listSuppressed(db: Db, addresses: { businessId: number; emailAddress: string }[]) {
  return db.query<Suppression>(
    sql`
      select ${columns}
      from unnest(${addresses.map((address) => address.businessId)}::bigint[],
                  ${addresses.map((address) => address.emailAddress.toLowerCase())}::text[])
        as a (business_id, email_address)
      join suppression using (business_id, email_address)`,
  )
}

/** A page of suppressions, ordered by address. */
export function listSuppressions(
  db: Db,
  businessId: number,
  listing: {
    emailAddress?: string | undefined
    after: [string, string] | undefined
    limit: number
  },
) {
  const { emailAddress, after, limit } = listing
  const [address, reason] = after ?? ['', '']
  return db.query<Suppression>(sql`
    select ${columns} from suppression
    where business_id = ${businessId} and (email_address, reason) > (${address}, ${reason})
      ${emailAddress === undefined ? empty : sql`and email_address = ${emailAddress.toLowerCase()}`}
    order by email_address, reason limit ${limit}`)
}

/** Suppresses addresses. An existing entry with the same reason does not change. */
export async function suppress(
  tx: Db,
  addresses: Pick<Suppression, 'businessId' | 'emailAddress' | 'reason' | 'detail'>[],
  { user, now }: { user: string; now: Temporal.Instant },
) {
  const rows = addresses.map(({ emailAddress, ...address }) => ({
    ...address,
    emailAddress: emailAddress.toLowerCase(),
    createdDate: now,
    createdUser: user,
  }))
  await tx.query(sql`
    ${insertRows('suppression', COLUMNS, rows)}
    on conflict (business_id, email_address, reason) do nothing`)
}

const COLUMNS = columnsFor<Suppression>({
  businessId: 'bigint',
  emailAddress: 'text',
  reason: 'text',
  detail: 'text',
  createdDate: 'timestamptz',
  createdUser: 'text',
})

/** Removes an address for every reason; returns the entries that it had. Also deletes its soft bounces. */
export async function deleteSuppressions(tx: Db, businessId: number, emailAddress: string) {
  await tx.query(sql`
    delete from soft_bounce b using email e
    where b.business_id = ${businessId}
      and (e.business_id, e.email_id) = (b.business_id, b.email_id)
      and lower(e.to_address) = ${emailAddress.toLowerCase()}`)
  return tx.query<Suppression>(sql`
    delete from suppression
    where business_id = ${businessId} and email_address = ${emailAddress.toLowerCase()}
    returning ${columns}`)
}
