import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { InputOf } from '../../src/client/client.ts'
import type { EventAction, RecipientValue } from '../../src/contract/event-action.ts'
import type { EventDefinition } from '../../src/contract/event-definition.ts'
import type { WatchedChange, ObjectType } from '../../src/contract/event-type.ts'
import { storedOf, type SaveRequest, type Stored } from '../records/kind.ts'
import { automationsQuery } from './automations.ts'
import { client } from './client.ts'
import { queryClient } from './query-client.ts'

/** Properties that older servers do not answer. */
type Definition = Omit<EventDefinition, 'changes' | 'onlyIfStatus'> & {
  changes?: WatchedChange[] | null | undefined
  onlyIfStatus?: string[] | null | undefined
}

export type AutomationBody = InputOf<'createEventDefinition'>

/** An automation with its actions, which its version covers. */
export type StoredAutomation = { definition: Definition; actions: EventAction[] }

export async function readAutomation(
  eventDefnId: number,
  signal?: AbortSignal,
): Promise<Stored<StoredAutomation>> {
  const { item, etag } = await storedOf(
    client.getEventDefinition(
      { eventDefinitionId: eventDefnId, active: 'all', expand: 'actions' },
      { signal },
    ),
  )
  return { item: { definition: item, actions: item.eventActions ?? [] }, etag }
}

export async function saveAutomation(
  body: AutomationBody,
  options: SaveRequest<object>['options'],
): Promise<Stored<StoredAutomation>> {
  const { eventDefnId } = await client.createEventDefinition(body, options)
  for (const key of [automationsQuery.queryKey, ['plan'], ['messages']]) {
    void queryClient.invalidateQueries({ queryKey: key })
  }
  return readAutomation(eventDefnId)
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

/** Staff and the business do not get the version that is in the language of the client. */
const versionFor = (recipient?: RecipientValue | null) =>
  recipient === 'staff' || recipient === 'business' ? 'this' : 'sent'

/** The mail of a template about an object, as its recipient gets it; default: the client. */
export const previewQuery = (
  emailTemplateId: number,
  about: AboutObject,
  recipient?: RecipientValue | null,
) => {
  const version = versionFor(recipient)
  return queryOptions({
    queryKey: ['preview', emailTemplateId, about, version],
    queryFn: ({ signal }) =>
      client.previewEmailTemplate({ emailTemplateId, ...about, version }, { signal }),
  })
}

/** The address of the same mail for a frame; it has the content policy of mails. */
export const previewAddress = (
  emailTemplateId: number,
  { objectType, objectId }: AboutObject,
  recipient?: RecipientValue | null,
) => {
  const version = versionFor(recipient)
  const search = new URLSearchParams({ objectType, objectId: String(objectId), version })
  return `/emailTemplate/${emailTemplateId}/preview/html?${search}`
}
