import { Type } from 'typebox'
import { about, Named } from '../../contract/schema.ts'
import { Limiter } from '../../auth/limits.ts'
import { hashPassword } from '../../auth/passwords.ts'
import { digest, makeSecret } from '../../auth/secrets.ts'
import { readInvitedUser, saveUser } from '../../auth/users.ts'
import { MAX_LINKS_PER_BUSINESS, type ExceededLimit } from '../../automation/account-mail-limits.ts'
import { sendAccountMail } from '../../automation/account-mails.ts'
import { parseAddress } from '../../contract/addresses.ts'
import { password, PasswordLink, User, UserInvite } from '../../contract/credentials.ts'
import type { PasswordLinkPurpose } from '../../contract/credentials.ts'
import { required } from '../../contract/fields.ts'
import type { Db } from '../../database/database.ts'
import { brokenConstraint } from '../../database/postgres-errors.ts'
import { fillText, textsFor } from '../../texts/texts.ts'
import { conflict, invalid, RequestError } from '../../errors.ts'
import { getBusiness } from '../../store/businesses.ts'
import {
  deletePasswordLink,
  deletePasswordLinksBefore,
  deletePasswordLinksOfUser,
  findPasswordLink,
  insertPasswordLink,
} from '../../store/password-links.ts'
import { deleteSessionsOfUser } from '../../store/sessions.ts'
import {
  listLiveUsersByAddress,
  lockUser,
  updateUser,
  type UserFields,
  type UserRow,
} from '../../store/users.ts'
import { refuseSuppressed, sendingOf } from './emails.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce, created, ok } from '../server/idempotency.ts'
import { networkOf, refuseTooMany } from '../server/rate-limit.ts'
import { toWire } from '../server/serialize.ts'
import { inOrder, operation, type Routes, type Services } from '../server/services.ts'

const tags = ['Authentication']

/** The texts in `src/texts/` state the same times. */
const LIFETIME: Record<PasswordLinkPurpose, Temporal.Duration> = {
  INVITATION: Temporal.Duration.from({ hours: 7 * 24 }),
  FORGOTTEN: Temporal.Duration.from({ hours: 1 }),
}

/** Enough for a person, too few to flood a mailbox. */
const REQUESTS_BY_CLIENT = { perSecond: 1 / 30, burst: 10 }
const EMAILS_BY_RECIPIENT = { perSecond: 1 / 1_200, burst: 3 }

const Accepted = Type.Literal(true, {
  description: 'Always true, so that the answer does not reveal which addresses are known.',
})
const Token = Type.String({ minLength: 1, maxLength: 200 })

/** Invitations and forgotten passwords: see docs/decisions/0006-password-links.md. */
export const passwordLinks: Routes = inOrder(() => [
  postInvitation,
  postForgottenPassword,
  postReadLink,
  postNewPassword,
])

const postInvitation: Routes = async (app, services) => {
  const { clock, credentials } = services
  app.post(
    '/user/invite',
    operation('inviteUser', 'Invite a person by email', {
      config: {
        scope: 'admin',
        function: 'MANAGE_USERS',
        idempotent: true,
        etag: true,
        readsBody: true,
      },
      tags,
      description:
        'Creates the person, or changes the one with this `userId`, and sends a link with which they ' +
        'choose their password. The link works once, within 7 days; earlier links stop working. A ' +
        'business, a caller and an address have a limit per day; above it the answer is 429. 409 if ' +
        'the address bounced or complained.',
      body: UserInvite,
      response: { 200: User, 201: User },
    }),
    async (request, reply) => {
      const { db, businessId, user: inviter, account } = request.caller
      const input = readInvitedUser(request.body)
      const now = clock.now()
      const saving = {
        businessId,
        user: inviter,
        role: account?.role ?? null,
        now,
        onCurrent: (current: object) => requireMatch(request, current),
      }
      try {
        return await answerOnce(db, request, reply, now, async (tx) => {
          const { user, before } = await saveUser(tx, input, saving)
          await refuseSuppressed(tx, businessId, user.emailAddress!)
          const exceeded = await sendPasswordLink(tx, services, user, {
            purpose: 'INVITATION',
            inviter,
            now,
          })
          if (exceeded) throw tooManyInvitations(exceeded, user.emailAddress!, now)
          return before ? ok(user) : created(user, `/user/${user.userId}`)
        })
      } catch (error) {
        if (brokenConstraint(error) === 'user_account_username') {
          throw conflict('The username is taken. Choose another one.')
        }
        throw error
      } finally {
        credentials.forget()
      }
    },
  )
}

const postForgottenPassword: Routes = async (app, services) => {
  const { clock } = services
  const byClient = new Limiter(REQUESTS_BY_CLIENT, clock)
  const byRecipient = new Limiter(EMAILS_BY_RECIPIENT, clock)
  const running = new Set<Promise<void>>()
  app.addHook('onClose', async () => void (await Promise.all(running)))
  app.post(
    '/user/password/forgotten',
    operation('requestPasswordLink', 'Request a link to set a forgotten password', {
      config: { open: true },
      tags,
      description:
        'Every person with this address gets a link that works once, within an hour. The answer is ' +
        'the same if no person has it, and is sent before the search starts.',
      body: Named(
        'PasswordLinkRequest',
        { emailAddress: Type.String({ maxLength: 254 }) },
        { emailAddress: 'anna@praxis.example' },
      ),
      response: { 202: Named('PasswordLinkAccepted', { accepted: Accepted }) },
    }),
    async (request, reply) => {
      refuseTooMany(byClient.take(networkOf(request)))
      const emailAddress = parseAddress(request.body.emailAddress)
      if (emailAddress === undefined) {
        throw invalid([{ pointer: '/emailAddress', detail: 'must be one plain address' }])
      }
      // No 429: it would lock out the owner of the address, and the earlier links still work.
      if (byRecipient.take(emailAddress.toLowerCase()).allowed) {
        const work = sendForgottenLinks(services, emailAddress)
          .catch((error: unknown) => logFailedLink(services, error))
          .finally(() => running.delete(work))
        running.add(work)
      }
      return reply.code(202).send({ accepted: true })
    },
  )
}

const postReadLink: Routes = async (app, { database, clock }) => {
  app.post(
    '/user/password/link',
    operation('readPasswordLink', 'Read for whom a link sets the password', {
      config: { open: true },
      tags,
      description: '410 if the link has expired, was used before, or never existed.',
      body: Named(
        'PasswordLinkToken',
        { token: about(Token, 'The token of the link.') },
        { token: 'bwl_3fJ9aQ…' },
      ),
      response: { 200: PasswordLink },
    }),
    async ({ body }) => {
      const link = await findPasswordLink(database.operator, digest(body.token), clock.now())
      if (!link) throw noSuchLink()
      const { username, businessName, purpose, expiresTime } = link
      return toWire({ username, businessName, purpose, expiresTime })
    },
  )
}

const postNewPassword: Routes = async (app, { database, clock, credentials }) => {
  app.post(
    '/user/password/set',
    operation('setPasswordByLink', 'Set a password with a link', {
      config: { open: true },
      tags,
      description: 'Ends all sessions of the person; their other links stop working.',
      body: Named(
        'NewPasswordBody',
        {
          token: about(Token, 'The token of the link.'),
          newPassword: required(password()).schema,
        },
        { token: 'bwl_3fJ9aQ…', newPassword: 'a longer new one' },
      ),
      response: { 200: Named('PasswordSet', { username: Type.String() }) },
    }),
    async ({ body }) => {
      const now = clock.now()
      const tokenHash = digest(body.token)
      const link = await findPasswordLink(database.operator, tokenHash, now)
      if (!link) throw noSuchLink()
      const { businessId, userId, username } = link
      const passwordHash = await hashPassword(body.newPassword, { businessId })
      await database.forBusiness(businessId, username).transaction(async (tx) => {
        const user = await lockUser(tx, businessId, userId)
        if (!user?.active || !(await deletePasswordLink(tx, tokenHash))) throw noSuchLink()
        await updateUser(
          tx,
          user,
          { ...(user as UserFields), passwordHash },
          { user: username, now },
        )
        await deletePasswordLinksOfUser(tx, businessId, userId)
        await deleteSessionsOfUser(tx, businessId, userId)
      })
      credentials.forget()
      return { username }
    },
  )
}

async function sendForgottenLinks(services: Services, emailAddress: string) {
  const { clock, database, log } = services
  const now = clock.now()
  await deletePasswordLinksBefore(database.operator, now)
  const users = await listLiveUsersByAddress(
    database.operator,
    emailAddress,
    MAX_LINKS_PER_BUSINESS,
  )
  for (const { businessId, userId, username } of users) {
    const send = async (tx: Db) => {
      const user = await lockUser(tx, businessId, userId)
      const hasAddress = user?.emailAddress?.toLowerCase() === emailAddress.toLowerCase()
      if (!user?.active || !hasAddress) return
      const exceeded = await sendPasswordLink(tx, services, user, { purpose: 'FORGOTTEN', now })
      if (exceeded) {
        log.warn({ businessId, userId, limit: exceeded.of }, 'a limit refused a password link')
      }
    }
    // A failure in one business must not keep the link of another from its owner.
    await database
      .forBusiness(businessId, username)
      .transaction(send)
      .catch((error: unknown) => logFailedLink(services, error))
  }
}

const logFailedLink = ({ log }: Services, error: unknown) =>
  log.error({ err: error }, 'sending a password link failed')

const noSuchLink = () =>
  new RequestError(410, 'This link has expired or was used before. Ask for a new one.')

function tooManyInvitations(
  { of, max, hours, until }: ExceededLimit,
  to: string,
  now: Temporal.Instant,
) {
  const who = {
    business: 'This business has sent',
    sender: 'You have sent',
    recipient: `${to} got`,
  }
  const seconds = Math.ceil(now.until(until).total('seconds'))
  const time = until.round({ smallestUnit: 'second', roundingMode: 'ceil' })
  return new RequestError(
    429,
    `${who[of]} ${max} invitations within ${hours} hours, which is the limit. Try again at ${time}.`,
    undefined,
    { 'retry-after': String(seconds) },
    'too-many-mails',
  )
}

type LinkOptions = { purpose: PasswordLinkPurpose; inviter?: string; now: Temporal.Instant }

/**
 * Stores the hash of a new link and queues the email with it. A person has one valid link at a time.
 * Returns the limit that refuses the mail; the earlier link works on then.
 */
async function sendPasswordLink(
  tx: Db,
  services: Services,
  { businessId, userId, username, emailAddress }: UserRow,
  { purpose, inviter, now }: LinkOptions,
) {
  const token = makeSecret('bwl_')
  const { name, language } = await getBusiness(tx, businessId)
  const words = textsFor(language).mail.passwordMail
  const isInvitation = purpose === 'INVITATION'
  const values = { business: name, user: username, inviter: inviter ?? '' }
  const fill = (text: string) => fillText(text, values)
  const before = isInvitation ? [words.invites, words.username] : [words.requested, words.choose]
  const sent = await sendAccountMail(
    tx,
    {
      businessId,
      to: emailAddress!,
      subject: fill(isInvitation ? words.inviteSubject : words.resetSubject),
      before: before.map(fill),
      link: `${services.config.publicUrl}/console/set-password?token=${token}`,
      after: [words.worksOnce[purpose], words.ignore],
      purpose,
      sender: inviter ?? null,
    },
    sendingOf(services, now),
  )
  if ('exceeded' in sent) return sent.exceeded
  await deletePasswordLinksOfUser(tx, businessId, userId)
  const { emailId } = sent
  const link = { businessId, userId, emailId, purpose, tokenHash: digest(token) }
  await insertPasswordLink(tx, { ...link, expiresTime: now.add(LIFETIME[purpose]) })
  return undefined
}
