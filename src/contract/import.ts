import { Type, type Static } from 'typebox'
import { OBJECT_KINDS } from './objects.ts'
import { Named } from './schema.ts'

/** An import lists so many refused lines. */
export const MAX_LISTED_REFUSALS = 1_000

export const ImportQuery = Type.Object({
  events: Type.Optional(
    Type.Enum(['none'], {
      title: 'ImportEvents',
      description:
        'Imports history: no `…_CREATED` and `…_CHANGED` fires; reminders that are still ahead are scheduled, past ones leave no row.',
    }),
  ),
})

export const CsvQuery = Type.Object({
  kind: Type.Enum(
    OBJECT_KINDS.map(({ kind }) => kind),
    { title: 'ObjectKind', description: 'What the rows are.' },
  ),
  map: Type.Optional(
    Type.Array(Type.String({ maxLength: 1_000 }), {
      maxItems: 500,
      description:
        '`column=field` for a column that is called otherwise; `column=` for one that is not ' +
        'imported. May be repeated.',
      examples: [['Customer no=clientExternalId']],
    }),
  ),
  timeZone: Type.Optional(
    Type.String({
      description: 'Of times that name none; the time zone of the business unless given.',
      examples: ['Europe/Zurich'],
    }),
  ),
  dryRun: Type.Optional(
    Type.Boolean({
      description:
        'Does the same in one transaction and rolls it back. For files of up to 32 MiB. A file that is ' +
        'only a header tells which columns are read.',
    }),
  ),
  ...ImportQuery.properties,
})

const counts = {
  accepted: Type.Record(Type.String(), Type.Integer(), {
    title: 'Counts',
    description: 'How many lines of each kind were taken, changed or not.',
  }),
  refused: Type.Array(Named('RefusedLine', { line: Type.Integer(), reason: Type.String() }), {
    description: `The first ${MAX_LISTED_REFUSALS}, in the order of their lines.`,
  }),
  refusedCount: Type.Integer(),
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
      { description: 'The header, and the field that each column was read as; null: not read.' },
    ),
    fields: Type.Array(Type.String(), { description: 'Every field that a column may be.' }),
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
