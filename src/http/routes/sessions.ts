import { Type } from 'typebox'
import { Limiter } from '../../auth/limits.ts'
import { FUNCTIONS_OF_ROLE } from '../../auth/permissions.ts'
import { LONGEST, signIn } from '../../auth/sessions.ts'
import { Session } from '../../contract/credentials.ts'
import type { Db } from '../../database/database.ts'
import { forbidden, unauthorized } from '../../errors.ts'
import { findBusiness } from '../../store/businesses.ts'
import { deleteSession } from '../../store/sessions.ts'
import type { KnownUser } from '../../store/users.ts'
import { clearSessionCookie, isFromElsewhere, setSessionCookie } from '../server/cookies.ts'
import { addressOf, refuseTooMany } from '../server/rate-limit.ts'
import type { Routes } from '../server/services.ts'

const tags = ['Who is asking']

/**
 * Only failures count, and only from where they come: whoever guesses at a username from elsewhere
 * slows himself down, never its owner.
 */
const GUESSES_AT_ONE = { perSecond: 1 / 5, burst: 10 }
const GUESSES_FROM_ONE = { perSecond: 1, burst: 60 }

export const sessions: Routes = async (app, { config, database, clock, credentials }) => {
  const atOne = new Limiter(GUESSES_AT_ONE, clock)
  const fromOne = new Limiter(GUESSES_FROM_ONE, clock)
  const seconds = LONGEST.total('seconds')

  app.post(
    '/session',
    {
      config: { open: true },
      schema: {
        tags,
        summary: 'Sign in',
        description: 'Sets a cookie. An unknown username and a wrong password are the same 401.',
        body: Type.Object(
          {
            username: Type.String({ maxLength: 254 }),
            password: Type.String({ maxLength: 1_000 }),
          },
          { examples: [{ username: 'anna', password: 'a long one, please' }] },
        ),
        response: { 201: Session },
      },
    },
    async (request, reply) => {
      if (isFromElsewhere(request, config.publicUrl)) {
        throw forbidden('A page of another site may not sign you in.')
      }
      const address = addressOf(request)
      const guess = `${address} ${request.body.username.toLowerCase()}`
      // In this order: hammering at one username leaves the address its other people's guesses.
      refuseTooMany(atOne.take(guess))
      refuseTooMany(fromOne.take(address))
      const signedIn = await signIn(database.operator, request.body, clock.now())
      if (!signedIn) throw unauthorized('sign-in-failed', 'Username or password is wrong.')
      fromOne.giveBack(address)
      atOne.giveBack(guess)
      const { user, token } = signedIn
      setSessionCookie(reply, config.publicUrl, { token, seconds })
      reply.code(201).header('location', '/session')
      return describe(database.forBusiness(user.businessId, user.username), user) as never
    },
  )

  app.get(
    '/session',
    {
      config: { person: true },
      schema: { tags, summary: 'Who has signed in', response: { 200: Session } },
    },
    async ({ caller }) => {
      return describe(caller.db, { ...caller.person!, businessId: caller.businessId }) as never
    },
  )

  app.delete(
    '/session',
    {
      config: { person: true },
      schema: { tags, summary: 'Sign out', response: { 200: Session } },
    },
    async ({ caller }, reply) => {
      const person = { ...caller.person!, businessId: caller.businessId }
      const described = await describe(caller.db, person)
      await deleteSession(caller.db, caller.businessId, person.sessionId)
      credentials.forget()
      clearSessionCookie(reply, config.publicUrl)
      return described as never
    },
  )
}

async function describe(db: Db, user: KnownUser) {
  const { businessId, userId, username, role, professionalId, locationIdList } = user
  return {
    userId,
    username,
    role,
    functions: FUNCTIONS_OF_ROLE[role],
    professionalId,
    locationIdList,
    business: await findBusiness(db, businessId),
  }
}
