import { createHmac, timingSafeEqual } from 'node:crypto'
import { randomPartOf } from './message.ts'

export const ANSWERS = ['confirm', 'cancel', 'sign'] as const
export type ClientAnswer = (typeof ANSWERS)[number]

/** A mail with links that ask its recipient about an appointment, a class or a form. */
export type AskingMail = {
  businessId: number
  emailId: number
  messageId: string
  toAddress: string
  objectId: number
  /** A link is valid for this time only: the start of a visit, or the creation of a form. */
  startTime: Temporal.Instant
}

/** The links of one mail. They cannot be forged without the secret. */
export const answerLinks = (publicUrl: string, secret: string, mail: AskingMail) => ({
  confirm: linkOf(publicUrl, secret, mail, 'confirm'),
  cancel: linkOf(publicUrl, secret, mail, 'cancel'),
  sign: linkOf(publicUrl, secret, mail, 'sign'),
})

const linkOf = (publicUrl: string, secret: string, mail: AskingMail, answer: ClientAnswer) =>
  `${publicUrl.replace(/\/$/, '')}/answer/${nameOf({ ...mail, answer })}.${sealOf(mail, answer, secret)}`

/** The content of a link; `isSealed` checks whether it is genuine. */
export type AnswerLink = {
  answer: ClientAnswer
  businessId: number
  emailId: number
  startTime: Temporal.Instant
  seal: string
}

export function readAnswerLink(token: string): AnswerLink | undefined {
  const [, answer, businessId, emailId, start, seal] = LINK.exec(token) ?? []
  if (!answer || !businessId || !emailId || !start || !seal) return undefined
  const named = {
    answer: answer as ClientAnswer,
    businessId: Number(businessId),
    emailId: Number(emailId),
    startTime: Temporal.Instant.fromEpochMilliseconds(Number.parseInt(start, 36)),
  }
  return token.startsWith(`${nameOf(named)}.`) ? { ...named, seal } : undefined
}

/** Nine digits of base 36 reach the year 5188. */
const LINK = /^(confirm|cancel|sign)\.(\d{1,16})\.(\d{1,16})\.([0-9a-z]{1,9})\.([\w-]{22})$/

/** Whether the link was made for this mail by this installation. */
export const isSealed = (
  { answer, startTime, seal }: AnswerLink,
  mail: Omit<AskingMail, 'startTime'>,
  secret: string,
) => isSame(seal, sealOf({ ...mail, startTime }, answer, secret))

/** The text of a mail without the seals of its links: they cannot be used to answer. */
export const withoutAnswers = (text: string) =>
  text.replace(/(\/answer\/(?:confirm|cancel|sign)\.\d+\.\d+\.[0-9a-z]+)\.[\w-]{22}/g, '$1.…')

/** The token in the form of an answer page. A POST without it changes nothing. */
export const formTokenOf = (token: string, secret: string) => hmac(`answer form ${token}`, secret)

export const isFormToken = (given: string, token: string, secret: string) =>
  isSame(given, formTokenOf(token, secret))

type LinkName = Pick<AnswerLink, 'answer' | 'businessId' | 'emailId' | 'startTime'>

const nameOf = ({ answer, businessId, emailId, startTime }: LinkName) =>
  `${answer}.${businessId}.${emailId}.${startTime.epochMilliseconds.toString(36)}`

/**
 * Covers the random part of the Message-ID, because ids are assigned again after a backup is restored.
 * Also covers the recipient and the object, so that a link never acts for another one.
 */
function sealOf(mail: AskingMail, answer: ClientAnswer, secret: string) {
  const { messageId, objectId, toAddress } = mail
  const random = randomPartOf(messageId) ?? ''
  const name = nameOf({ ...mail, answer })
  return hmac(`answer ${name} ${random} ${objectId} ${toAddress.toLowerCase()}`, secret)
}

const hmac = (text: string, secret: string) =>
  createHmac('sha256', secret).update(text).digest('base64url').slice(0, 22)

function isSame(given: string, wanted: string) {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)]
  return one.length === other.length && timingSafeEqual(one, other)
}
