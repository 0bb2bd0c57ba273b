import { queryOptions } from '@tanstack/react-query'
import type { Approval } from '../../src/contract/approval.ts'
import { all, client, MAX_PAGE } from './client.ts'
import type { Message } from './messages.ts'
import { queryClient } from './query-client.ts'

export type { Approval }

/** More decisions than this are not shown at once. */
const MAX_SHOWN = 20

/** Imports and bulk calls whose mails wait for a decision. */
export const waitingApprovalsQuery = queryOptions({
  queryKey: ['approvals'],
  refetchInterval: 30_000,
  queryFn: ({ signal }) =>
    client.listApprovals({ status: 'WAITING', limit: MAX_SHOWN }, { signal }),
})

/** A message that waits for a decision; if it is sent again, its mail. */
export type HeldMessage = Pick<
  Message,
  'description' | 'templateName' | 'clientName' | 'objectName' | 'objectTime' | 'scheduledTime'
> & { id: number }

/** The messages that wait for a decision, with the names of their clients. */
export const heldMessagesQuery = ({ approvalId, source }: Approval) =>
  queryOptions({
    queryKey: ['approvals', 'messages', approvalId],
    queryFn: async ({ signal }): Promise<HeldMessage[]> => {
      const page = { approvalId, expand: 'names', limit: MAX_PAGE } as const
      if (source === 'RESEND') {
        const mails = await all(client.listEmails(page, { signal }))
        return mails.map((mail) => ({ ...mail, id: mail.emailId, scheduledTime: 0 }))
      }
      const messages = await all(client.listEventTriggers(page, { signal }))
      return messages.map((message) => ({ ...message, id: message.eventTriggerId }))
    },
  })

export type Decision = 'release' | 'cancel'

/** Sends the messages that wait, except some of them, or cancels all of them. */
export async function decideApproval(
  decision: Decision,
  { approvalId }: Approval,
  leftOut: number[] = [],
) {
  try {
    const options = { keepalive: true }
    if (decision === 'cancel') await client.cancelApproval({ approvalId }, options)
    else await client.releaseApproval({ approvalId, except: leftOut }, options)
  } finally {
    // Another user may have decided: the lists are read again in any case.
    await Promise.all(
      ['approvals', 'overview', 'messages'].map((name) =>
        queryClient.invalidateQueries({ queryKey: [name] }),
      ),
    )
  }
}
