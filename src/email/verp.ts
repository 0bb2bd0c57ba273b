import { createHmac, timingSafeEqual } from 'node:crypto'
import { randomPartOf } from './message.ts'

export type BouncedMail = { businessId: number; emailId: number; messageId: string }

/**
 * The envelope sender of one mail (VERP), so that a bounce in any format identifies its mail.
 * Only lower case: some mail servers change the case of an address.
 */
export const bounceAddress = (domain: string, secret: string, mail: BouncedMail) =>
  `bounce+${mail.businessId.toString(36)}-${mail.emailId.toString(36)}-${sealOf(mail, secret)}@${domain}`

/** The content of a bounce address; `isBounceSealOf` checks whether it is genuine. */
type BounceToken = { businessId: number; emailId: number; seal: string }

/** Undefined if it is not a bounce address of this domain. */
export function readBounceAddress(address: string, domain: string): BounceToken | undefined {
  const [, businessId, emailId, seal, host] = BOUNCE_ADDRESS.exec(address.toLowerCase()) ?? []
  if (!businessId || !emailId || !seal || host !== domain) return undefined
  const token = { businessId: parseInt(businessId, 36), emailId: parseInt(emailId, 36), seal }
  const isSafe = Number.isSafeInteger(token.businessId) && Number.isSafeInteger(token.emailId)
  return isSafe ? token : undefined
}

const BOUNCE_ADDRESS = /^bounce\+([0-9a-z]{1,11})-([0-9a-z]{1,11})-([0-9a-f]{20})@([a-z0-9.-]+)$/

/** Whether the seal was made for this mail by this installation. */
export const isBounceSealOf = (mail: BouncedMail, seal: string, secret: string) =>
  timingSafeEqual(Buffer.from(seal), Buffer.from(sealOf(mail, secret)))

/** Covers the random part of the Message-ID: ids are assigned again after a backup is restored. */
function sealOf({ businessId, emailId, messageId }: BouncedMail, secret: string) {
  const sealed = `bounce ${businessId}.${emailId} ${randomPartOf(messageId) ?? ''}`
  return createHmac('sha256', secret).update(sealed).digest('hex').slice(0, 20)
}
