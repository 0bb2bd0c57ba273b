import type { ListedEmail } from '../api/mail.ts'
import { meaningOf, type Attempt } from '../messages/meaning.ts'

type Answered = Pick<ListedEmail, 'status' | 'statusReason' | 'to' | 'createdDate' | 'attempts'>

/** Mails with the same status whose last answers have the same codes and the same meaning. */
export type AnswerGroup = {
  key: string
  status: ListedEmail['status']
  /** The newest of the answers. */
  attempt: Attempt
  mails: number
  addresses: number
  lastTime: number
}

/** Groups mails by their last answer, the most frequent first. */
export function groupAnswers(emails: Answered[]): AnswerGroup[] {
  const answered = emails.map((email) => ({ email, attempt: lastAnswerOf(email) }))
  const groups = Map.groupBy(
    answered,
    ({ email, attempt }) => `${email.status} ${codesOf(attempt)} ${meaningOf(attempt)}`,
  )
  return [...groups]
    .map(([key, members]) => {
      const newest = members.reduce((a, b) => (b.attempt.time > a.attempt.time ? b : a))
      return {
        key,
        status: newest.email.status,
        attempt: newest.attempt,
        mails: members.length,
        addresses: new Set(members.map(({ email }) => email.to.toLowerCase())).size,
        lastTime: newest.attempt.time,
      }
    })
    .toSorted((a, b) => b.mails - a.mails || b.lastTime - a.lastTime)
}

/** A mail that ended without an attempt has only a reason. */
function lastAnswerOf({ attempts, statusReason, createdDate }: Answered) {
  return attempts.at(-1) ?? { phase: '', reply: statusReason ?? '', time: createdDate }
}

/** The reply code and the enhanced status code (RFC 3463): "550 5.1.1" */
const codesOf = ({ reply }: Attempt) => {
  const [, code = '', enhanced = ''] = /^(\d{3})(?:[ -](\d\.\d{1,3}\.\d{1,3})\b)?/.exec(reply) ?? []
  return `${code} ${enhanced}`
}
