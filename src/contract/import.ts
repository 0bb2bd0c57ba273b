import { Type, type Static, type TSchema } from 'typebox'
import { OBJECT_KINDS } from './objects.ts'
import { about, Moment, Named, OrNull } from './schema.ts'

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

/** The kinds of objects that a file can name instead of using their ids. */
const NamedKinds = Type.Enum(['client', 'professional', 'reason', 'location'], {
  title: 'NamedKind',
  description: 'A client, a member of staff, a service or a location.',
})

const pairs = (description: string, example: string) =>
  Type.Optional(
    Type.Array(Type.String({ maxLength: 1_000 }), {
      maxItems: 500,
      description: `${description} May be repeated.`,
      examples: [[example]],
    }),
  )

export const CsvQuery = Type.Object({
  kind: Type.Optional(
    Type.Enum(
      OBJECT_KINDS.map(({ kind }) => kind),
      {
        title: 'ObjectKind',
        description: 'The kind of object that the rows describe. Default: calendar.',
      },
    ),
  ),
  map: pairs(
    '`column=field` if a column is not read as it should be; `column=` to skip a column.',
    'Customer no=clientExternalId',
  ),
  timeZone: Type.Optional(
    Type.String({
      description:
        'For times without a time zone. Default: the time zone of the location, else of the business.',
      examples: ['Europe/Zurich'],
    }),
  ),
  dates: Type.Optional(
    Type.Enum(['dmy', 'mdy'], {
      title: 'DateOrder',
      description: 'Whether 03/04/2026 is 3 April (`dmy`) or March 4 (`mdy`).',
    }),
  ),
  status: pairs('`word=STATUS`: what a status word of the file means.', 'Wartet=OPEN'),
  match: pairs(
    '`kind:name=id`: which object a name of the file means; `kind:name=new` for a new one.',
    'client:Anna Keller=17',
  ),
  default: pairs(
    '`kind=name`: the member of staff, service or location of rows that name none.',
    'reason=Massage',
  ),
  create: Type.Optional(
    Type.Array(NamedKinds, {
      maxItems: 4,
      description: 'The kinds of which objects that do not exist are created. May be repeated.',
    }),
  ),
  mapping: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'The name of a kept mapping. Other parameters have precedence.',
      examples: ['Salon export'],
    }),
  ),
  keepAs: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Keeps the mapping and the answers under this name for the next file.',
      examples: ['Salon export'],
    }),
  ),
  fileName: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Shown in the list of imports.',
      examples: ['appointments.xlsx'],
    }),
  ),
  refused: Type.Optional(
    Type.Enum(['csv'], {
      title: 'RefusedAs',
      description:
        'With `dryRun`: the answer is a CSV file of the refused rows with a column `why`, to be corrected and imported.',
    }),
  ),
  dryRun: Type.Optional(
    Type.Boolean({
      description:
        'Saves nothing, and answers what the import would do. For files of up to 64 MiB. Send only the ' +
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
  refused: Type.Array(
    Named('RefusedLine', {
      line: about(Type.Integer(), 'The number of the line, from 1.', 17),
      reason: about(Type.String(), 'What is wrong with the line.', '/lastName: is required'),
    }),
    {
      description: `The first ${MAX_LISTED_REFUSALS} refused lines, in order.`,
    },
  ),
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

const Changes = Type.Object(
  {
    created: about(Type.Integer(), 'Rows that create an object.', 389),
    changed: about(Type.Integer(), 'Rows that change an object.', 3),
    unchanged: about(Type.Integer(), 'Rows that change nothing.', 0),
  },
  {
    title: 'ImportChanges',
    description: 'What the accepted rows do. Objects that they name are not counted.',
  },
)

const NewObject = Named('NewObject', {
  kind: NamedKinds,
  name: about(Type.String(), 'The name in the file.', 'Anna Keller'),
  emailAddress: about(Type.String(), 'The address in the file; empty if it has none.', ''),
  rows: about(Type.Integer(), 'How many rows name it.', 3),
})

const ImportQuestion = Type.Object(
  {
    about: Type.Enum(['dates', 'status', 'default', 'match'], {
      title: 'QuestionAbout',
      description: 'The parameter that answers the question.',
    }),
    kind: Type.Optional(NamedKinds),
    name: Type.Optional(
      about(Type.String(), 'A name that several objects have, or a status word.', 'Anna Keller'),
    ),
    rows: Type.Optional(Type.Integer({ description: 'How many rows it is about.' })),
    examples: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Dates that can be read in two ways.',
        examples: [['03/04/2026']],
      }),
    ),
    among: Type.Optional(
      Type.Array(
        Named('MatchCandidate', {
          id: Type.Integer(),
          name: about(Type.String(), 'Its name.', 'Anna Keller'),
          emailAddress: OrNull(
            Type.String({ description: 'Its email address.', examples: ['anna@example.com'] }),
          ),
        }),
        { description: 'The objects that may be meant.' },
      ),
    ),
  },
  { title: 'ImportQuestion', description: 'What only a person can decide about a file.' },
)

/** An answer lists at most this many questions, and new objects of each kind. */
export const MAX_LISTED_QUESTIONS = 100

export const CsvImportResult = Type.Object(
  {
    ...counts,
    format: Type.Enum(['csv', 'xlsx'], {
      title: 'FileFormat',
      description: 'What the file is.',
    }),
    headerRow: about(
      Type.Integer(),
      'The number of the row that was taken as the header, from 1: titles may come before it.',
      1,
    ),
    columns: Type.Array(
      Named('CsvColumn', {
        column: about(Type.String(), 'The name of the column.', 'First name'),
        field: about(
          Type.Union([Type.String(), Type.Null()]),
          'The field that it is read as; null: skipped.',
          'firstName',
        ),
      }),
      { description: 'The columns and the field that each was read as; null: skipped.' },
    ),
    fields: Type.Array(Type.String(), {
      description: 'All fields that a column can be mapped to.',
    }),
    dates: OrNull(
      Type.Enum(['dmy', 'mdy'], {
        title: 'DateOrder',
        description: 'How dates such as 03/04/2026 were read; null if there are none.',
      }),
    ),
    rowCount: Type.Integer({ description: 'The number of rows after the header.' }),
    rows: Type.Array(
      Type.Object(
        {
          line: Type.Integer({ description: 'The number of the row in the file, from 1.' }),
          values: Type.Record(Type.String(), Type.Unknown(), {
            description: 'The values by field. Times are in ms.',
          }),
          why: Type.Optional(
            about(
              Type.String(),
              'Why it is refused.',
              '“31.02.2026” is not a date or time: write it as 2026-07-01',
            ),
          ),
        },
        { title: 'ShownRow' },
      ),
      { description: 'The first 20 rows as they are read.' },
    ),
    statusWords: Type.Array(
      Named('StatusWord', {
        word: about(Type.String(), 'The word in the file.', 'Bestätigt'),
        rows: Type.Integer({ description: 'How many rows have it.' }),
        status: OrNull(
          about(Type.String(), 'The status that it means; null: not known.', 'CONFIRMED'),
        ),
      }),
      { description: 'The status words of the file.' },
    ),
    questions: Type.Array(ImportQuestion, {
      description: `What only a person can decide, at most ${MAX_LISTED_QUESTIONS}.`,
    }),
    newObjects: Type.Array(NewObject, {
      description: `Objects that do not exist, at most ${MAX_LISTED_QUESTIONS} of each kind.`,
    }),
    newCounts: Type.Record(Type.String(), Type.Integer(), {
      title: 'Counts',
      description: 'How many objects of each kind do not exist.',
    }),
    clients: Type.Object(
      {
        withAddress: Type.Integer({ description: 'Clients of the file that can get mail.' }),
        withoutAddress: Type.Integer({ description: 'Clients of the file without an address.' }),
      },
      { title: 'ClientCounts' },
    ),
    changes: Changes,
    planned: Type.Optional(
      Type.Object(
        {
          triggers: Type.Integer({ description: 'Reminders that would be planned.' }),
          mailsAtOnce: Type.Integer({ description: 'Mails that would be sent within a day.' }),
        },
        { title: 'PlannedByImport', description: 'Only of a dry run.' },
      ),
    ),
    fileImportId: Type.Optional(
      Type.Integer({ description: 'For `POST /import/file/{fileImportId}/undo`, within a day.' }),
    ),
  },
  {
    title: 'CsvImportResult',
    examples: [
      {
        ...countsExample,
        format: 'csv',
        headerRow: 1,
        columns: [{ column: 'Kunde', field: 'client' }],
        fields: ['client', 'startDate', 'startTimeOfDay'],
        dates: null,
        rowCount: 12_401,
        rows: [{ line: 2, values: { client: 'Anna Keller <anna@example.com>' } }],
        statusWords: [{ word: 'Bestätigt', rows: 311, status: 'CONFIRMED' }],
        questions: [],
        newObjects: [{ kind: 'client', name: 'Anna Keller', emailAddress: '', rows: 3 }],
        newCounts: { client: 400 },
        clients: { withAddress: 380, withoutAddress: 20 },
        changes: { created: 12_400, changed: 0, unchanged: 0 },
        planned: { triggers: 1_120, mailsAtOnce: 0 },
      },
    ],
  },
)
export type CsvImportResult = Static<typeof CsvImportResult>

export const FileImport = Type.Object(
  {
    fileImportId: about(Type.Integer(), 'The id of the import.', 4),
    fileName: OrNull(
      Type.String({ description: 'The name of the file.', examples: ['appointments.xlsx'] }),
    ),
    kind: about(Type.String(), 'The kind of its rows.', 'calendar'),
    objects: Type.Integer({ description: 'How many objects it created or changed.' }),
    createdDate: Moment,
    createdUser: Type.String(),
    undoneDate: about(OrNull(Moment), 'When it was undone; null: it was not.', 1_789_000_000_000),
    undoneUser: OrNull(Type.String({ description: 'Who undid it.', examples: ['anna'] })),
  },
  {
    title: 'FileImport',
    examples: [
      {
        fileImportId: 4,
        fileName: 'appointments.xlsx',
        kind: 'calendar',
        objects: 389,
        createdDate: 1_789_000_000_000,
        createdUser: 'anna',
        undoneDate: null,
        undoneUser: null,
      },
    ],
  },
)
export type FileImport = Static<typeof FileImport>

export const UndoResult = Type.Object(
  {
    undone: Type.Integer({ description: 'Objects that are as they were before the import.' }),
    kept: Type.Integer({ description: 'Objects that stay: they were changed or used since.' }),
  },
  { title: 'UndoResult', examples: [{ undone: 389, kept: 0 }] },
)
export type UndoResult = Static<typeof UndoResult>

export const ImportMapping = Type.Object(
  {
    name: about(Type.String(), 'The name.', 'Salon export'),
    kind: about(Type.String(), 'The kind of the rows.', 'calendar'),
    choices: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The mapping and the answers.',
    }),
    keptDate: about(Moment, 'When it was kept.', 1_789_000_000_000),
    keptUser: about(Type.String(), 'Who kept it.', 'anna'),
  },
  {
    title: 'ImportMapping',
    examples: [
      {
        name: 'Salon export',
        kind: 'calendar',
        choices: { map: { Kunde: 'client' }, dates: 'dmy' },
        keptDate: 1_789_000_000_000,
        keptUser: 'anna',
      },
    ],
  },
)
export type ImportMapping = Static<typeof ImportMapping>

const listOf = <T extends TSchema>(item: T, title: string, description: string) =>
  Type.Object({ items: Type.Array(item, { description }) }, { title })

export const FileImports = listOf(FileImport, 'FileImports', 'The imports, newest first.')
export const ImportMappings = listOf(ImportMapping, 'ImportMappings', 'The mappings by name.')
