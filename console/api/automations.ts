import { queryOptions } from '@tanstack/react-query'
import type { EventAction } from '../../src/contract/event-action.ts'
import type { EventDefinition } from '../../src/contract/event-definition.ts'
import { queryClient } from './query-client.ts'
import { request, type Page } from './request.ts'

/** An automation is a definition with its actions and what it did. */
export type Automation = EventDefinition & { eventActions: EventAction[] | null }

export const automationsQuery = queryOptions({
  queryKey: ['automations'],
  refetchInterval: 60_000,
  queryFn: async ({ signal }): Promise<Automation[]> => {
    const items: Automation[] = []
    let cursor: string | undefined
    do {
      const page = await request<Page<Automation>>('/eventDefinition', {
        query: { active: 'all', expand: 'actions,activity', limit: 500, cursor },
        signal,
      })
      items.push(...page.items)
      cursor = page.nextCursor ?? undefined
    } while (cursor)
    return items
  },
})

/** Switches an automation on or off; pending messages are called off or scheduled with it. */
export async function switchAutomation(automation: Automation, active: boolean) {
  const { eventDefnId } = automation
  await request('/eventDefinition', { method: 'POST', body: { eventDefnId, active } })
  await queryClient.invalidateQueries({ queryKey: automationsQuery.queryKey })
}
