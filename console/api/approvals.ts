import { queryOptions } from '@tanstack/react-query'
import type { Approval } from '../../src/contract/approval.ts'
import { all, client, MAX_PAGE } from './client.ts'
import { cancelMessages } from './messages.ts'
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

/** The messages that wait for a decision, with the names of their clients. */
export const heldMessagesQuery = ({ approvalId }: Approval) =>
  queryOptions({
    queryKey: ['approvals', 'messages', approvalId],
    queryFn: ({ signal }) =>
      all(client.listEventTriggers({ approvalId, expand: 'names', limit: MAX_PAGE }, { signal })),
  })

const DECISIONS = { release: 'releaseApproval', cancel: 'cancelApproval' } as const
export type Decision = keyof typeof DECISIONS

/** Sends the mails that wait, except those of some messages, or cancels all of them. */
export async function decideApproval(
  decision: Decision,
  { approvalId }: Approval,
  leftOut: number[] = [],
) {
  try {
    // Cancelled first: if that fails, nothing is sent.
    if (leftOut.length > 0) await cancelMessages(leftOut)
    await client[DECISIONS[decision]]({ approvalId }, { keepalive: true })
  } finally {
    // Another user may have decided: the lists are read again in any case.
    await Promise.all(
      ['approvals', 'overview', 'messages'].map((name) =>
        queryClient.invalidateQueries({ queryKey: [name] }),
      ),
    )
  }
}
