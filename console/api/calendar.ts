import { queryOptions } from '@tanstack/react-query'
import type { AnswerOf } from '../../src/client/client.ts'
import type { SavePlan } from '../../src/contract/save-plan.ts'
import { pickFields, storedOf, type RecordKind } from '../records/kind.ts'
import { all, client, MAX_PAGE } from './client.ts'
import type { EventKind } from './objects.ts'
import { queryClient } from './query-client.ts'

export type Appointment = AnswerOf<'listAppointments'>['items'][number]

type StoredAppointment = AnswerOf<'getAppointment'>

export type Plan = SavePlan

/** A location or a member of staff; undefined: any. */
type Where = { locationId?: number | undefined; professionalId?: number | undefined }

/** The appointments that start between two moments, with names and counts of messages. */
export const appointmentsQuery = (from: number, to: number, where: Where = {}) =>
  queryOptions({
    queryKey: ['calendar', 'list', from, to, where],
    refetchInterval: 60_000,
    queryFn: ({ signal }): Promise<Appointment[]> =>
      all(
        client.listAppointments(
          { from, to, ...where, expand: 'names,messages', limit: MAX_PAGE },
          { signal },
        ),
      ),
  })

/** How many appointments the page Today lists. */
const EXPECTED = 8

/** The next appointments with one of these statuses that start between two moments. */
export const expectedQuery = (from: number, to: number, statuses: string[]) =>
  queryOptions({
    queryKey: ['calendar', 'expected', from, to, statuses],
    refetchInterval: 60_000,
    enabled: statuses.length > 0,
    queryFn: ({ signal }) =>
      client.listAppointments(
        { from, to, status: statuses.join(','), expand: 'names,messages', limit: EXPECTED },
        { signal },
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
export const appointmentDaysQuery = (from: number, to: number, where: Where) =>
  queryOptions({
    queryKey: ['calendar', 'days', from, to, where],
    refetchInterval: 60_000,
    queryFn: ({ signal }) => client.countAppointmentsByDay({ from, to, ...where }, { signal }),
  })

/** How the messages about an appointment are read. */
export const appointmentMessages: Pick<EventKind<never, never>, 'objectType' | 'messages'> = {
  objectType: 'CALENDAR',
  messages: (id, signal) =>
    client.listEventTriggersOfAppointment({ calendarId: Number(id), expand: 'names' }, { signal }),
}

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
export const planQuery = (body: (AppointmentFields & { calendarId?: number }) | undefined) =>
  queryOptions({
    queryKey: ['calendar', 'plan', body],
    enabled: body !== undefined,
    staleTime: 0,
    retry: false,
    queryFn: ({ signal }) => client.planAppointment(body, { signal }),
  })

/** The fields of the forms that book and change appointments. */
export type AppointmentFields = {
  [
    name in
      | 'clientId'
      | 'reasonId'
      | 'professionalId'
      | 'locationId'
      | 'startTime'
      | 'endTime'
      | 'status'
      | 'note'
      | 'changeNote'
      | 'price'
      | 'currency'
  ]?: Appointment[name] | undefined
}

export const appointmentKind: RecordKind<StoredAppointment, AppointmentFields> = {
  queryKey: ['calendar'],
  idOf: ({ calendarId }) => calendarId,
  draftOf: pickFields<AppointmentFields>({
    clientId: undefined,
    reasonId: undefined,
    professionalId: undefined,
    locationId: undefined,
    startTime: undefined,
    endTime: undefined,
    status: undefined,
    note: null,
    changeNote: null,
    price: null,
    currency: null,
  }),
  settings: [
    ['price', 'currency'],
    ['startTime', 'endTime'],
    ['professionalId', 'locationId'],
  ],
  hasEffects: true,
  read: (id, signal) => storedOf(client.getAppointment({ calendarId: Number(id) }, { signal })),
  save: async ({ id, changes, options }) => {
    const calendarId = id === undefined ? undefined : Number(id)
    const saved = await storedOf(client.createAppointment({ ...changes, calendarId }, options))
    // Messages, counts and the page Today depend on appointments.
    await queryClient.invalidateQueries({
      predicate: ({ queryKey }) => !['session', 'record'].some((name) => queryKey.includes(name)),
    })
    return saved
  },
}
