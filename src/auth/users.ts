import type { TSchema } from 'typebox'
import { USER_BODY, USER_FIELDS, UserInvite, UserWrite } from '../contract/credentials.ts'
import type { Role } from '../contract/roles.ts'
import { findFaults } from '../contract/find-faults.ts'
import { isId, isPlainObject } from '../contract/json.ts'
import { foreignBusiness, isUnchanged, readFields, readGiven } from '../contract/read-fields.ts'
import type { Db } from '../database/database.ts'
import { conflict, forbidden, invalid, notFound, type Fault } from '../errors.ts'
import { revokeKeysOfMaker } from '../store/api-keys.ts'
import type { By } from '../store/rows.ts'
import { deletePasswordLinksOfUser } from '../store/password-links.ts'
import { deleteSessionsOfUser } from '../store/sessions.ts'
import {
  findForeignReferences,
  insertUser,
  lockOwners,
  lockUser,
  updateUser,
  type UserFields,
  type UserRow,
} from '../store/users.ts'
import { hashPassword, NO_PASSWORD } from './passwords.ts'

/** A body whose password is hashed already: hashing is slow, so it happens before the transaction. */
type UserInput = {
  schema: TSchema
  userId: number | undefined
  body: unknown
  passwordHash: string | undefined
  faults: Fault[]
  /** Faults of the person as the body would leave them. */
  faultsOf?: (user: UserFields) => Fault[]
}

export async function readUser(body: unknown, businessId: number): Promise<UserInput> {
  const { isUpdate, userId } = readUserId(body)
  const { given, faults: all } = readGiven(USER_BODY, body)
  const { password: wanted } = given as { password?: string | null }
  const isMissing = !isUpdate && !wanted && !all.some(({ pointer }) => pointer === '/password')
  const faults = isMissing ? [{ pointer: '/password', detail: 'is required' }] : []
  const isHashed = wanted && all.length === 0
  const passwordHash = isHashed ? await hashPassword(wanted, { businessId }) : undefined
  return { schema: UserWrite, userId, body, passwordHash, faults }
}

/** An invited person has no password until they choose one. */
export function readInvitedUser(body: unknown): UserInput {
  const { isUpdate, userId } = readUserId(body)
  const isFaulty = findFaults(UserInvite, body).length > 0
  const passwordHash = isUpdate || isFaulty ? undefined : NO_PASSWORD
  const faultsOf = invitationFaults
  return { schema: UserInvite, userId, body, passwordHash, faults: [], faultsOf }
}

function invitationFaults({ emailAddress, active }: UserFields): Fault[] {
  const faults: Fault[] = []
  if (emailAddress === null) {
    faults.push({ pointer: '/emailAddress', detail: 'is required: the invitation is sent there' })
  }
  if (!active) faults.push({ pointer: '/active', detail: 'must be true for an invitation' })
  return faults
}

function readUserId(body: unknown) {
  const given: unknown = isPlainObject(body) ? body.userId : undefined
  const isUpdate = given !== undefined && given !== null
  return { isUpdate, userId: isId(given) ? given : undefined }
}

export type UserSave = By & {
  businessId: number
  /** The role of the caller; `null` for the operator and for a key that belongs to the business. */
  role: Role | null
  /** Called with the stored person before an update. */
  onCurrent?: (current: UserRow) => void
}

/** Creates or changes a person, in the caller's transaction. */
export async function saveUser(tx: Db, input: UserInput, saving: UserSave) {
  const { businessId } = saving
  const current = input.userId ? await lockUser(tx, businessId, input.userId) : undefined
  if (input.userId && !current) throw notFound('user', input.userId)
  if (current) saving.onCurrent?.(current)

  const shape = { schema: input.schema, fields: USER_FIELDS }
  const { values, faults } = readFields<UserFields>(shape, input.body, current)
  values.locationIdList = [...new Set(values.locationIdList)]
  faults.push(
    ...input.faults,
    ...foreignBusiness(input.body, businessId),
    ...(await referenceFaults(tx, businessId, values, current)),
  )
  // A property that cannot be read has a fault already.
  const reported = new Set(faults.map(({ pointer }) => pointer))
  faults.push(...(input.faultsOf?.(values) ?? []).filter(({ pointer }) => !reported.has(pointer)))
  if (faults.length > 0) throw invalid(faults)
  refuseAboveOwnRole(saving.role, values.role, current?.role)
  if (!current) {
    const user = { ...values, passwordHash: input.passwordHash! }
    return { user: await insertUser(tx, businessId, user, saving), before: undefined }
  }
  const { passwordHash } = input
  if (!passwordHash && isUnchanged(values, current)) return { user: current, before: current }
  await keepAnOwner(tx, current, values)
  const user = await updateUser(tx, current, { ...values, passwordHash }, saving)
  if (passwordHash || !user.active) await deleteSessionsOfUser(tx, businessId, user.userId)
  if (!user.active || user.role !== current.role) {
    await revokeKeysOfMaker(tx, businessId, user.userId, saving)
  }
  if (passwordHash || !user.active || isOtherHolder(current, user)) {
    await deletePasswordLinksOfUser(tx, businessId, user.userId)
  }
  return { user, before: current }
}

async function referenceFaults(
  tx: Db,
  businessId: number,
  fields: UserFields,
  current: UserRow | undefined,
): Promise<Fault[]> {
  const same =
    current?.professionalId === fields.professionalId &&
    String(current.locationIdList) === String(fields.locationIdList)
  if (same || (fields.professionalId === null && fields.locationIdList.length === 0)) return []
  const foreign = await findForeignReferences(tx, businessId, fields)
  const faults = foreign.locations.map((id) => ({
    pointer: `/locationIdList/${fields.locationIdList.indexOf(id)}`,
    detail: 'is not a location of the business',
  }))
  if (foreign.professional) {
    faults.push({ pointer: '/professionalId', detail: 'is not a member of staff of the business' })
  }
  return faults
}

/** Password links that were sent to the old address, or for the old role, must stop working. */
const isOtherHolder = (before: UserRow, after: UserRow) =>
  before.role !== after.role || before.emailAddress !== after.emailAddress

/** An ADMINISTRATOR can do what an OWNER can, except manage owners. */
function refuseAboveOwnRole(maker: Role | null, wanted: Role, current: Role | undefined) {
  if (!mayManage(maker, wanted) || (current && !mayManage(maker, current))) {
    throw forbidden('Only an OWNER can create or change an OWNER.')
  }
}

/** Whether `maker` may change people with the role `managed`; `null` is not limited. */
export const mayManage = (maker: Role | null, managed: Role) =>
  maker === null || maker === 'OWNER' || managed !== 'OWNER'

async function keepAnOwner(tx: Db, current: UserRow, { role, active }: UserFields) {
  if (current.role !== 'OWNER' || !current.active || (role === 'OWNER' && active)) return
  const owners = await lockOwners(tx, current.businessId)
  if (owners.every(({ userId }) => userId === current.userId)) {
    throw conflict('A business needs an active OWNER. Make another person OWNER first.')
  }
}
