import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { InputOf } from '../../src/client/client.ts'
import type { EventAction } from '../../src/contract/event-action.ts'
import type { EventDefinition } from '../../src/contract/event-definition.ts'
import type { Change, ObjectType } from '../../src/contract/event-type.ts'
import { automationsQuery } from './automations.ts'
import { client } from './client.ts'
import { queryClient } from './query-client.ts'

/** Properties that older servers do not answer. */
type Definition = Omit<EventDefinition, 'changes' | 'onlyIfStatus'> & {
  changes?: Change[] | null | undefined
  onlyIfStatus?: string[] | null | undefined
}

export type AutomationBody = InputOf<'createEventDefinition'>

/** One automation with its version, for `If-Match`. */
export type StoredAutomation = {
  definition: Definition
  actions: EventAction[]
  etag: string | null
}

export const automationQuery = (eventDefnId: number) =>
  queryOptions({
    queryKey: ['automation', eventDefnId],
    // The editor's copy must not change while the user edits; saving detects conflicts.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: ({ signal }) => readAutomation(eventDefnId, signal),
  })

export async function readAutomation(
  eventDefnId: number,
  signal?: AbortSignal,
): Promise<StoredAutomation> {
  const [{ body: definition, response }, { items }] = await Promise.all([
    client
      .getEventDefinition({ eventDefinitionId: eventDefnId, active: 'all' }, { signal })
      .withResponse(),
    client.listEventDefinitions({ active: 'all', eventDefnId, expand: 'actions' }, { signal }),
  ])
  const etag = response.headers.get('etag')
  return { definition, actions: items[0]?.eventActions ?? [], etag }
}

/** Saves an automation. A stale `etag` is answered with 412. */
export async function saveAutomation(
  body: AutomationBody,
  etag: string | null,
): Promise<StoredAutomation> {
  const saved = await client.createEventDefinition(body, { ifMatch: etag })
  const stored = await readAutomation(saved.eventDefnId)
  queryClient.setQueryData(automationQuery(saved.eventDefnId).queryKey, stored)
  void queryClient.invalidateQueries({ queryKey: automationsQuery.queryKey })
  void queryClient.invalidateQueries({ queryKey: ['plan'] })
  void queryClient.invalidateQueries({ queryKey: ['messages'] })
  return stored
}

export async function deleteAutomation(eventDefnId: number) {
  await client.deleteEventDefinition({ eventDefinitionId: eventDefnId })
  await queryClient.invalidateQueries({ queryKey: automationsQuery.queryKey })
}

/** The effect of saving, with a few examples. */
export const planQuery = (body: AutomationBody) =>
  queryOptions({
    queryKey: ['plan', body],
    queryFn: ({ signal }) => client.planEventDefinition(body, { signal }),
  })

const SAMPLES_OF_PAGE = 100

/** All messages that saving would change, page by page. */
export const planSamplesQuery = (body: AutomationBody) =>
  infiniteQueryOptions({
    queryKey: ['plan', 'samples', body],
    initialPageParam: 0,
    queryFn: ({ pageParam: offset, signal }) =>
      client.planEventDefinition(body, { query: { limit: SAMPLES_OF_PAGE, offset }, signal }),
    getNextPageParam: ({ create, move, cancel, expired }, _pages, offset) => {
      const next = offset + SAMPLES_OF_PAGE
      return Math.max(create, move, cancel, expired) > next ? next : undefined
    },
  })

/** The messages that the definition would have sent between two days. */
export const backtestQuery = (definition: AutomationBody, startDate: string, endDate: string) =>
  queryOptions({
    queryKey: ['backtest', definition, startDate, endDate],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      client.backtestEventDefinition({ definition, startDate, endDate }, { signal }),
  })

/** The messages of an automation that are sent next. */
export const scheduledQuery = (eventDefnId: number) =>
  queryOptions({
    queryKey: ['messages', 'scheduled', eventDefnId],
    queryFn: ({ signal }) =>
      client.listEventTriggers(
        { status: 'SCHEDULED', eventDefnId, expand: 'names', limit: 20 },
        { signal },
      ),
  })

export type AboutObject = { objectType: ObjectType; objectId: number | string }

/** The mail of a template about an object. */
export const previewQuery = (emailTemplateId: number, about: AboutObject) =>
  queryOptions({
    queryKey: ['preview', emailTemplateId, about],
    queryFn: ({ signal }) => client.previewEmailTemplate({ emailTemplateId, ...about }, { signal }),
  })

/** The address of the same mail for a frame; it has the content policy of mails. */
export const previewAddress = (emailTemplateId: number, { objectType, objectId }: AboutObject) =>
  `/emailTemplate/${emailTemplateId}/preview/html?${new URLSearchParams({ objectType, objectId: String(objectId) })}`
