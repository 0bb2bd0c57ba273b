import { USER_FIELDS, type User } from '../contract/credentials.ts'
import type { Role } from '../contract/roles.ts'
import type { Db } from '../database/database.ts'
import { empty, sql } from '../database/sql.ts'
import {
  columnsFor,
  columnsOf,
  insertSaved,
  SAVED_COLUMNS,
  selectList,
  updateSaved,
  type By,
  type Stored,
} from './rows.ts'
import type { PageAfter } from './pages.ts'

export type UserFields = Pick<User, keyof typeof USER_FIELDS>

export type UserRow = Stored<User>

const FIELDS = columnsOf(USER_FIELDS)
const columns = sql`
  t.business_id as "businessId", t.user_id as "userId", ${selectList(FIELDS)}, ${SAVED_COLUMNS}`

export const findUser = (db: Db, businessId: number, userId: number, lock = empty) =>
  db.findRow<UserRow>(sql`
    select ${columns} from user_account t
    where business_id = ${businessId} and user_id = ${userId} ${lock}`)

export const lockUser = (tx: Db, businessId: number, userId: number) =>
  findUser(tx, businessId, userId, sql`for update`)

/** Locks a user against changes of role and activity until the transaction ends. */
export const shareUser = (tx: Db, businessId: number, userId: number) =>
  findUser(tx, businessId, userId, sql`for share`)

export const listUsersById = (db: Db, businessId: number, userIds: number[], lock = empty) =>
  db.query<UserRow>(sql`
    select ${columns} from user_account t
    where business_id = ${businessId} and user_id = any (${userIds}::bigint[])
    order by user_id ${lock}`)

/** The same, locked against changes of role and activity until the transaction ends. */
export const shareUsersById = (tx: Db, businessId: number, userIds: number[]) =>
  listUsersById(tx, businessId, userIds, sql`for share`)

/** Locks every active owner, so that two concurrent requests cannot remove the last two. */
export function lockOwners(db: Db, businessId: number) {
  return db.query<{ userId: number }>(sql`
    select user_id as "userId" from user_account
    where business_id = ${businessId} and role = 'OWNER' and active
    order by user_id for update`)
}

export function listUsers(db: Db, businessId: number, { after, limit }: PageAfter) {
  return db.query<UserRow>(sql`
    select ${columns} from user_account t
    where business_id = ${businessId} and active and user_id > ${after}
    order by user_id
    limit ${limit}`)
}

type NewUser = Omit<UserFields, 'failureMails' | 'language'> &
  Partial<Pick<UserFields, 'failureMails' | 'language'>> & { passwordHash: string }

export async function insertUser(db: Db, businessId: number, user: NewUser, by: By) {
  const row = { failureMails: null, language: null, ...user, businessId }
  const written = [
    ...FIELDS,
    ...columnsFor<typeof row>({ businessId: 'bigint', passwordHash: 'text' }),
  ]
  return db.getRow<UserRow>(sql`
    ${insertSaved<typeof row>('user_account', written, row, by)} returning ${columns}`)
}

/** Also changes the password if `passwordHash` is set. */
export async function updateUser(
  db: Db,
  known: Pick<UserRow, 'businessId' | 'userId'>,
  fields: UserFields & { passwordHash?: string | undefined },
  by: By,
) {
  const { passwordHash } = fields
  const password = sql`, password_hash = ${passwordHash}, password_date = ${by.now}`
  return db.getRow<UserRow>(sql`
    ${updateSaved('user_account', FIELDS, fields, by, passwordHash === undefined ? empty : password)}
    where t.business_id = ${known.businessId} and t.user_id = ${known.userId}
    returning ${columns}`)
}

/** For the same password, unless it was changed meanwhile. */
export const replacePasswordHash = (
  db: Db,
  { businessId, userId, passwordHash }: KnownUser & { passwordHash: string },
  renewed: string,
) =>
  db.query(sql`
    update user_account set password_hash = ${renewed}
    where business_id = ${businessId} and user_id = ${userId} and password_hash = ${passwordHash}`)

export async function findPasswordHash(db: Db, businessId: number, userId: number) {
  const row = await db.findRow<{ passwordHash: string }>(sql`
    select password_hash as "passwordHash" from user_account
    where business_id = ${businessId} and user_id = ${userId} and active`)
  return row?.passwordHash
}

export type KnownUser = {
  businessId: number
  userId: number
  username: string
  role: Role
  professionalId: number | null
  locationIdList: number[]
  language: User['language']
}

/** Needs the operator role: users sign in without naming their business. */
export const findLiveUserByName = (operator: Db, username: string) =>
  operator.findRow<KnownUser & { passwordHash: string }>(sql`
    select u.business_id as "businessId", u.user_id as "userId", u.username, u.role,
           u.professional_id as "professionalId", u.location_id_list as "locationIdList",
           u.language, u.password_hash as "passwordHash"
    from user_account u join business b using (business_id)
    where lower(u.username) = lower(${username}) and u.active and b.active`)

/**
 * The users with this address, in all businesses: the first `limit` of each. Needs the operator role: a
 * user who forgot the password does not name a business.
 */
export function listLiveUsersByAddress(operator: Db, emailAddress: string, limit: number) {
  return operator.query<{ businessId: number; userId: number; username: string }>(sql`
    select business_id as "businessId", user_id as "userId", username from (
      select u.business_id, u.user_id, u.username,
             row_number() over (partition by u.business_id order by u.user_id) as place
      from user_account u join business b using (business_id)
      where lower(u.email_address) = lower(${emailAddress}) and u.active and b.active) own
    where place <= ${limit}
    order by place, business_id`)
}

export async function findForeignReferences(db: Db, businessId: number, fields: UserFields) {
  const { professionalId, locationIdList } = fields
  const found = await db.getRow<{ professional: boolean; locations: number[] }>(sql`
    select
      exists (select from professional
              where business_id = ${businessId} and professional_id = ${professionalId}) as professional,
      array(select location_id from location
            where business_id = ${businessId} and location_id = any (${locationIdList}::bigint[])) as locations`)
  return {
    professional: professionalId !== null && !found.professional,
    locations: locationIdList.filter((id) => !found.locations.includes(id)),
  }
}

/** The addresses of users who get mails about failures. Owners come first, in case a limit is reached. */
export async function listFailureAddresses(db: Db, businessId: number) {
  const rows = await db.query<{ emailAddress: string }>(sql`
    select email_address as "emailAddress" from user_account
    where business_id = ${businessId} and active and email_address is not null
      and coalesce(failure_mails, role = 'OWNER')
    group by email_address
    order by bool_or(role = 'OWNER') desc, min(user_id)`)
  return rows.map(({ emailAddress }) => emailAddress)
}
