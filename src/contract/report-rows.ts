import { Type, type Static } from 'typebox'
import { PageOf, PageQuery } from './page.ts'
import { PrintQuery } from './report.ts'
import { Moment, OrNull } from './schema.ts'

const id = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: '^\\d{0,15}$',
      description: `${description} Empty: those without one.`,
    }),
  )

const firstDay = (description: string) =>
  Type.Optional(
    Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$', description, examples: ['2026-09-01'] }),
  )

/** `drillDown.path`, with the filter of a row and the measure of a column. */
export const ReportRowsQuery = Type.Object({
  ...PageQuery,
  startDate: PrintQuery.properties.startDate,
  endDate: PrintQuery.properties.endDate,
  locationId: PrintQuery.properties.locationId,
  filters: Type.Optional(
    Type.String({
      maxLength: 20_000,
      description: 'The filters of the printed report, as JSON.',
      examples: ['{"professionalIdList":[3]}'],
    }),
  ),
  printedTime: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 8_640_000_000_000_000,
      description: 'The time that divides past from future, in ms; default: now.',
    }),
  ),
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
})
export type ReportRowsQuery = Static<typeof ReportRowsQuery>

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
  amount: 1,
  currency: null,
}

/** An object behind a figure: an appointment, a class, a recall, a trigger or an email. */
export const CountedObject = Type.Object(
  {
    objectType: OrNull(Type.String()),
    objectId: OrNull(Type.Integer()),
    objectUUId: OrNull(Type.String()),
    eventTriggerId: OrNull(Type.Integer()),
    emailId: OrNull(Type.Integer()),
    clientId: OrNull(Type.Integer()),
    client: OrNull(Type.String()),
    professionalId: OrNull(Type.Integer()),
    staff: OrNull(Type.String()),
    reasonId: OrNull(Type.Integer()),
    locationId: OrNull(Type.Integer()),
    location: OrNull(Type.String()),
    name: OrNull(Type.String()),
    time: Moment,
    localTime: Type.String(),
    status: Type.String(),
    amount: Type.Number(),
    currency: OrNull(Type.String()),
  },
  { title: 'CountedObject', examples: [objectExample] },
)

export const CountedObjectPage = Type.Object(
  {
    ...PageOf(CountedObject, 'CountedObjects').properties,
    count: Type.Integer(),
    sum: OrNull(Type.Number()),
    sumByCurrency: OrNull(Type.Record(Type.String(), Type.Number())),
  },
  {
    title: 'CountedObjectPage',
    examples: [{ items: [objectExample], nextCursor: null, count: 1, sum: 1, sumByCurrency: null }],
  },
)
export type CountedObjectPage = Static<typeof CountedObjectPage>
