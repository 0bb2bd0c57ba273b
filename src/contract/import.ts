import { Type, type Static } from 'typebox'
import { OBJECT_KINDS } from './objects.ts'
import { Named } from './schema.ts'

/** An import lists at most this many refused lines. */
export const MAX_LISTED_REFUSALS = 1_000

export const ImportQuery = Type.Object({
  events: Type.Optional(
    Type.Enum(['none'], {
      title: 'ImportEvents',
      description:
        'For importing history: no `…_CREATED` or `…_CHANGED` event fires. Reminders in the future are scheduled; reminders in the past are not recorded.',
    }),
  ),
})

export const CsvQuery = Type.Object({
  kind: Type.Enum(
    OBJECT_KINDS.map(({ kind }) => kind),
    { title: 'ObjectKind', description: 'The kind of object that the rows describe.' },
  ),
  map: Type.Optional(
    Type.Array(Type.String({ maxLength: 1_000 }), {
      maxItems: 500,
      description:
        '`column=field` if the name of a column is not the name of its field; `column=` to skip a ' +
        'column. May be repeated.',
      examples: [['Customer no=clientExternalId']],
    }),
  ),
  timeZone: Type.Optional(
    Type.String({
      description: 'For times without a time zone. Default: the time zone of the business.',
      examples: ['Europe/Zurich'],
    }),
  ),
  dryRun: Type.Optional(
    Type.Boolean({
      description:
        'Runs the import in a transaction and rolls it back. For files of up to 32 MiB. Send only the ' +
        'header to see how the columns are read.',
    }),
  ),
  ...ImportQuery.properties,
})

const counts = {
  accepted: Type.Record(Type.String(), Type.Integer(), {
    title: 'Counts',
    description: 'The number of accepted lines by kind, including those that changed nothing.',
  }),
  refused: Type.Array(Named('RefusedLine', { line: Type.Integer(), reason: Type.String() }), {
    description: `The first ${MAX_LISTED_REFUSALS} refused lines, in order.`,
  }),
  refusedCount: Type.Integer(),
  approvalId: Type.Optional(
    Type.Integer({
      description:
        'The import would send more mails at once than the business allows: they wait for this approval.',
    }),
  ),
}

const countsExample = {
  accepted: { client: 400, calendar: 12_400 },
  refused: [{ line: 17, reason: '/clientExternalId: there is no client with the externalId 9' }],
  refusedCount: 1,
}

export const ImportResult = Type.Object(counts, {
  title: 'ImportResult',
  examples: [countsExample],
})
export type ImportResult = Static<typeof ImportResult>

export const CsvImportResult = Type.Object(
  {
    ...counts,
    columns: Type.Array(
      Named('CsvColumn', {
        column: Type.String(),
        field: Type.Union([Type.String(), Type.Null()]),
      }),
      { description: 'The columns and the field that each was read as; null: skipped.' },
    ),
    fields: Type.Array(Type.String(), {
      description: 'All fields that a column can be mapped to.',
    }),
  },
  {
    title: 'CsvImportResult',
    examples: [
      {
        ...countsExample,
        columns: [{ column: 'First name', field: 'firstName' }],
        fields: ['clientId', 'externalId', 'firstName', 'lastName'],
      },
    ],
  },
)
export type CsvImportResult = Static<typeof CsvImportResult>
