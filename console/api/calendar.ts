import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { AuditEntry } from '../../src/contract/audit.ts'
import type { NamedTrigger, TriggerStatus } from '../../src/contract/event-trigger.ts'
import type { Explanation } from '../../src/contract/explanation.ts'
import type { SavePlan } from '../../src/contract/save-plan.ts'
import { queryClient } from './query-client.ts'
import { request, type Page } from './request.ts'

export type Appointment = {
  calendarId: number
  clientId: number
  professionalId: number
  reasonId: number
  locationId: number
  startTime: number
  endTime: number
  status: string
  note: string | null
  changeNote: string | null
  active: boolean
  clientName?: string | null
  professionalName?: string | null
  reasonName?: string | null
  locationName?: string | null
  messages?: Partial<Record<TriggerStatus, number>>
}

/** What a person fills in; with the id a change, without it a booking. */
export type AppointmentBody = Partial<Omit<Appointment, 'active' | 'messages'>>

export type Plan = SavePlan

const LIMIT = 500

/** The appointments that start between two moments, with names and counts of messages. */
export const appointmentsQuery = (from: number, to: number, locationId?: number) =>
  queryOptions({
    queryKey: ['calendar', 'list', from, to, locationId],
    refetchInterval: 60_000,
    queryFn: async ({ signal }): Promise<Appointment[]> => {
      const items: Appointment[] = []
      let cursor: string | undefined
      do {
        const page = await request<Page<Appointment>>('/calendar', {
          query: { from, to, locationId, expand: 'names,messages', limit: LIMIT, cursor },
          signal,
        })
        items.push(...page.items)
        cursor = page.nextCursor ?? undefined
      } while (cursor)
      return items
    },
  })

/** How many appointments start on each day between two moments. */
export const appointmentDaysQuery = (from: number, to: number, locationId?: number) =>
  queryOptions({
    queryKey: ['calendar', 'days', from, to, locationId],
    refetchInterval: 60_000,
    queryFn: ({ signal }) =>
      request<Record<string, number>>('/calendar/days', {
        query: { from, to, locationId },
        signal,
      }),
  })

export const appointmentQuery = (calendarId: number) =>
  queryOptions({
    queryKey: ['calendar', 'one', calendarId],
    queryFn: ({ signal }) => request<Appointment>(`/calendar/${calendarId}`, { signal }),
  })

export const appointmentMessagesQuery = (calendarId: number) =>
  queryOptions({
    queryKey: ['calendar', 'messages', calendarId],
    refetchInterval: 30_000,
    queryFn: ({ signal }) =>
      request<NamedTrigger[]>(`/eventTriggers/CALENDAR/${calendarId}`, {
        query: { expand: 'names' },
        signal,
      }),
  })

/** Why each automation did, will or will not write about an appointment. */
export const explanationsQuery = (calendarId: number) =>
  queryOptions({
    queryKey: ['calendar', 'explanations', calendarId],
    queryFn: ({ signal }) =>
      request<Static<typeof Explanation>[]>(`/explain/CALENDAR/${calendarId}`, { signal }),
  })

export type HistoryEntry = Static<typeof AuditEntry>

export const appointmentHistoryQuery = (calendarId: number) =>
  queryOptions({
    queryKey: ['calendar', 'history', calendarId],
    queryFn: ({ signal }) =>
      request<Page<HistoryEntry>>('/audit', {
        query: { object: 'calendar', id: calendarId, limit: 100 },
        signal,
      }),
  })

/** What saving would schedule, move, cancel and send. Nothing is saved. */
export const planQuery = (body: AppointmentBody | undefined) =>
  queryOptions({
    queryKey: ['calendar', 'plan', body],
    enabled: body !== undefined,
    staleTime: 0,
    retry: false,
    queryFn: ({ signal }) => request<Plan>('/calendar/plan', { method: 'POST', body, signal }),
  })

export async function saveAppointment(body: AppointmentBody) {
  const saved = await request<Appointment>('/calendar', { method: 'POST', body })
  // Messages, counts and the page Today follow an appointment.
  await queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
  return saved
}
