import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { Named, about } from '../../contract/schema.ts'
import type { Role } from '../../contract/roles.ts'
import {
  LANGUAGE_BODY,
  LanguageChoice,
  password,
  User,
  USER_BODY,
  UserWrite,
} from '../../contract/credentials.ts'
import { required } from '../../contract/fields.ts'
import { findFaults } from '../../contract/find-faults.ts'
import { isPlainObject } from '../../contract/json.ts'
import { isUnchanged, readFields } from '../../contract/read-fields.ts'
import { Limiter } from '../../auth/limits.ts'
import { isPassword, hashPassword } from '../../auth/passwords.ts'
import { readUser, saveUser } from '../../auth/users.ts'
import { PageOf, PageQuery } from '../../contract/page.ts'
import type { Db } from '../../database/database.ts'
import { brokenConstraint } from '../../database/postgres-errors.ts'
import { conflict, invalid, notFound } from '../../errors.ts'
import { deletePasswordLinksOfUser } from '../../store/password-links.ts'
import { deleteOtherSessionsOfUser } from '../../store/sessions.ts'
import { findPasswordHash, findUser, listUsers, lockUser, updateUser } from '../../store/users.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce, created, ok } from '../server/idempotency.ts'
import { refuseTooMany } from '../server/rate-limit.ts'
import { toWire } from '../server/serialize.ts'
import { inOrder, operation, type Routes, type Services } from '../server/services.ts'

const ById = Type.Object({ userId: Type.Integer({ minimum: 1 }) })
const tags = ['Authentication']
const access = { scope: 'admin', function: 'MANAGE_USERS' } as const

const PasswordChange = Named(
  'PasswordChange',
  {
    currentPassword: about(Type.String(), 'The password until now.'),
    newPassword: required(password()).schema,
  },
  { currentPassword: 'the old one', newPassword: 'a longer new one' },
)

export const users: Routes = inOrder(() => [
  getUsers,
  getUser,
  postUser,
  deleteUser,
  postOwnPassword,
  postOwnLanguage,
])

const getUsers: Routes = async (app) => {
  app.get(
    '/user',
    operation('listUsers', 'List the people of the business', {
      config: access,
      tags,
      querystring: Type.Object(PageQuery),
      response: { 200: PageOf(User, 'UserPage') },
    }),
    async ({ caller, query }) => {
      const { limit, after } = readPage(query, 'user')
      const page = { after: Number(after?.[0] ?? 0), limit: limit + 1 }
      const rows = await listUsers(caller.db, caller.businessId, page)
      return toWire(pageOf(rows, limit, 'user', (row) => [row.userId]))
    },
  )
}

const getUser: Routes = async (app) => {
  app.get(
    '/user/:userId',
    operation('getUser', 'Read a person', {
      config: { ...access, etag: true },
      tags,
      params: ById,
      response: { 200: User },
    }),
    async ({ caller, params }) => {
      const user = await findUser(caller.db, caller.businessId, params.userId)
      if (!user) throw notFound('user', params.userId)
      return toWire(user)
    },
  )
}

const postUser: Routes = async (app, services) => {
  app.post(
    '/user',
    operation('createUser', 'Create or change a person', {
      config: { ...access, etag: true, idempotent: true, readsBody: true },
      tags,
      body: UserWrite,
      response: { 200: User, 201: User },
    }),
    (request, reply) => {
      const { db, businessId, user, account } = request.caller
      return answerSavedUser(services, request, reply, {
        db,
        businessId,
        user,
        role: account?.role ?? null,
      })
    },
  )
}

const deleteUser: Routes = async (app, { clock, credentials }) => {
  app.delete(
    '/user/:userId',
    operation('deleteUser', 'Deactivate a person', {
      config: { ...access, etag: true },
      tags,
      description:
        'Ends the person’s sessions and revokes the keys that belong to them. 409 for the last active OWNER.',
      params: ById,
      response: { 200: User },
    }),
    async (request) => {
      const { caller, params } = request
      const body = { userId: params.userId, active: false }
      const input = {
        ...USER_BODY,
        userId: params.userId,
        body,
        passwordHash: undefined,
        faults: [],
      }
      const saving = {
        businessId: caller.businessId,
        user: caller.user,
        role: caller.account?.role ?? null,
        now: clock.now(),
        onCurrent: (current: object) => requireMatch(request, current),
      }
      const { user } = await caller.db.transaction(async (tx) => {
        const known = await lockUser(tx, caller.businessId, params.userId)
        if (known && !known.active) return { user: known }
        return saveUser(tx, input, saving)
      })
      credentials.forget()
      return toWire(user)
    },
  )
}

const postOwnPassword: Routes = async (app, { clock, credentials }) => {
  // A person at somebody else's unlocked console must not be able to guess the password.
  const guesses = new Limiter({ perSecond: 1 / 5, burst: 10 }, clock)
  app.post(
    '/user/password',
    operation('changePassword', 'Change your own password', {
      config: { person: true, readsBody: true },
      tags,
      description: 'Ends your other sessions. This one continues.',
      body: PasswordChange,
      response: { 200: User },
    }),
    async ({ caller, body }) => {
      const { userId, sessionId } = caller.person!
      const { businessId } = caller
      const faults = findFaults(PasswordChange, body)
      const given: unknown = isPlainObject(body) ? body.currentPassword : undefined
      refuseTooMany(guesses.take(caller.credential))
      const kept = await findPasswordHash(caller.db, caller.businessId, userId)
      if (typeof given === 'string' && !(await isPassword(given, kept, { businessId }))) {
        faults.push({ pointer: '/currentPassword', detail: 'is not your password' })
      }
      if (faults.length > 0) throw invalid(faults)
      guesses.giveBack(caller.credential)
      const passwordHash = await hashPassword(body.newPassword, { businessId })
      const by = { user: caller.user, now: clock.now() }
      const user = await caller.db.transaction(async (tx) => {
        const known = await lockUser(tx, caller.businessId, userId)
        await deleteOtherSessionsOfUser(tx, { businessId, userId, sessionId })
        await deletePasswordLinksOfUser(tx, businessId, userId)
        return updateUser(tx, known!, { ...known!, passwordHash }, by)
      })
      credentials.forget()
      return toWire(user)
    },
  )
}

const postOwnLanguage: Routes = async (app, { clock, credentials }) => {
  app.post(
    '/user/language',
    operation('chooseLanguage', 'Choose the language of the console for yourself', {
      config: { person: true, etag: true, readsBody: true },
      tags,
      body: LanguageChoice,
      response: { 200: User },
    }),
    async (request) => {
      const { db, businessId, person, user } = request.caller
      const changed = await db.transaction(async (tx) => {
        const known = (await lockUser(tx, businessId, person!.userId))!
        requireMatch(request, known)
        const { values, faults } = readFields<LanguageChoice>(LANGUAGE_BODY, request.body, known)
        if (faults.length > 0) throw invalid(faults)
        if (isUnchanged(values, known)) return known
        return updateUser(tx, known, { ...known, ...values }, { user, now: clock.now() })
      })
      credentials.forget()
      return toWire(changed)
    },
  )
}

type Author = { db: Db; businessId: number; user: string; role: Role | null }

/** Also used by POST /business/{businessId}/user, with which the operator creates the first person. */
export async function answerSavedUser(
  { clock, credentials }: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  { db, businessId, user, role }: Author,
) {
  const input = await readUser(request.body, businessId)
  const now = clock.now()
  const onCurrent = (current: object) => requireMatch(request, current)
  try {
    return await answerOnce(db, request, reply, now, async (tx) => {
      const saved = await saveUser(tx, input, { businessId, user, role, now, onCurrent })
      return saved.before ? ok(saved.user) : created(saved.user, `/user/${saved.user.userId}`)
    })
  } catch (error) {
    if (brokenConstraint(error) === 'user_account_username') {
      throw conflict('The username is taken. Choose another one.')
    }
    throw error
  } finally {
    credentials.forget()
  }
}
