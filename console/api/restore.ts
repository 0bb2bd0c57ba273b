import { queryOptions } from '@tanstack/react-query'
import type { PastChoice } from '../../src/contract/restore.ts'
import { client } from './client.ts'
import { queryClient } from './query-client.ts'
import { asOperator } from './operator-key.ts'

/** Whether the database was restored, and what a release would send: of one business, or of all. */
export const restoreQuery = (by: 'business' | 'operator') =>
  queryOptions({
    queryKey: [by === 'operator' ? 'operator' : 'restore', 'restore'],
    queryFn: () => client.getRestoreState({}, by === 'operator' ? asOperator() : {}),
  })

export async function release(past: PastChoice) {
  await client.releaseRestore({ past }, asOperator())
  await queryClient.invalidateQueries()
}
