import { queryOptions } from '@tanstack/react-query'
import type { Approval } from '../../src/contract/approval.ts'
import { client } from './client.ts'
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

const DECISIONS = { release: 'releaseApproval', cancel: 'cancelApproval' } as const
export type Decision = keyof typeof DECISIONS

/** Sends the mails that wait, or cancels them. */
export async function decideApproval(decision: Decision, { approvalId }: Approval) {
  try {
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
