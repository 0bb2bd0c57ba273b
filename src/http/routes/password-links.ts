import { Type } from 'typebox'
import { Limiter } from '../../auth/limits.ts'
import { hashPassword } from '../../auth/passwords.ts'
import { digest, makeSecret } from '../../auth/secrets.ts'
import { readInvitedUser, saveUser } from '../../auth/users.ts'
import { sendAccountMail } from '../../automation/account-mails.ts'
import { parseAddress } from '../../contract/addresses.ts'
import { password, PasswordLink, User, UserInvite } from '../../contract/credentials.ts'
import type { PasswordLinkPurpose } from '../../contract/credentials.ts'
import { required } from '../../contract/fields.ts'
import { readFields } from '../../contract/read-fields.ts'
import type { Db } from '../../database/database.ts'
import { brokenConstraint } from '../../database/refusals.ts'
import { conflict, invalid, RequestError } from '../../errors.ts'
import { findBusiness } from '../../store/businesses.ts'
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
import { sendingOf } from './emails.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce, created, ok } from '../server/idempotency.ts'
import { addressOf, refuseTooMany } from '../server/rate-limit.ts'
import type { Routes, Services } from '../server/services.ts'

const tags = ['Who is asking']

const LIFETIME: Record<PasswordLinkPurpose, { duration: Temporal.Duration; words: string }> = {
  INVITATION: { duration: Temporal.Duration.from({ hours: 7 * 24 }), words: 'within 7 days' },
  FORGOTTEN: { duration: Temporal.Duration.from({ hours: 1 }), words: 'within an hour' },
}

/** From one place, and about one address: enough for a person, too few to flood a mailbox. */
const REQUESTS_FROM_ONE = { perSecond: 1 / 30, burst: 10 }
const MAILS_TO_ONE = { perSecond: 1 / 1_200, burst: 3 }

/** One address may belong to accounts of several businesses. */
const MAX_ACCOUNTS = 10

const Token = Type.String({ minLength: 1, maxLength: 200 })

/** Invitations and forgotten passwords: see docs/decisions/0187-password-links.md. */
export const passwordLinks: Routes = async (app, services) => {
  const { clock, credentials, database, log } = services
  const fromOne = new Limiter(REQUESTS_FROM_ONE, clock)
  const toOne = new Limiter(MAILS_TO_ONE, clock)
  const mailing = new Set<Promise<void>>()
  app.addHook('onClose', async () => void (await Promise.all(mailing)))

  app.post(
    '/user/invite',
    {
      config: { scope: 'admin', function: 'MANAGE_USERS', idempotent: true, etag: true },
      attachValidation: true,
      schema: {
        tags,
        summary: 'Invite a person by mail',
        description:
          'Makes the person, or changes the one that `userId` names, and mails a link with which they ' +
          'choose their password. The link works once, within 7 days; an earlier one stops working.',
        body: UserInvite,
        response: { 200: User, 201: User },
      },
    },
    async (request, reply) => {
      const { db, businessId, user: inviter, account } = request.caller
      const input = await readInvitedUser(request.body)
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
          refuseUninvitable(user)
          await mailPasswordLink(tx, services, user, { purpose: 'INVITATION', inviter, now })
          return before ? ok(user) : created(user, `/user/${user.userId}`)
        })
      } catch (error) {
        if (brokenConstraint(error) === 'user_account_username') {
          throw conflict('The username is taken.')
        }
        throw error
      } finally {
        credentials.forget()
      }
    },
  )

  app.post(
    '/user/password/forgotten',
    {
      config: { open: true },
      schema: {
        tags,
        summary: 'Mail a link to people who forgot their password',
        description:
          'Every person with this address gets a link that works once, within an hour. The answer is ' +
          'the same if there is nobody, and comes before anything is looked up.',
        body: Type.Object(
          { emailAddress: Type.String({ maxLength: 254 }) },
          { examples: [{ emailAddress: 'anna@praxis.example' }] },
        ),
        response: { 202: Type.Object({ accepted: Type.Literal(true) }) },
      },
    },
    async (request, reply) => {
      refuseTooMany(fromOne.take(addressOf(request)))
      const emailAddress = parseAddress(request.body.emailAddress)
      if (emailAddress === undefined) {
        throw invalid([{ pointer: '/emailAddress', detail: 'must be one plain address' }])
      }
      // Not a refusal: the earlier links still work, and 429 would stop the owner of the address.
      if (toOne.take(emailAddress.toLowerCase()).allowed) {
        const work = mailForgotten(emailAddress)
          .catch((error: unknown) => log.error({ err: error }, 'a password link was not mailed'))
          .finally(() => mailing.delete(work))
        mailing.add(work)
      }
      return reply.code(202).send({ accepted: true })
    },
  )

  app.post(
    '/user/password/link',
    {
      config: { open: true },
      schema: {
        tags,
        summary: 'Whose password a link sets',
        description: '410 if the link has expired, was used before, or never existed.',
        body: Type.Object({ token: Token }, { examples: [{ token: 'bwl_3fJ9aQ…' }] }),
        response: { 200: PasswordLink },
      },
    },
    async ({ body }) => {
      const link = await findPasswordLink(database.operator, digest(body.token), clock.now())
      if (!link) throw noSuchLink()
      const { username, businessName, purpose, expiresTime } = link
      return { username, businessName, purpose, expiresTime } as never
    },
  )

  app.post(
    '/user/password/set',
    {
      config: { open: true },
      schema: {
        tags,
        summary: 'Choose a password with a link',
        description: 'Ends every session of the person, and every other link to their password.',
        body: Type.Object(
          { token: Token, newPassword: Type.String() },
          { examples: [{ token: 'bwl_3fJ9aQ…', newPassword: 'a longer new one' }] },
        ),
        response: { 200: Type.Object({ username: Type.String() }) },
      },
    },
    async ({ body }) => {
      const fields = { newPassword: required(password()) }
      const { values, faults } = readFields<{ newPassword: string }>(fields, body)
      if (faults.length > 0) throw invalid(faults)
      const now = clock.now()
      const tokenHash = digest(body.token)
      const link = await findPasswordLink(database.operator, tokenHash, now)
      if (!link) throw noSuchLink()
      const { businessId, userId, username } = link
      const passwordHash = await hashPassword(values.newPassword)
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

  async function mailForgotten(emailAddress: string) {
    const now = clock.now()
    await deletePasswordLinksBefore(database.operator, now)
    for (const { businessId, userId, username } of await listLiveUsersByAddress(
      database.operator,
      emailAddress,
      MAX_ACCOUNTS,
    )) {
      await database.forBusiness(businessId, username).transaction(async (tx) => {
        const user = await lockUser(tx, businessId, userId)
        const isStillTheirs = user?.emailAddress?.toLowerCase() === emailAddress.toLowerCase()
        if (!user?.active || !isStillTheirs) return
        await mailPasswordLink(tx, services, user, { purpose: 'FORGOTTEN', now })
      })
    }
  }
}

const noSuchLink = () =>
  new RequestError(410, 'This link has expired or was used before. Ask for a new one.')

function refuseUninvitable({ emailAddress, active }: UserRow) {
  const faults = []
  if (emailAddress === null) {
    faults.push({ pointer: '/emailAddress', detail: 'is needed: the invitation is mailed there' })
  }
  if (!active) faults.push({ pointer: '/active', detail: 'must be true for an invitation' })
  if (faults.length > 0) throw invalid(faults)
}

type Mailing = { purpose: PasswordLinkPurpose; inviter?: string; now: Temporal.Instant }

/** Stores the hash of a new link and queues the mail that holds it. A person has one link at a time. */
async function mailPasswordLink(
  tx: Db,
  services: Services,
  { businessId, userId, username, emailAddress }: UserRow,
  { purpose, inviter, now }: Mailing,
) {
  const token = makeSecret('bwl_')
  const { duration, words } = LIFETIME[purpose]
  const { name } = (await findBusiness(tx, businessId))!
  const before =
    purpose === 'INVITATION'
      ? [
          `${inviter} invites you to use Bellwether for ${name}.`,
          `Your username is ${username}. Choose a password:`,
        ]
      : [
          `Somebody asked for a new password for ${username} at ${name}.`,
          'If that was you, choose a new one:',
        ]
  const after = [
    `The link works once, ${words}.`,
    'If you did not expect this mail, ignore it: nothing changes.',
  ]
  const emailId = await sendAccountMail(
    tx,
    {
      businessId,
      to: emailAddress!,
      subject: purpose === 'INVITATION' ? `Your account at ${name}` : `A new password for ${name}`,
      before,
      link: `${services.config.publicUrl}/console/set-password?token=${token}`,
      after,
    },
    sendingOf(services, now),
  )
  await deletePasswordLinksOfUser(tx, businessId, userId)
  const link = { businessId, userId, emailId, purpose, tokenHash: digest(token) }
  await insertPasswordLink(tx, { ...link, expiresTime: now.add(duration) })
}
