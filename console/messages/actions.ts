import { useTranslation, type Translate } from '../texts/translate.ts'
import type { EmailStatus } from '../../src/contract/email.ts'
import { decideApproval, type Approval, type Decision } from '../api/approvals.ts'
import {
  cancelMessages,
  fireMessages,
  sendEmailsAgain,
  type BulkResult,
  type Message,
} from '../api/messages.ts'
import { useSession } from '../api/session.ts'
import { holdAction } from '../components/held-actions.tsx'
import { messageOf } from '../components/error-message.tsx'

export type ActionName = 'sendAgain' | 'cancel' | 'fire'

/** The properties of a message that an action needs. */
export type Actionable = Pick<
  Message,
  'eventTriggerId' | 'status' | 'clientName' | 'templateName' | 'description' | 'objectTime'
> & { emailIds: number[] }

export const actionableOf = (message: Message): Actionable => ({
  ...message,
  emailIds: message.email && hasEnded(message.email) ? [message.email.emailId] : [],
})

const IN_QUEUE = ['QUEUED', 'SENDING', 'RETRYING', 'UNCERTAIN'] as const
export type QueueStatus = (typeof IN_QUEUE)[number]

/** A mail in the queue is sent anyway: sent again, the client would get it twice. */
export const hasEnded = ({ status }: { status: EmailStatus }) =>
  !IN_QUEUE.some((queued) => queued === status)

const CALLS: Record<ActionName, (messages: Actionable[]) => Promise<BulkResult>> = {
  sendAgain: (messages) => sendEmailsAgain(messages.flatMap(({ emailIds }) => emailIds)),
  cancel: (messages) => cancelMessages(messages.map((message) => message.eventTriggerId)),
  fire: (messages) => fireMessages(messages.map((message) => message.eventTriggerId)),
}

/** The messages that an action applies to. */
export const actionableBy = (name: ActionName, messages: Actionable[]) =>
  name === 'sendAgain'
    ? messages.filter(({ emailIds }) => emailIds.length > 0)
    : messages.filter(({ status }) => status === 'SCHEDULED')

/** The actions that the user's role allows. */
export function useAllowedActions(): ActionName[] {
  const { functions } = useSession()
  const allowed: ActionName[] = []
  if (functions.includes('SEND_EMAILS')) allowed.push('sendAgain')
  if (functions.includes('EDIT_SCHEDULE')) allowed.push('fire', 'cancel')
  return allowed
}

/** Warns of mails about visits that are over. */
function textOf(name: ActionName, messages: Actionable[], t: Translate) {
  const text = actionInWords(name, messages, t)
  if (name === 'cancel') return text
  const over = messages.filter(({ objectTime }) => objectTime != null && objectTime < Date.now())
  return over.length === 0 ? text : `${text}. ${t('held.over', { count: over.length })}`
}

/** One message is named: "Cancelling “How was it?” for Jack Smith". */
function actionInWords(name: ActionName, messages: Actionable[], t: Translate) {
  const [message] = messages
  const who = message?.clientName
  const what = message?.templateName ?? message?.description
  if (messages.length !== 1 || !who || !what) return t(`held.${name}`, { count: messages.length })
  return t(`held.one.${name}`, { who, what })
}

/** Runs an action on messages after a few seconds in which the user can undo it. */
export function useHeldAction() {
  const { t } = useTranslation()
  return (name: ActionName, messages: Actionable[]) =>
    holdAction({
      text: textOf(name, messages, t),
      run: async () => {
        try {
          const { done, refused, approvalId } = await CALLS[name](messages)
          const words: string[] = []
          if (approvalId !== undefined) words.push(t('held.approval'))
          if (done.length > 0) words.push(t(`held.done.${name}`, { count: done.length }))
          if (refused.length > 0) {
            const reason = refused[0]!.detail
            words.push(t('held.refused', { count: refused.length, reason }))
          }
          return words.join('. ')
        } catch (error) {
          return t('held.failed', { reason: messageOf(error, t) })
        }
      },
    })
}

/** Decides about mails that wait for approval, after a few seconds in which the user can undo it. */
export function useHeldDecision() {
  const { t } = useTranslation()
  return (decision: Decision, approval: Approval, leftOut: number[] = []) => {
    const count = approval.mails - leftOut.length
    holdAction({
      text: t(`held.${decision}`, { count }),
      run: async () => {
        try {
          await decideApproval(decision, approval, leftOut)
          return t(`held.done.${decision}`, { count })
        } catch (error) {
          return t('held.failed', { reason: messageOf(error, t) })
        }
      },
    })
  }
}
