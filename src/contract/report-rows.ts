import { Type, type Static } from 'typebox'
import { PageOf, PageQuery } from './page.ts'
import { PrintQuery } from './report.ts'
import { about, Day, Moment, MomentFilter, Named, OrNull } from './schema.ts'

const id = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: '^\\d{0,15}$',
      description: `${description} Empty: those without one.`,
    }),
  )

const firstDay = (description: string) =>
  Type.Optional(Day({ description, examples: ['2026-09-01'] }))

/** The parts of `drillDown.path`, with the filter of a row and the measure of a column. */
const ObjectsQuery = {
  startDate: Day({ description: 'The first day.', examples: ['2026-09-01'] }),
  endDate: Day({ description: 'The last day, inclusive.', examples: ['2026-09-30'] }),
  locationId: PrintQuery.properties.locationId,
  filters: Type.Optional(
    Type.String({
      maxLength: 20_000,
      description: 'The filters of the printed report, as JSON.',
      examples: ['{"professionalIdList":[3]}'],
    }),
  ),
  printedTime: MomentFilter('The time that divides past from future, in ms; default: now.'),
  measure: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'What is added up; default: the objects that the report lists, each counted.',
      examples: ['missed'],
    }),
  ),
  currency: Type.Optional(
    Type.String({ pattern: '^[A-Z]{3}$', description: 'Only amounts in this currency.' }),
  ),
  staff: id('Only objects of this member of staff.'),
  location: id('Only objects at this location.'),
  service: id('Only objects of this service.'),
  client: id('Only objects of this client.'),
  day: firstDay('Only objects of this day, at their location.'),
  week: firstDay('Only objects of the week that begins on this Monday.'),
  month: firstDay('Only objects of the month that begins on this day.'),
  weekday: Type.Optional(
    Type.String({ pattern: '^[1-7]$', description: 'Only objects of this weekday; 1: Monday.' }),
  ),
  hour: Type.Optional(
    Type.String({ pattern: '^\\d{1,2}$', description: 'Only objects that begin in this hour.' }),
  ),
  objectType: Type.Optional(Type.String({ maxLength: 40 })),
  objectId: Type.Optional(Type.String({ pattern: '^\\d{1,15}$' })),
  objectUUId: Type.Optional(Type.String({ maxLength: 100 })),
  eventTriggerId: Type.Optional(Type.String({ pattern: '^\\d{1,15}$' })),
  line: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'Only objects of this line, in reports whose lines have names of their own.',
      examples: ['REACHED'],
    }),
  ),
}

export const ReportRowsQuery = Type.Object({ ...PageQuery, ...ObjectsQuery })
export type ReportRowsQuery = Static<typeof ReportRowsQuery>

/** What the objects behind a figure can be counted by. */
export const SUM_KEYS = [
  'day',
  'weekday',
  'hour',
  'staff',
  'location',
  'service',
  'client',
  'name',
  'outcome',
] as const
export type SumKey = (typeof SUM_KEYS)[number]

export const ReportSumsQuery = Type.Object({
  ...ObjectsQuery,
  by: Type.String({
    pattern: `^(${SUM_KEYS.join('|')})(,(${SUM_KEYS.join('|')}))?$`,
    description: `One or two of ${SUM_KEYS.join(', ')}, separated by a comma.`,
    examples: ['day,outcome'],
  }),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 500,
      default: 200,
      description: 'How many sums are listed at the most.',
    }),
  ),
})
export type ReportSumsQuery = Static<typeof ReportSumsQuery>

const objectExample = {
  objectType: 'CALENDAR',
  objectId: 4711,
  objectUUId: null,
  eventTriggerId: null,
  emailId: null,
  clientId: 17,
  client: 'Anna Müller',
  professionalId: 3,
  staff: 'Elena García',
  reasonId: 5,
  locationId: 1,
  location: 'Zürich',
  name: 'Check-up',
  time: 1_790_834_400_000,
  localTime: '2026-09-30 14:00',
  status: 'NO_SHOW',
  outcome: 'MISSED',
  amount: 1,
  currency: null,
}

export const OBJECT_OUTCOMES = ['PENDING', 'KEPT', 'MISSED', 'CANCELLED'] as const

const ObjectOutcome = Type.Enum([...OBJECT_OUTCOMES], {
  title: 'ObjectOutcome',
  description: 'What its status counts as. A failed message is MISSED.',
  examples: ['MISSED'],
})

/** An object behind a figure: an appointment, a class, a recall, a trigger or an email. */
export const CountedObject = Named(
  'CountedObject',
  {
    objectType: about(OrNull(Type.String()), 'The type of the object.'),
    objectId: OrNull(Type.Integer()),
    objectUUId: OrNull(Type.String()),
    eventTriggerId: about(
      OrNull(Type.Integer()),
      'The id of the trigger, in reports about triggers.',
      41,
    ),
    emailId: about(OrNull(Type.Integer()), 'The id of the email, in reports about emails.', 99),
    clientId: OrNull(Type.Integer()),
    client: about(OrNull(Type.String()), 'The name of the client.'),
    professionalId: OrNull(Type.Integer()),
    staff: about(OrNull(Type.String()), 'The name of the member of staff.'),
    reasonId: OrNull(Type.Integer()),
    locationId: OrNull(Type.Integer()),
    location: about(OrNull(Type.String()), 'The name of the location.'),
    name: about(
      OrNull(Type.String()),
      'The service, class or automation, or the subject of the email.',
    ),
    time: about(Moment, 'When it begins, is due or was created, in ms.'),
    localTime: about(Type.String(), 'The same, at its location.'),
    status: about(Type.String(), 'Its status.'),
    outcome: ObjectOutcome,
    amount: about(Type.Number(), 'What it adds to the sum.'),
    currency: about(
      OrNull(Type.String()),
      'The currency of the amount; null if it is not money.',
      'CHF',
    ),
  },
  objectExample,
)

export const CountedObjectPage = Named(
  'CountedObjectPage',
  {
    ...PageOf(CountedObject, 'CountedObjects').properties,
    count: about(Type.Integer(), 'The number of objects, on all pages.'),
    sum: about(
      OrNull(Type.Number()),
      'The figure: the sum of all amounts; null with several currencies.',
    ),
    sumByCurrency: about(
      OrNull(Type.Record(Type.String(), Type.Number())),
      'The sum in each currency; null if it is not money.',
      { CHF: 4_140 },
    ),
  },
  { items: [objectExample], nextCursor: null, count: 1, sum: 1, sumByCurrency: null },
)
export type CountedObjectPage = Static<typeof CountedObjectPage>

export const ObjectSums = Named(
  'ObjectSums',
  {
    items: Type.Array(
      Named('ObjectSum', {
        keys: Type.Array(OrNull(Type.String()), {
          description: 'The values that `by` names, in its order: a day, an id, a name.',
          examples: [['2026-09-30', 'MISSED']],
        }),
        count: about(Type.Integer(), 'The number of objects.', 3),
        sum: about(Type.Number(), 'The sum of their amounts.', 3),
      }),
      { description: 'Those of the largest first key come first.' },
    ),
  },
  { items: [{ keys: ['2026-09-30', 'MISSED'], count: 3, sum: 3 }] },
)
export type ObjectSums = Static<typeof ObjectSums>
