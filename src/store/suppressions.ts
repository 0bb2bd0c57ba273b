import type { Suppression as ShownSuppression } from '../contract/email.ts'
import type { Db } from '../database/database.ts'
import { empty, sql } from '../database/sql.ts'
import { columnsFor, insertRows, type By, type Stored } from './rows.ts'

export type Suppression = Stored<ShownSuppression>

const columns = sql`
  business_id as "businessId", email_address as "emailAddress", reason, detail,
  email_category_id as "emailCategoryId", created_date as "createdDate", created_user as "createdUser"`

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

/** Address, reason and category of a suppression, in the order of the list. Numbers in cursors are positive. */
type SuppressionPosition = [emailAddress: string, reason: string, topicAndOne: number]

export const positionOf = ({
  emailAddress,
  reason,
  emailCategoryId,
}: Suppression): SuppressionPosition => [emailAddress, reason, (emailCategoryId ?? 0) + 1]

export function listSuppressions(
  db: Db,
  businessId: number,
  listing: {
    emailAddress?: string | undefined
    /** Part of the address. */
    text?: string | undefined
    after: SuppressionPosition | undefined
    limit: number
  },
) {
  const { emailAddress, text, after, limit } = listing
  const [address, reason, topicAndOne] = after ?? ['', '', 1]
  return db.query<Suppression>(sql`
    select ${columns} from suppression
    where business_id = ${businessId} and (email_address, reason, topic) > (${address}, ${reason}, ${topicAndOne - 1})
      ${emailAddress === undefined ? empty : sql`and email_address = ${emailAddress.toLowerCase()}`}
      ${text === undefined ? empty : sql`and strpos(email_address, ${text.toLowerCase()}) > 0`}
    order by email_address, reason, topic limit ${limit}`)
}

/** Suppresses addresses. An existing entry with the same reason and category does not change. */
export async function suppress(
  tx: Db,
  addresses: (Pick<Suppression, 'businessId' | 'emailAddress' | 'reason' | 'detail'> &
    Partial<Pick<Suppression, 'emailCategoryId'>>)[],
  { user, now }: By,
) {
  const rows = addresses.map(({ emailAddress, ...address }) => ({
    emailCategoryId: null,
    ...address,
    emailAddress: emailAddress.toLowerCase(),
    createdDate: now,
    createdUser: user,
  }))
  await tx.query(sql`
    ${insertRows('suppression', COLUMNS, rows)}
    on conflict do nothing`)
}

/** What an address unsubscribed from: everything that is not transactional, or these categories. */
export type Unsubscribed = { isAll: boolean; emailCategoryIds: number[] }

export async function readUnsubscribed(
  db: Db,
  businessId: number,
  emailAddress: string,
): Promise<Unsubscribed> {
  const rows = await db.query<Pick<Suppression, 'emailCategoryId'>>(sql`
    select email_category_id as "emailCategoryId" from suppression
    where business_id = ${businessId} and email_address = ${emailAddress.toLowerCase()}
      and reason = 'UNSUBSCRIBED' order by topic`)
  const ids = rows.map(({ emailCategoryId }) => emailCategoryId)
  return { isAll: ids.includes(null), emailCategoryIds: ids.filter((id) => id !== null) }
}

/** Bounces and complaints stay, and so do the dates of what the reader unsubscribed from before. */
export async function setUnsubscribed(
  tx: Db,
  { businessId, emailAddress }: Pick<Suppression, 'businessId' | 'emailAddress'>,
  { isAll, emailCategoryIds }: Unsubscribed,
  by: By,
) {
  const topics = isAll ? [null] : emailCategoryIds
  await tx.query(sql`
    delete from suppression
    where business_id = ${businessId} and email_address = ${emailAddress.toLowerCase()}
      and reason = 'UNSUBSCRIBED' and not topic = any (${topics.map((id) => id ?? 0)}::bigint[])`)
  const known = await listTopics(tx, businessId)
  const entry = { businessId, emailAddress, reason: 'UNSUBSCRIBED' as const }
  const entries = topics.map((emailCategoryId) => {
    const topic = known.find((one) => one.emailCategoryId === emailCategoryId)
    const detail = `by the link in an email${topic ? `, from “${topic.name}” only` : ''}`
    return { ...entry, emailCategoryId, detail }
  })
  if (entries.length > 0) await suppress(tx, entries, by)
}

export type Topic = { emailCategoryId: number; name: string }

export const listTopics = (db: Db, businessId: number) =>
  db.query<Topic>(sql`
    select email_category_id as "emailCategoryId", name from email_category
    where business_id = ${businessId} and active and not transactional
    order by lower(name), email_category_id`)

const COLUMNS = columnsFor<Suppression>({
  businessId: 'bigint',
  emailAddress: 'text',
  reason: 'text',
  detail: 'text',
  emailCategoryId: 'bigint',
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
