import { Type } from 'typebox'
import { Named, about } from '../../contract/schema.ts'
import { Limiter } from '../../auth/limits.ts'
import { FUNCTIONS_OF_ROLE } from '../../auth/permissions.ts'
import { MAX_SESSION, signIn } from '../../auth/sessions.ts'
import { Session } from '../../contract/credentials.ts'
import { forbidden, unauthorized } from '../../errors.ts'
import { getBusiness, type BusinessRow } from '../../store/businesses.ts'
import { deleteSession } from '../../store/sessions.ts'
import type { KnownUser } from '../../store/users.ts'
import { clearSessionCookie, isCrossSite, setSessionCookie } from '../server/cookies.ts'
import { networkOf, refuseTooMany } from '../server/rate-limit.ts'
import { toWire } from '../server/serialize.ts'
import { inOrder, operation, type Routes } from '../server/services.ts'

const tags = ['Authentication']

/** Only failed sign-ins count, by client address: an attacker elsewhere cannot lock out the owner. */
const FAILURES_BY_USERNAME = { perSecond: 1 / 5, burst: 10 }
const FAILURES_BY_CLIENT = { perSecond: 1, burst: 60 }

export const sessions: Routes = inOrder(() => [postSession, getSession, endSession])

const postSession: Routes = async (app, { config, database, clock }) => {
  const byUsername = new Limiter(FAILURES_BY_USERNAME, clock)
  const byClient = new Limiter(FAILURES_BY_CLIENT, clock)
  const seconds = MAX_SESSION.total('seconds')
  app.post(
    '/session',
    operation('signIn', 'Sign in', {
      config: { open: true },
      tags,
      description:
        'Sets a session cookie. The 401 is the same for an unknown username and a wrong password.',
      body: Named(
        'SignInBody',
        {
          username: Type.String({ maxLength: 254 }),
          password: about(Type.String({ maxLength: 1_000 }), 'The password.'),
        },
        { username: 'anna', password: 'a long one, please' },
      ),
      response: { 201: Session },
    }),
    async (request, reply) => {
      if (isCrossSite(request, config.publicUrl)) {
        throw forbidden('A page of another site sent this sign-in: it is refused.')
      }
      const address = networkOf(request)
      const guess = `${address} ${request.body.username.toLowerCase()}`
      // In this order: attacks on one username do not use up the limit of the whole address.
      refuseTooMany(byUsername.take(guess))
      refuseTooMany(byClient.take(address))
      const signedIn = await signIn(database, { ...request.body, address }, clock.now())
      if (!signedIn) throw unauthorized('sign-in-failed', 'Username or password is wrong.')
      byClient.giveBack(address)
      byUsername.giveBack(guess)
      const { user, business, token } = signedIn
      setSessionCookie(reply, config.publicUrl, { token, seconds })
      reply.code(201).header('location', '/session')
      return describe(user, business)
    },
  )
}

const getSession: Routes = async (app) => {
  app.get(
    '/session',
    operation('getSession', 'Read the signed-in person', {
      config: { person: true },
      tags,
      response: { 200: Session },
    }),
    async ({ caller: { db, businessId, person } }) =>
      describe({ ...person!, businessId }, await getBusiness(db, businessId)),
  )
}

const endSession: Routes = async (app, { config, credentials }) => {
  app.delete(
    '/session',
    operation('signOut', 'Sign out', {
      config: { person: true },
      tags,
      response: { 200: Session },
    }),
    async ({ caller }, reply) => {
      const person = { ...caller.person!, businessId: caller.businessId }
      const business = await getBusiness(caller.db, caller.businessId)
      await deleteSession(caller.db, caller.businessId, person.sessionId)
      credentials.forget()
      clearSessionCookie(reply, config.publicUrl)
      return describe(person, business)
    },
  )
}

function describe(user: KnownUser, business: BusinessRow) {
  const { userId, username, role, professionalId, locationIdList, language } = user
  return toWire({
    userId,
    username,
    role,
    functions: FUNCTIONS_OF_ROLE[role],
    professionalId,
    locationIdList,
    language,
    business,
  })
}
