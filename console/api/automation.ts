import { queryOptions } from '@tanstack/react-query'
import type { EventAction } from '../../src/contract/event-action.ts'
import type { EventDefinition } from '../../src/contract/event-definition.ts'
import type { Backtest, Forecast } from '../../src/contract/forecast.ts'
import type { Message } from './messages.ts'
import { automationsQuery } from './automations.ts'
import { queryClient } from './query-client.ts'
import { request, requestTagged, type Page } from './request.ts'

/** Properties that older servers do not answer. */
type Definition = Omit<EventDefinition, 'changes' | 'onlyIfStatus'> & {
  changes?: string[] | null | undefined
  onlyIfStatus?: string[] | null | undefined
}

/** One automation with the version that a change must name. */
export type StoredAutomation = {
  definition: Definition
  actions: EventAction[]
  etag: string | null
}

export const automationQuery = (eventDefnId: number) =>
  queryOptions({
    queryKey: ['automation', eventDefnId],
    // What is edited must not change under the editor; a conflict shows when it is saved.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: ({ signal }) => readAutomation(eventDefnId, signal),
  })

export async function readAutomation(
  eventDefnId: number,
  signal?: AbortSignal,
): Promise<StoredAutomation> {
  const options = signal ? { signal } : {}
  const [{ body: definition, etag }, { items }] = await Promise.all([
    requestTagged<Definition>(`/eventDefinition/${eventDefnId}`, {
      query: { active: 'all' },
      ...options,
    }),
    request<Page<EventDefinition>>('/eventDefinition', {
      query: { active: 'all', eventDefnId, expand: 'actions' },
      ...options,
    }),
  ])
  return { definition, actions: items[0]?.eventActions ?? [], etag }
}

/** Saves an automation. A stale `etag` is answered with 412. */
export async function saveAutomation(body: object, etag: string | null): Promise<StoredAutomation> {
  const { body: saved } = await requestTagged<Definition>('/eventDefinition', {
    method: 'POST',
    body,
    headers: etag ? { 'if-match': etag } : {},
  })
  const stored = await readAutomation(saved.eventDefnId)
  queryClient.setQueryData(automationQuery(saved.eventDefnId).queryKey, stored)
  void queryClient.invalidateQueries({ queryKey: automationsQuery.queryKey })
  void queryClient.invalidateQueries({ queryKey: ['plan'] })
  void queryClient.invalidateQueries({ queryKey: ['messages'] })
  return stored
}

export async function deleteAutomation(eventDefnId: number) {
  await request(`/eventDefinition/${eventDefnId}`, { method: 'DELETE' })
  await queryClient.invalidateQueries({ queryKey: automationsQuery.queryKey })
}

/** What saving would do. */
export const planQuery = (body: object, limit: number) =>
  queryOptions({
    queryKey: ['plan', body, limit],
    queryFn: ({ signal }) =>
      request<Forecast>('/eventDefinition/plan', {
        method: 'POST',
        body,
        query: { limit },
        signal,
      }),
  })

/** What it would have sent between two days. */
export const backtestQuery = (definition: object, startDate: string, endDate: string) =>
  queryOptions({
    queryKey: ['backtest', definition, startDate, endDate],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      request<Backtest>('/eventDefinition/backtest', {
        method: 'POST',
        body: { definition, startDate, endDate },
        signal,
      }),
  })

/** The messages of an automation that are sent next. */
export const scheduledQuery = (eventDefnId: number) =>
  queryOptions({
    queryKey: ['messages', 'scheduled', eventDefnId],
    queryFn: ({ signal }) =>
      request<Page<Message>>('/eventTriggers', {
        query: { status: 'SCHEDULED', eventDefnId, expand: 'names', limit: 20 },
        signal,
      }),
  })

export type PreviewedMail = {
  subject: string
  to: string | null
  emptyTokens: string[]
}
export type AboutObject = { objectType: string; objectId: number | string }

/** The mail that a template makes of an object. */
export const previewQuery = (emailTemplateId: number, about: AboutObject) =>
  queryOptions({
    queryKey: ['preview', emailTemplateId, about],
    queryFn: ({ signal }) =>
      request<PreviewedMail>(`/emailTemplate/${emailTemplateId}/preview`, {
        method: 'POST',
        body: about,
        signal,
      }),
  })

/** The same mail by itself, for a frame: its own address has the content policy of mails. */
export const previewAddress = (emailTemplateId: number, { objectType, objectId }: AboutObject) =>
  `/emailTemplate/${emailTemplateId}/preview/html?${new URLSearchParams({ objectType, objectId: String(objectId) })}`
