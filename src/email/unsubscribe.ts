import { createHmac, timingSafeEqual } from 'node:crypto'

/** Which mail a reader wants no more of its kind. */
export type UnsubscribedMail = { businessId: number; emailId: number }

/** The link of one mail. Nobody can make one for a mail that was not sent to him. */
export const unsubscribeLink = (publicUrl: string, secret: string, mail: UnsubscribedMail) =>
  `${publicUrl.replace(/\/$/, '')}/unsubscribe/${nameOf(mail)}.${sealOf(nameOf(mail), secret)}`

/** The mail a link was made for, or undefined where it was not made by us. */
export function readUnsubscribe(token: string, secret: string): UnsubscribedMail | undefined {
  const [, businessId, emailId, seal] = /^(\d{1,16})\.(\d{1,16})\.([\w-]{22})$/.exec(token) ?? []
  if (!businessId || !emailId || !seal) return undefined
  const mail = { businessId: Number(businessId), emailId: Number(emailId) }
  const expected = Buffer.from(sealOf(nameOf(mail), secret))
  return timingSafeEqual(Buffer.from(seal), expected) ? mail : undefined
}

const nameOf = ({ businessId, emailId }: UnsubscribedMail) => `${businessId}.${emailId}`

const sealOf = (name: string, secret: string) =>
  createHmac('sha256', secret).update(`unsubscribe ${name}`).digest('base64url').slice(0, 22)
