import { createHmac, timingSafeEqual } from 'node:crypto'
import { randomPartOf } from './message.ts'

export type UnsubscribedMail = { businessId: number; emailId: number; messageId: string }

export const unsubscribeLink = (publicUrl: string, secret: string, mail: UnsubscribedMail) =>
  linkTo('unsubscribe', publicUrl, secret, mail)

export const calendarLink = (publicUrl: string, secret: string, mail: UnsubscribedMail) =>
  linkTo('addToCalendar', publicUrl, secret, mail)

/** The purpose of a link. A seal is valid for one purpose only. */
export type LinkPurpose = 'unsubscribe' | 'addToCalendar'

const linkTo = (purpose: LinkPurpose, publicUrl: string, secret: string, mail: UnsubscribedMail) =>
  `${publicUrl.replace(/\/$/, '')}/${purpose}/${nameOf(mail)}.${sealOf(purpose, mail, secret)}`

/** The content of a link; `isSealOf` checks whether it is genuine. */
type UnsubscribeToken = { businessId: number; emailId: number; seal: string }

export function readUnsubscribe(token: string): UnsubscribeToken | undefined {
  const [, businessId, emailId, seal] = /^(\d{1,16})\.(\d{1,16})\.([\w-]{22})$/.exec(token) ?? []
  if (!businessId || !emailId || !seal) return undefined
  const named = { businessId: Number(businessId), emailId: Number(emailId) }
  return token.startsWith(`${nameOf(named)}.`) ? { ...named, seal } : undefined
}

/** Whether the seal was made for this mail by this installation. */
export const isSealOf = (
  mail: UnsubscribedMail,
  seal: string,
  secret: string,
  purpose: LinkPurpose = 'unsubscribe',
) => timingSafeEqual(Buffer.from(seal), Buffer.from(sealOf(purpose, mail, secret)))

const nameOf = ({ businessId, emailId }: Omit<UnsubscribedMail, 'messageId'>) =>
  `${businessId}.${emailId}`

/**
 * Covers the random part of the Message-ID, because ids are assigned again after a backup is restored. If
 * the Message-ID has no random part, the seal covers only the ids.
 */
function sealOf(purpose: LinkPurpose, mail: UnsubscribedMail, secret: string) {
  const random = randomPartOf(mail.messageId)
  const sealed = `${purpose} ${nameOf(mail)}${random === undefined ? '' : ` ${random}`}`
  return createHmac('sha256', secret).update(sealed).digest('base64url').slice(0, 22)
}
