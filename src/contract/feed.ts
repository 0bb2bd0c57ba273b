import { Type, type Static, type TSchema } from 'typebox'
import {
  bodyProperties,
  instant,
  integer,
  language,
  line,
  name,
  oneOf,
  optional,
  required,
  schemaOf,
  timeZone,
  address,
  url,
  type FieldValue,
  type Of,
} from './fields.ts'
import {
  about,
  Id,
  Maybe,
  Moment,
  Named,
  OrNull,
  serverOwned,
  ServerOwned,
  UpdatedId,
  stamps,
  stampsExample,
} from './schema.ts'

/** Feeds mirror the appointments of another scheduler: see docs/feeds.md. */

export const FEED_SOURCES = ['CALDAV', 'ICS', 'CALCOM', 'EASYAPPOINTMENTS', 'INLET'] as const
export type FeedSource = (typeof FEED_SOURCES)[number]

/** They cannot say that a client did not come, so reports leave their appointments out of no-show rates. */
export const SOURCES_WITHOUT_NO_SHOWS: FeedSource[] = ['CALDAV', 'ICS', 'EASYAPPOINTMENTS']

export const FEED_MODES = ['DRAFT', 'SHADOW', 'LIVE', 'PAUSED'] as const
export type FeedMode = (typeof FEED_MODES)[number]

export const FEED_HEALTHS = [
  'OK',
  'LATE',
  'FAILING',
  'NEEDS_LOGIN',
  'NEEDS_DECISION',
  'KEY_MISSING',
] as const
export type FeedHealth = (typeof FEED_HEALTHS)[number]

const text = (max: number) => schemaOf(line(max))
const time = (description: string, example: number) => schemaOf(instant(), description, example)
const given = (max: number, description: string, example?: unknown) =>
  Maybe(schemaOf(line(max), description, example))

const Connection = Type.Object(
  {
    url: Maybe(
      schemaOf(url(), 'The address of the account.', 'https://cloud.example/remote.php/dav'),
    ),
    username: given(300, 'The username.', 'salon'),
    calendars: Maybe(
      Type.Array(text(1_000), {
        maxItems: 100,
        description: 'The keys of the calendars to read. Absent: all of them.',
        examples: [['salon']],
      }),
    ),
    hosts: Maybe(
      Type.Array(text(253), {
        maxItems: 10,
        description: 'Other hosts that may get the credential, as `POST /feed/test` found them.',
        examples: [['p01-caldav.example']],
      }),
    ),
  },
  { title: 'FeedConnection', additionalProperties: false, examples: [{}] },
)
export type FeedConnection = Static<typeof Connection>

const Defaults = Type.Object(
  {
    professionalId: Maybe(about(Id, 'The member of staff.', 1)),
    reasonId: Maybe(about(Id, 'The service.', 1)),
    locationId: Maybe(about(Id, 'The location.', 1)),
  },
  {
    title: 'FeedDefaults',
    additionalProperties: false,
    examples: [{ professionalId: 1, reasonId: 1, locationId: 1 }],
  },
)

const FEED_KINDS = ['APPOINTMENT', 'CLASS'] as const

const Kind = (description: string) => Type.Enum([...FEED_KINDS], { title: 'FeedKind', description })

const Rule = Type.Object(
  {
    when: Type.Object(
      {
        calendar: given(300, 'The calendar of the source.', 'salon'),
        title: given(
          300,
          'The title; `{client}` and `{service}` name parts of it.',
          '{client} – {service}',
        ),
        attendee: given(300, 'The address or name of an attendee.', '*@room.example'),
        organizer: given(300, 'The address or name of the organizer.', 'elena@example.com'),
        location: given(300, 'The name of the location.', 'Altstadt*'),
        category: given(300, 'A category.', 'private'),
        busy: Maybe(Type.Boolean({ description: 'Whether the time is shown as busy.' })),
      },
      {
        title: 'FeedRuleCondition',
        additionalProperties: false,
        description: 'All conditions must hold.',
        examples: [{ title: 'Lunch*' }],
      },
    ),
    then: Type.Object(
      {
        skip: Maybe(Type.Boolean({ description: 'True: it is not an appointment.' })),
        kind: Maybe(Kind('Whether it is an appointment or a class.')),
        professionalId: Maybe(about(Id, 'The member of staff.', 1)),
        reasonId: Maybe(about(Id, 'The service.', 1)),
        locationId: Maybe(about(Id, 'The location.', 1)),
        status: given(60, 'The status.', 'CONFIRMED'),
      },
      {
        title: 'FeedRuleEffect',
        additionalProperties: false,
        description: 'What the rule decides.',
        examples: [{ skip: true }],
      },
    ),
  },
  {
    title: 'FeedRule',
    additionalProperties: false,
    examples: [{ when: { title: 'Lunch*' }, then: { skip: true } }],
  },
)
export type FeedRule = Static<typeof Rule>

/** A JSON value that its schema checks whole. */
const json = <S extends TSchema, I>(schema: S, initially: I): Of<S> & { initially: I } => ({
  schema,
  sqlType: 'jsonb',
  initially,
})

const valued = <S extends Of<TSchema>, I>(shape: S, initially: I) => ({ ...shape, initially })

const SECRET =
  'The password, key or token of the account. It is stored encrypted and never shown; `null` removes it.'

const FEED_FIELDS = {
  name: required(name(100), 'The name; each active feed has another.', 'Salon calendar'),
  source: required(
    oneOf(FEED_SOURCES, 'FeedSource'),
    'What is read. It cannot be changed. INLET sends its entries; the others are read.',
    'INLET',
  ),
  mode: optional(
    valued(oneOf(FEED_MODES, 'FeedMode'), 'DRAFT' as const),
    'DRAFT: tests and dry runs only. SHADOW: mirrors, and captures each mail about its objects. LIVE: mails are sent. PAUSED: nothing is read; mails are sent.',
    'SHADOW',
  ),
  connection: optional(json(Connection, {}), 'How to reach the account.', {}),
  defaults: optional(
    json(Defaults, {}),
    'For entries that name none, and that no rule or match decides.',
    {
      professionalId: 1,
      reasonId: 1,
      locationId: 1,
    },
  ),
  rules: optional(
    json(Type.Array(Rule, { maxItems: 200 }), []),
    'For each value, the first rule that matches and names it decides. Text matches without case; `*` is any text.',
    [{ when: { title: 'Lunch*' }, then: { skip: true } }],
  ),
  statusMap: optional(
    json(Type.Record(Type.String(), text(60), { title: 'FeedStatusMap' }), {}),
    'Our status for a word of the source, if it is not understood by itself. `deleted` is for what disappears.',
    { 'no show': 'NO_SHOW' },
  ),
  pullMinutes: optional(
    integer(1, 1_440),
    'Minutes between two pulls; not for INLET, which sends.',
    null,
  ),
  horizonDays: optional(valued(integer(30, 800), 400), 'How many days ahead are mirrored.', 400),
  historyDays: optional(valued(integer(0, 730), 30), 'How many past days are mirrored.', 30),
  closeAfterHours: optional(
    integer(0, 168),
    'Hours after its end until a live appointment becomes COMPLETED; null: never. 24 for a new feed. What was closed stays so.',
    24,
  ),
  severalClients: optional(
    valued(oneOf(['HOLD', 'CLASS', 'FIRST'] as const, 'SeveralClients'), 'HOLD' as const),
    'What to do with an entry of several clients: hold it, make it a class, or take the first one.',
    'HOLD',
  ),
  clientsWithoutAddress: optional(
    valued(oneOf(['SKIP', 'CREATE'] as const, 'ClientsWithoutAddress'), 'SKIP' as const),
    'What to do with a client who has a name and no address.',
    'SKIP',
  ),
  vanishLimit: optional(
    integer(0, 1_000_000),
    'If more upcoming entries than this disappear at once, a person decides. Default: the larger of 5 and 10 %.',
    5,
  ),
}

export const FeedWrite = Type.Object(
  {
    feedId: UpdatedId,
    businessId: Maybe(Id),
    ...bodyProperties(FEED_FIELDS),
    secret: Maybe(schemaOf(line(10_000), SECRET, 'app-password')),
    active: Maybe(Type.Boolean({ description: 'A deleted feed cannot be revived.' })),
    hasSecret: ServerOwned,
    state: ServerOwned,
    ...serverOwned,
  },
  {
    title: 'FeedBody',
    examples: [
      {
        name: 'Salon calendar',
        source: 'INLET',
        mode: 'SHADOW',
        defaults: { professionalId: 1, reasonId: 1, locationId: 1 },
      },
    ],
  },
)

export const FEED_BODY = { schema: FeedWrite, fields: FEED_FIELDS }

/** The fields that a caller writes, as they are stored. */
export type FeedFields = {
  [F in keyof typeof FEED_FIELDS]: FieldValue<(typeof FEED_FIELDS)[F]>
}

const answered = Object.fromEntries(
  Object.entries(FEED_FIELDS).map(([property, field]) => [
    property,
    field.required || field.initially !== null ? field.schema : OrNull(field.schema),
  ]),
) as Record<string, TSchema>

const FeedState = Named('FeedState', {
  health: Type.Enum([...FEED_HEALTHS], {
    title: 'FeedHealth',
    description: 'Whether the feed works, or what it needs.',
  }),
  since: about(Moment, 'Since when, in ms.', 1_789_000_000_000),
  cause: about(OrNull(Type.String()), 'Why it is not OK.', null),
  todo: about(OrNull(Type.String()), 'What to do about it.', null),
  successTime: about(OrNull(Moment), 'The last successful pull, in ms.', 1_789_000_000_000),
  completeTime: about(OrNull(Moment), 'The last complete pull, in ms.', 1_789_000_000_000),
  nextPullTime: about(OrNull(Moment), 'The next pull, in ms; null: none is planned.', null),
  entries: about(
    Type.Record(Type.String(), Type.Integer(), { title: 'FeedEntryCounts' }),
    'How many entries are in each state.',
    { MIRRORED: 371, HELD: 3, SKIPPED: 38, GONE: 0 },
  ),
})

export const Feed = Type.Object(
  {
    feedId: Type.Integer(),
    businessId: Type.Integer(),
    ...answered,
    hasSecret: Type.Boolean({ description: 'Whether a secret is stored.' }),
    active: Type.Boolean(),
    ...stamps,
    state: about(FeedState, 'How the feed does.'),
  },
  {
    title: 'Feed',
    examples: [
      {
        feedId: 3,
        businessId: 1,
        name: 'Salon calendar',
        source: 'INLET',
        mode: 'SHADOW',
        connection: {},
        defaults: { professionalId: 1, reasonId: 1, locationId: 1 },
        rules: [],
        statusMap: {},
        pullMinutes: null,
        horizonDays: 400,
        historyDays: 30,
        closeAfterHours: 24,
        severalClients: 'HOLD',
        clientsWithoutAddress: 'SKIP',
        vanishLimit: null,
        hasSecret: false,
        active: true,
        ...stampsExample,
        state: {
          health: 'OK',
          since: 1_789_000_000_000,
          cause: null,
          todo: null,
          successTime: 1_789_003_600_000,
          completeTime: 1_789_003_600_000,
          nextPullTime: null,
          entries: { MIRRORED: 371, HELD: 3, SKIPPED: 38, GONE: 0 },
        },
      },
    ],
  },
)

/** A person of an entry that is sent. */
const InletPerson = Type.Object(
  {
    key: given(300, 'Their id in the source.', 'C-17'),
    emailAddress: Maybe(schemaOf(address(), 'Their address.', 'anna@example.com')),
    firstName: given(300, 'The first name.', 'Anna'),
    lastName: given(300, 'The last name.', 'Müller'),
    phone: given(60, 'The phone number.', '+41 44 555 77 00'),
    language: Maybe(schemaOf(language(), 'The preferred language.', 'de-CH')),
    timeZone: Maybe(schemaOf(timeZone(), 'The time zone.', 'Europe/Zurich')),
  },
  { title: 'InletPerson', examples: [{ emailAddress: 'anna@example.com' }] },
)

const InletThing = (description: string) =>
  Maybe(
    Type.Object(
      {
        key: given(300, 'Its id in the source.', 'S-4'),
        name: given(300, 'Its name.', 'Physiotherapy'),
        emailAddress: Maybe(schemaOf(address(), 'Its address.', 'elena@example.com')),
      },
      { title: 'InletThing', description, examples: [{ name: 'Physiotherapy' }] },
    ),
  )

const MAX_ENTRIES = 1_000

export const InletEntry = Type.Object(
  {
    key: schemaOf(name(300), 'The id of the appointment in the source.', 'B-1'),
    version: Type.Union([Type.Integer({ minimum: 0 }), schemaOf(name(100))], {
      description:
        'Grows with every change: a number, or a time as text. A lower one is ignored; the same one must have the same content.',
      examples: [1],
    }),
    startTime: Maybe(time('The start, in ms. Required unless `deleted`.', 1_800_000_000_000)),
    endTime: Maybe(
      time('The end, in ms. Default: the duration of the service.', 1_800_001_800_000),
    ),
    status: given(100, 'The status, in any usual word. Default: open.', 'confirmed'),
    title: given(1_000, 'The title, for people and rules.', 'Knee, second visit'),
    client: Maybe(InletPerson),
    clients: Maybe(Type.Array(InletPerson, { maxItems: 200, description: 'Several clients.' })),
    service: InletThing('The service.'),
    staff: InletThing('The member of staff.'),
    location: InletThing('The location.'),
    createdTime: Maybe(time('When it was booked, in ms.', 1_799_000_000_000)),
    deleted: Maybe(Type.Boolean({ description: 'True: it was deleted in the source.' })),
  },
  {
    title: 'InletEntry',
    examples: [
      {
        key: 'B-1',
        version: 1,
        startTime: 1_800_000_000_000,
        endTime: 1_800_001_800_000,
        client: { emailAddress: 'anna@example.com', firstName: 'Anna', lastName: 'Müller' },
        service: { name: 'Physiotherapy' },
      },
    ],
  },
)
export type InletEntry = Static<typeof InletEntry>

export const InletBody = Type.Object(
  {
    entries: Type.Array(Type.Unknown(), {
      maxItems: MAX_ENTRIES,
      description: 'New and changed appointments. One that is refused does not stop the others.',
      examples: [
        [{ key: 'B-1', version: 1, startTime: 1_800_000_000_000, endTime: 1_800_001_800_000 }],
      ],
    }),
    complete: about(
      Maybe(
        Type.Object(
          {
            from: time('Start of the window, in ms.', 1_799_000_000_000),
            to: time('End of the window, in ms.', 1_830_000_000_000),
            keys: Type.Array(text(300), {
              maxItems: 50_000,
              description: 'The keys of all appointments that start in the window.',
              examples: [['B-1']],
            }),
          },
          {
            title: 'InletListing',
            description: 'All appointments of a window, by their keys.',
            examples: [{ from: 1_799_000_000_000, to: 1_830_000_000_000, keys: ['B-1'] }],
          },
        ),
      ),
      'All appointments of a window; absent ones were cancelled.',
    ),
  },
  { title: 'InletBody' },
)

/** An INLET without entries, or any feed with rules: the stored entries are tried. */
export const DryRunBody = Type.Object(
  {
    entries: Type.Optional(InletBody.properties.entries),
    complete: InletBody.properties.complete,
    rules: about(
      Maybe(FEED_FIELDS.rules.schema),
      'Rules that are not saved yet: what they would change in the stored entries.',
    ),
  },
  { title: 'DryRunBody' },
)
export type InletBody = Static<typeof InletBody>

export const InletAnswer = Named(
  'InletAnswer',
  {
    accepted: about(Type.Integer(), 'How many entries were stored, new or changed.', 1),
    unchanged: about(Type.Integer(), 'How many were known with this version.', 0),
    old: about(Type.Integer(), 'How many had a lower version than the known one.', 0),
    held: about(Type.Integer(), 'How many of the accepted ones need a decision.', 0),
    skipped: about(Type.Integer(), 'How many of the accepted ones are not appointments.', 0),
    refused: about(
      Type.Array(
        Named('RefusedEntry', {
          index: about(Type.Integer(), 'The place in `entries`, from 0.', 0),
          pointer: about(
            Type.String(),
            'The place of the fault in the body.',
            '/entries/0/endTime',
          ),
          detail: about(Type.String(), 'What is wrong.', 'must be after startTime'),
        }),
      ),
      'The faults of entries that were not stored.',
      [],
    ),
    approvalId: Type.Optional(
      Type.Integer({ description: 'Mails that would be sent at once wait for this approval.' }),
    ),
  },
  { accepted: 1, unchanged: 0, old: 0, held: 0, skipped: 0, refused: [] },
)
export type InletAnswer = Static<typeof InletAnswer>

export const ENTRY_STATES = ['MIRRORED', 'HELD', 'SKIPPED', 'GONE'] as const
export type EntryState = (typeof ENTRY_STATES)[number]

export const Correction = Type.Object(
  {
    clientId: Maybe(about(Id, 'The client.', 1)),
    professionalId: Maybe(about(Id, 'The member of staff.', 1)),
    reasonId: Maybe(about(Id, 'The service.', 1)),
    locationId: Maybe(about(Id, 'The location.', 1)),
    kind: Maybe(Kind('Whether it is an appointment or a class.')),
    skip: Maybe(Type.Boolean({ description: 'True: it is not an appointment.' })),
  },
  { title: 'FeedCorrection', additionalProperties: false, examples: [{ clientId: 1 }] },
)
export type Correction = Static<typeof Correction>

const Decision = Named('FeedDecision', {
  field: about(Type.String(), 'What was decided.', 'reasonId'),
  value: about(Type.Unknown(), 'The value.', 1),
  by: Type.Enum(['CORRECTION', 'RULE', 'MATCH', 'DEFAULT', 'SOURCE'], {
    title: 'FeedDecisionBy',
    description: 'What decided it.',
  }),
  detail: about(OrNull(Type.String()), 'More about it.', 'service “Physiotherapy”'),
})
export type FeedDecision = Static<typeof Decision>

export const FeedEntry = Named('FeedEntry', {
  entryId: about(Type.Integer(), 'The id of the entry.', 41),
  key: about(Type.String(), 'Its key in the source.', 'B-1'),
  state: Type.Enum([...ENTRY_STATES], {
    title: 'FeedEntryState',
    description:
      'MIRRORED: an object here follows it. HELD: a person could decide. SKIPPED: not an appointment. GONE: not in the source any more.',
  }),
  reasonCode: about(OrNull(Type.String()), 'Why it is held or skipped.', 'no-client'),
  reason: about(OrNull(Type.String()), 'The same in words.', 'It names no client.'),
  title: about(OrNull(Type.String()), 'The title in the source.', 'Knee, second visit'),
  startTime: about(OrNull(Moment), 'When it starts in the source, in ms.', 1_800_000_000_000),
  endTime: about(OrNull(Moment), 'When it ends in the source, in ms.', 1_800_001_800_000),
  objectType: OrNull(
    Type.Enum(['CALENDAR', 'CLASS_SCHEDULE'], {
      title: 'FeedObjectType',
      description: 'The type of the object that follows it.',
    }),
  ),
  objectId: about(OrNull(Type.Integer()), 'The id of that object.', 17),
  decisions: about(Type.Array(Decision), 'Each value, and what decided it.'),
  correction: about(OrNull(Correction), 'What a person decided about it; null: nothing.', null),
})

export const MATCH_KINDS = ['calendar', 'client', 'staff', 'service', 'location'] as const
export type MatchKind = (typeof MATCH_KINDS)[number]

export const FeedMatch = Named('FeedMatch', {
  feedMatchId: about(Type.Integer(), 'The id of the match.', 7),
  kind: Type.Enum([...MATCH_KINDS], {
    title: 'FeedMatchKind',
    description: 'What the source names.',
  }),
  key: about(Type.String(), 'Its key in the source, or its name or address.', 'physiotherapy'),
  name: about(Type.String(), 'As the source names it.', 'Physiotherapy'),
  objectId: about(OrNull(Type.Integer()), 'The id of our object; null: none is known.', 1),
  by: Type.Enum(['ADDRESS', 'NAME', 'FEED', 'PERSON', 'NONE'], {
    title: 'FeedMatchedBy',
    description: 'What made the match. FEED: the feed created the object.',
  }),
  changedTime: about(Moment, 'When it was made or changed, in ms.', 1_789_000_000_000),
  changedUser: about(Type.String(), 'Who made or changed it.', 'feed:Salon'),
})

export const DIFFERENCE_KINDS = [
  'MISSED_CREATE',
  'MISSED_CHANGE',
  'MISSED_DELETE',
  'CHANGED_HERE',
  'VANISHED',
] as const

/** One difference between a source and what is stored here. */
export const Difference = Named('FeedDifference', {
  kind: Type.Enum([...DIFFERENCE_KINDS], {
    title: 'FeedDifferenceKind',
    description:
      'MISSED_…: no pull saw the change; the reconciliation applied it. CHANGED_HERE: a person changed it here. VANISHED: it waits for a decision.',
  }),
  entryId: about(OrNull(Type.Integer()), 'The entry; null: it was not known.', 41),
  key: about(Type.String(), 'The key of the entry, or of its resource, in the source.', 'B-1'),
  title: about(OrNull(Type.String()), 'The title in the source.', 'Knee, second visit'),
  objectType: FeedEntry.properties.objectType,
  objectId: FeedEntry.properties.objectId,
  field: about(OrNull(Type.String()), 'What differs; null: the entry itself.', 'status'),
  source: about(OrNull(Type.String()), 'The value in the source.', 'OPEN'),
  ours: about(OrNull(Type.String()), 'The value here.', 'CANCELLED'),
  since: about(OrNull(Moment), 'Since when, in ms, if that is known.', 1_789_000_000_000),
  feedRunId: about(
    OrNull(Type.Integer()),
    'The run that should have seen it, if it is stored.',
    null,
  ),
  todo: about(
    OrNull(Type.String()),
    'What to do; null: nothing, it was fixed.',
    'Cancel it in the source too.',
  ),
})
export type Difference = Static<typeof Difference>

/** How the entries of the source add up, after a reconciliation. */
const Sums = Named('FeedSums', {
  source: about(Type.Integer(), 'Entries of the source in the days that are mirrored.', 412),
  mirrored: about(Type.Integer(), 'Those that an object here follows.', 389),
  held: about(Type.Integer(), 'Those that need a person.', 3),
  skipped: about(Type.Integer(), 'Those that are not appointments.', 20),
})

/** What a source needs to send hooks: `POST /feed/{feedId}/hook` makes it. */
export const FeedHook = Named('FeedHook', {
  url: about(
    Type.String(),
    'The address that the source calls. It is shown once.',
    'https://mail.example/feed/hook/…',
  ),
  secret: about(
    Type.String(),
    'What the source signs with, or sends as its token. It is shown once.',
    'whsec_…',
  ),
  formerUntil: about(
    OrNull(Moment),
    'Until when the former address and secret count, in ms; null: there are none.',
    null,
  ),
})
export type FeedHook = Static<typeof FeedHook>

/** What `POST /feed/test` found. */
export const FeedTest = Named('FeedTest', {
  ok: Type.Boolean({ description: 'Whether all checks passed.' }),
  checks: Type.Array(
    Named('FeedCheck', {
      check: about(Type.String(), 'What was checked.', 'INLET'),
      ok: Type.Boolean({ description: 'Whether it passed.' }),
      detail: about(
        Type.String(),
        'What was found, and what to do.',
        'The source sends its entries.',
      ),
    }),
    { description: 'The checks, in order.' },
  ),
  calendars: Type.Array(
    Named('FeedCalendar', {
      key: about(Type.String(), 'Its key, for `connection.calendars`.', 'salon'),
      name: about(Type.String(), 'Its name in the source.', 'Salon'),
      entries: about(Maybe(Type.Integer()), 'How many entries it has, if that is known.', 412),
    }),
    { description: 'The calendars of the account.' },
  ),
  otherHosts: about(
    Type.Array(Type.String()),
    'Hosts that must be allowed in `connection.hosts`.',
    [],
  ),
})
export type FeedTest = Static<typeof FeedTest>

/** A feed on the start page. */
export const FeedOverview = Named('FeedOverview', {
  feedId: Type.Integer(),
  name: Type.String({ examples: ['Salon calendar'] }),
  mode: FEED_FIELDS.mode.schema,
  health: FeedState.properties.health,
  since: FeedState.properties.since,
  cause: FeedState.properties.cause,
  todo: FeedState.properties.todo,
  heldSoon: about(
    Type.Integer(),
    'How many entries of the next 7 days are held: a person could decide.',
    3,
  ),
  sentence: about(
    OrNull(
      Named('FeedSentence', {
        all: about(Type.Integer(), 'The appointments of the source that are here.', 389),
        skipped: about(Type.Integer(), 'Entries that are not appointments.', 20),
        held: about(Type.Integer(), 'Entries that need a person.', 3),
        checkedTime: about(Moment, 'When everything was compared, in ms.', 1_789_000_000_000),
      }),
    ),
    'What the last reconciliation proved; null: there was none.',
  ),
})

export const FeedRun = Named('FeedRun', {
  feedRunId: about(Type.Integer(), 'The id of the run.', 12),
  feedId: Type.Integer(),
  kind: Type.Enum(['DRY_RUN', 'PULL', 'RECONCILE'], {
    title: 'FeedRunKind',
    description: 'What was run.',
  }),
  status: Type.Enum(['RUNNING', 'DONE', 'FAILED'], {
    title: 'FeedRunStatus',
    description: 'How far it is.',
  }),
  counts: about(
    OrNull(Type.Record(Type.String(), Type.Integer(), { title: 'FeedRunCounts' })),
    'What happened to the entries.',
    {
      entries: 1,
      created: 1,
      changed: 0,
      cancelled: 0,
      unchanged: 0,
      mirrored: 1,
      held: 0,
      skipped: 0,
    },
  ),
  reasons: about(
    OrNull(Type.Record(Type.String(), Type.Integer(), { title: 'FeedRunReasons' })),
    'How many entries are held or skipped, by reason.',
    { 'no-client': 38 },
  ),
  withAddress: about(
    OrNull(Type.Integer()),
    'How many mirrored entries have a client with an address.',
    352,
  ),
  planned: about(
    OrNull(
      Named('FeedRunPlan', {
        triggers: about(Type.Integer(), 'How many reminders would be planned.', 1_120),
        atOnce: about(Type.Integer(), 'How many mails would be sent at once.', 0),
        byDefinition: about(
          Type.Array(
            Named('FeedRunDefinition', {
              eventDefnId: Type.Integer(),
              triggers: about(Type.Integer(), 'How many triggers of the definition.', 371),
            }),
          ),
          'The same by automation.',
        ),
      }),
    ),
    'What would be planned and sent.',
  ),
  samples: about(
    OrNull(Type.Array(FeedEntry, { maxItems: 100 })),
    'Some of the entries as they would be.',
  ),
  sums: about(OrNull(Sums), 'How the entries of the source add up, after a reconciliation.'),
  differences: about(OrNull(Type.Array(Difference)), 'What a reconciliation found; at most 1,000.'),
  error: about(OrNull(Type.String()), 'Why it failed.', null),
  startedTime: about(Moment, 'When it began, in ms.', 1_789_000_000_000),
  startedUser: Type.String({ description: 'Who started it.', examples: ['anna'] }),
  endedTime: about(OrNull(Moment), 'When it ended, in ms; null: it is running.', 1_789_000_003_000),
})
/** The mails about the objects of a feed that were captured in SHADOW, for one automation. */
export const CapturedOfDefinition = Named('CapturedOfDefinition', {
  eventDefnId: about(Type.Integer(), 'The automation.', 4),
  count: about(Type.Integer(), 'How many mails.', 371),
  latest: about(
    Type.Array(
      Named('CapturedOfFeed', {
        emailId: about(Type.Integer(), 'The mail.', 91),
        eventTriggerId: about(Type.Integer(), 'Its trigger.', 88),
        to: about(Type.String(), 'The address.', 'anna@example.com'),
        subject: about(Type.String(), 'The subject.', 'Your appointment tomorrow'),
        createdDate: about(Moment, 'When it was made, in ms.', 1_789_000_000_000),
      }),
    ),
    'The latest ones, at most 5.',
  ),
})

type Run = Static<typeof FeedRun>
/** What a run that has ended found; a kind of run has its part of it. */
export type FeedRunResult = Partial<
  Pick<Run, 'counts' | 'reasons' | 'withAddress' | 'planned' | 'samples' | 'sums' | 'differences'>
>
