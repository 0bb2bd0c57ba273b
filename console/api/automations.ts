import { queryOptions } from '@tanstack/react-query'
import type { EventDefinition } from '../../src/contract/event-definition.ts'
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

/** Switches an automation on or off, which schedules or cancels its messages. */
export async function switchAutomation(automation: Automation, active: boolean) {
  const { eventDefnId } = automation
  await client.createEventDefinition({ eventDefnId, active })
  await queryClient.invalidateQueries({ queryKey: automationsQuery.queryKey })
}
