import { queryOptions } from '@tanstack/react-query'
import type { AnswerOf, InputOf } from '../../src/client/client.ts'
import type { SavePlan } from '../../src/contract/save-plan.ts'
import { all, client, MAX_PAGE } from './client.ts'
import { queryClient } from './query-client.ts'

export type Appointment = AnswerOf<'listAppointments'>['items'][number]

/** The fields of the form; with an id it updates an appointment, without one it books it. */
export type AppointmentBody = InputOf<'createAppointment'>

export type Plan = SavePlan

/** The appointments that start between two moments, with names and counts of messages. */
export const appointmentsQuery = (from: number, to: number, locationId?: number) =>
  queryOptions({
    queryKey: ['calendar', 'list', from, to, locationId],
    refetchInterval: 60_000,
    queryFn: ({ signal }): Promise<Appointment[]> =>
      all(
        client.listAppointments(
          { from, to, locationId, expand: 'names,messages', limit: MAX_PAGE },
          { signal },
        ),
      ),
  })

const DAY_MS = 86_400_000

/** The appointments of a member of staff or of a client that could overlap a time. */
export const overlapsQuery = (
  time: { startTime: number; endTime: number } | undefined,
  whose: { professionalId: number | undefined } | { clientId: number | undefined },
) =>
  queryOptions({
    queryKey: ['calendar', 'overlaps', time, whose],
    enabled: time !== undefined && Object.values(whose)[0] !== undefined,
    queryFn: ({ signal }): Promise<Appointment[]> =>
      all(
        client.listAppointments(
          // The form books at most a day, so none that overlaps started earlier.
          {
            ...whose,
            from: time!.startTime - DAY_MS,
            to: time!.endTime,
            expand: 'names',
            limit: MAX_PAGE,
          },
          { signal },
        ),
      ),
  })

/** How many appointments start on each day between two moments. */
export const appointmentDaysQuery = (from: number, to: number, locationId?: number) =>
  queryOptions({
    queryKey: ['calendar', 'days', from, to, locationId],
    refetchInterval: 60_000,
    queryFn: ({ signal }) => client.countAppointmentsByDay({ from, to, locationId }, { signal }),
  })

export const appointmentQuery = (calendarId: number) =>
  queryOptions({
    queryKey: ['calendar', 'one', calendarId],
    queryFn: ({ signal }): Promise<Appointment> =>
      client.getAppointment({ calendarId }, { signal }),
  })

export type AppointmentMessage = AnswerOf<'listEventTriggersOfAppointment'>[number]

export const appointmentMessagesQuery = (calendarId: number) =>
  queryOptions({
    queryKey: ['calendar', 'messages', calendarId],
    refetchInterval: 30_000,
    queryFn: ({ signal }) =>
      client.listEventTriggersOfAppointment({ calendarId, expand: 'names' }, { signal }),
  })

/** Why each automation did, will or will not send a mail about an appointment. */
export const explanationsQuery = (calendarId: number) =>
  queryOptions({
    queryKey: ['calendar', 'explanations', calendarId],
    queryFn: ({ signal }) =>
      client.explainObject({ objectType: 'CALENDAR', objectId: calendarId }, { signal }),
  })

export type HistoryEntry = AnswerOf<'listAuditEntries'>['items'][number]

export const appointmentHistoryQuery = (calendarId: number) =>
  queryOptions({
    queryKey: ['calendar', 'history', calendarId],
    queryFn: ({ signal }) =>
      client.listAuditEntries(
        { object: 'calendar', id: String(calendarId), limit: 100 },
        { signal },
      ),
  })

/** The messages that saving would schedule, move, cancel and send. Nothing is saved. */
export const planQuery = (body: AppointmentBody | undefined) =>
  queryOptions({
    queryKey: ['calendar', 'plan', body],
    enabled: body !== undefined,
    staleTime: 0,
    retry: false,
    queryFn: ({ signal }) => client.planAppointment(body, { signal }),
  })

export async function saveAppointment(body: AppointmentBody) {
  const saved = await client.createAppointment(body)
  // Messages, counts and the page Today depend on appointments.
  await queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
  return saved
}
