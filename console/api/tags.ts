import { queryOptions } from '@tanstack/react-query'
import type { TagChangeResult, TagChangeWrite, TagValue } from '../../src/contract/tag.ts'
import { client } from './client.ts'
import { queryClient } from './query-client.ts'

export type { TagValue }

export const tagsQuery = queryOptions({
  queryKey: ['tags'],
  queryFn: ({ signal }): Promise<TagValue[]> => client.listTagValues({}, { signal }),
})

/** What a change would do; without a change nothing is asked. */
export const tagPlanQuery = (change: TagChangeWrite | undefined) =>
  queryOptions({
    queryKey: ['tag-plan', change],
    enabled: change !== undefined,
    staleTime: 0,
    queryFn: ({ signal }): Promise<TagChangeResult> => client.planTagChange(change!, { signal }),
  })

/** Repeats the request until no object is left that can be changed. */
export async function changeTag(change: TagChangeWrite) {
  let changed = 0
  try {
    for (;;) {
      const result = await client.changeTag(change)
      changed += result.changed
      if (result.isComplete || result.changed === 0) return { changed, refused: result.refused }
    }
  } finally {
    // Requests before a failed one have changed objects.
    await queryClient.invalidateQueries()
  }
}
