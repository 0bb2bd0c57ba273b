import { queryOptions } from '@tanstack/react-query'
import type { EventDefinition } from '../../src/contract/event-definition.ts'
import { storedOf } from '../records/kind.ts'
import { all, client, MAX_PAGE } from './client.ts'
import { queryClient } from './query-client.ts'

/** An automation is a definition with its actions and its activity. */
export type Automation = EventDefinition

export const automationsQuery = queryOptions({
  queryKey: ['automations'],
  refetchInterval: 60_000,
  queryFn: ({ signal }): Promise<Automation[]> =>
    all(
      client.listEventDefinitions(
        { active: 'all', expand: 'actions,activity', limit: MAX_PAGE },
        { signal },
      ),
    ),
})

/** Switches an automation on or off, unless it is not the version of the list any more. */
export async function switchAutomation({ eventDefnId, version }: Automation, active: boolean) {
  const { item, etag } = await storedOf(
    client.getEventDefinition({ eventDefinitionId: eventDefnId, active: 'all' }),
  )
  // No stored version has this name: the service refuses the change.
  const ifMatch = item.version === version ? etag : '"changed"'
  await client.createEventDefinition({ eventDefnId, active }, { ifMatch })
  await queryClient.invalidateQueries({ queryKey: automationsQuery.queryKey })
}
