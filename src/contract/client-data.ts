import { Type, type Static } from 'typebox'
import { Named } from './schema.ts'

const Row = Type.Record(Type.String(), Type.Unknown(), {
  title: 'StoredRow',
  description: 'The properties of what is stored, which differ by its kind.',
})
const rows = (description: string) => Type.Array(Row, { description })

/** Everything that is stored about a client. */
export const ClientData = Type.Object(
  {
    client: Type.Record(Type.String(), Type.Unknown(), { description: 'The client itself.' }),
    calendar: rows('Its appointments.'),
    classSchedule: rows('The classes that it attends, without the other students.'),
    invitation: rows('Its invitations.'),
    recall: rows('Its recalls.'),
    disclaimer: rows('Its disclaimers.'),
    feedMatch: rows('What feeds call it, and the properties that they set.'),
    feedEntry: rows('The entries of feeds about it. Those that name others have no texts.'),
    eventTrigger: rows('The pending and finished triggers about its objects.'),
    email: rows('The mails to it, newest first, with their content as long as it is kept.'),
    suppression: rows('Why its addresses get no mails.'),
    audit: rows('The changes of the client and its objects, oldest first.'),
  },
  {
    title: 'ClientData',
    description:
      'Everything that is stored about a client. Rows have the properties of their kind.',
    examples: [
      {
        client: { clientId: 4, firstName: 'Anna', lastName: 'Müller' },
        calendar: [{ calendarId: 17, clientId: 4, startTime: 1_794_823_200_000, status: 'OPEN' }],
        classSchedule: [],
        invitation: [],
        recall: [],
        disclaimer: [],
        feedMatch: [],
        feedEntry: [],
        eventTrigger: [],
        email: [],
        suppression: [],
        audit: [],
      },
    ],
  },
)
export type ClientData = Static<typeof ClientData>

export const ErasedCounts = Named(
  'Erasure',
  {
    erased: Type.Record(Type.String(), Type.Integer(), {
      title: 'ErasedCounts',
      description: 'The number of rows that were overwritten or deleted, by kind.',
    }),
  },
  { erased: { calendar: 12, email: 31, audit: 58 } },
)
