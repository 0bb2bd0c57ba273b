import { empty, raw, sql } from '../../database/sql.ts'
import { countKpi, type Column, type Report, type Scope, type SentenceSource } from '../report.ts'
import { inRange, isNarrowed, local, localAtAnyTime } from './conditions.ts'
import { PARTS_OF_OBJECT } from './objects.ts'
import { countsOverTime } from './charts.ts'

/** The kinds of differences, with their columns, in the order of docs/feeds.md. */
const KINDS = [
  { kind: 'MISSED_CREATE', name: 'missedCreates', label: 'Missed: new', tone: 'missed' },
  { kind: 'MISSED_CHANGE', name: 'missedChanges', label: 'Missed: changed', tone: 'missed' },
  { kind: 'MISSED_DELETE', name: 'missedDeletes', label: 'Missed: gone', tone: 'missed' },
  { kind: 'CHANGED_HERE', name: 'changedHere', label: 'Changed here', tone: 'unclosed' },
  { kind: 'VANISHED', name: 'vanished', label: 'Disappeared', tone: 'unclosed' },
] as const

const KIND_LABELS = Object.fromEntries(KINDS.map(({ kind, label }) => [kind, label]))

/** What differs, by the name of the property of an entry. */
const FIELDS = {
  start: 'Start',
  end: 'End',
  status: 'Status',
  title: 'Title',
  calendar: 'Calendar',
  clients: 'Clients',
  attendees: 'Attendees',
  addressesInText: 'Addresses in the text',
  service: 'Service',
  staff: 'Staff',
  location: 'Location',
  categories: 'Categories',
  allDay: 'All day',
  isPrivate: 'Private',
  isBusy: 'Busy',
  isClass: 'Class',
  problem: 'Can be read',
}

/**
 * The reconciliations of the range, one row each. `of_day` and `of_feed` mark the one that tells how the
 * entries of the day, and of the feed, add up: the last that compared everything, else the last.
 */
const reconciliations = (scope: Scope) => sql`
  select r.*, ${placeOf('r.feed_id, r.local_start::date')} = 1 as of_day, ${placeOf('r.feed_id')} = 1 as of_feed
  from (select r.feed_id, r.feed_run_id, r.started_time, r.error, r.result -> 'sums' as sums,
               coalesce(r.result -> 'differences', '[]') as differences, f.name as feed,
               ${local('r.started_time', 'null::bigint', scope)} as local_start
        from feed_run r
        join feed f using (business_id, feed_id)
        where r.business_id = ${scope.businessId} and r.kind = 'RECONCILE' and r.status <> 'RUNNING'
          and ${inRange('r.started_time', 'null::bigint', scope)}
          ${isNarrowed(scope) ? sql`and false` : empty}) r`

const placeOf = (group: string) =>
  raw(`row_number() over (partition by ${group} order by r.sums is null, r.feed_run_id desc)`)

/**
 * The differences, one row each. What was missed was fixed at once, so it is listed whenever it was found; the
 * others stay until a person acts, so only those of the last reconciliation of a day are.
 */
const differences = (scope: Scope) => sql`
  select r.feed_id, r.feed, r.feed_run_id, r.started_time, r.local_start, r.of_feed, d.place,
         d.one ->> 'kind' as kind, coalesce(d.one ->> 'title', d.one ->> 'key') as entry,
         d.one ->> 'field' as field, d.one ->> 'source' as source, d.one ->> 'ours' as ours,
         to_timestamp((d.one ->> 'since')::float8 / 1000) as since,
         d.one ->> 'objectType' as object_type, (d.one ->> 'objectId')::bigint as object_id
  from (${reconciliations(scope)}) r,
       jsonb_array_elements(r.differences) with ordinality d (one, place)
  where r.of_day or starts_with(d.one ->> 'kind', 'MISSED_')`

const counts = raw(
  KINDS.map(({ kind, name }) => `count(*) filter (where kind = '${kind}') as "${name}"`).join(', '),
)

const local16 = (moment: string, scope: Scope) =>
  sql`to_char(${localAtAnyTime(moment, 'null::bigint', scope)}, 'YYYY-MM-DD HH24:MI')`

/** A value of an entry. Moments are stored in UTC; other texts may look like one. */
const valueOf = (column: string, scope: Scope) => sql`
  case when coalesce(d.field, 'start') in ('start', 'end') and ${raw(column)} ~ '^\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z$'
       then ${local16(`${column}::timestamptz`, scope)} else ${raw(column)} end`

const wordOf = (words: Record<string, string>, column: string) =>
  sql`coalesce(${JSON.stringify(words)}::jsonb ->> ${raw(column)}, ${raw(column)})`

const NOT_COMPARED = 'Not compared'
const WRONG_SUM = 'The sum is wrong'

/** Each day of a feed, followed by its differences. */
const lines = (scope: Scope) => sql`
  with found as (${differences(scope)})
  select to_char(r.local_start, 'YYYY-MM-DD') as date, r.feed, r.feed_id, 0 as run, 0 as place,
         case when r.sums is null then ${NOT_COMPARED} when r.error is not null then ${WRONG_SUM}
              when c.all = 0 then 'Nothing is missing' else 'Differences' end as found,
         (r.sums ->> 'source')::bigint as entries, (r.sums ->> 'mirrored')::bigint as mirrored,
         (r.sums ->> 'held')::bigint as held, (r.sums ->> 'skipped')::bigint as skipped,
         ${raw(KINDS.map(({ name }) => `case when r.sums is not null then c."${name}" end as "${name}"`).join(', '))},
         r.error as entry, null as field, null as "inSource", null as here, null as since,
         r.feed_id || ' ' || r.local_start::date as key_line
  from (${reconciliations(scope)}) r
  cross join lateral (
    select count(*) as all, ${counts} from found d
    where d.feed_id = r.feed_id and d.local_start::date = r.local_start::date) c
  where r.of_day
  union all
  select to_char(d.local_start, 'YYYY-MM-DD'), d.feed, d.feed_id, d.feed_run_id, d.place,
         ${wordOf(KIND_LABELS, 'd.kind')}, null, null, null, null, ${raw(KINDS.map(() => 'null').join(', '))},
         d.entry, ${wordOf(FIELDS, 'd.field')}, ${valueOf('d.source', scope)}, ${valueOf('d.ours', scope)},
         ${local16('d.since', scope)}, ''
  from found d`

const MISSED = `starts_with(kind, 'MISSED_')`
/** Those of the last reconciliation of each feed. */
const OPEN = `of_feed and not ${MISSED}`

/** An empty report must say why it is empty, and a full one what it proves. */
const proofs: SentenceSource = {
  rows: (scope) => sql`
    select r.feed, r.error, (r.sums ->> 'mirrored')::int as all, (r.sums ->> 'skipped')::int as skipped,
           (r.sums ->> 'held')::int as held, ${local16('r.started_time', scope)} as time,
           exists (select from feed f where f.business_id = ${scope.businessId} and f.active) as "hasFeeds"
    from (select) one
    left join (${reconciliations(scope)}) r on r.of_feed
    order by r.feed collate name_order`,
  write: (rows, scope, { say, writeDate, locale }) => {
    if (isNarrowed(scope)) {
      return [
        say('Feeds belong to the whole business: a report of some locations or staff has none.'),
      ]
    }
    const write = (count: unknown) => Number(count).toLocaleString(locale)
    return rows.map(({ feed, error, all, skipped, held, time, hasFeeds }) => {
      if (feed === null) {
        return hasFeeds
          ? say(
              'No feed was compared with its source in this period. That happens every night, and is kept for 90 days.',
            )
          : say('No feed is connected: Settings, Feeds connects the calendar of another program.')
      }
      const values = { feed: String(feed), time: writeDate(String(time)), error: String(error) }
      if (all === null) return say('{feed} could not be compared with its source: {error}', values)
      if (error !== null) return say('The entries of {feed} do not add up: {error}', values)
      return say(
        'All {all} appointments of {feed} are here. Of the other entries, {skipped} are not appointments and {held} need a person. Checked {time}.',
        { ...values, all: write(all), skipped: write(skipped), held: write(held) },
      )
    })
  },
}

export const feeds: Report = {
  reportId: 905,
  category: 'AUTOMATION',
  reportName: 'Feeds and their sources',
  reportFileName: 'feeds',
  description:
    'Whether all appointments of other calendars are here: what the nightly comparison of each feed with its source found, with every difference.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_EMAIL_REPORTS'],
  about: 'feeds',
  columns: [
    { name: 'date', label: 'Date', type: 'date', width: 10 },
    { name: 'feed', label: 'Feed', type: 'text', width: 14 },
    { name: 'found', label: 'Result', type: 'text', width: 14, fixedWords: true },
    { name: 'entries', label: 'In the source', type: 'integer', width: 6 },
    { name: 'mirrored', label: 'Here', type: 'integer', width: 6 },
    { name: 'held', label: 'Held', type: 'integer', width: 6 },
    { name: 'skipped', label: 'Left out', type: 'integer', width: 6 },
    // Entries that a person must decide are counted again each night, so their sum over nights has no meaning.
    ...KINDS.map(({ name, label, tone }): Column => ({
      name,
      label,
      type: 'integer',
      width: 6,
      ...(tone === 'missed' ? { total: 'sum' } : {}),
    })),
    { name: 'entry', label: 'Entry or cause', type: 'text', width: 18 },
    {
      name: 'field',
      label: 'Differs in',
      type: 'text',
      width: 9,
      fixedWords: Object.values(FIELDS),
    },
    { name: 'inSource', label: 'Value in the source', type: 'text', width: 12, isDate: true },
    { name: 'here', label: 'Value here', type: 'text', width: 12, isDate: true },
    { name: 'since', label: 'Since', type: 'text', width: 12, isDate: true },
  ],
  rows: (scope) => sql`
    select l.* from (${lines(scope)}) l
    order by l.date, l.feed collate name_order, l.feed_id, l.run, l.place`,
  figures: (scope) => sql`
    select r.*, d.*
    from (select coalesce(sum((r.sums ->> 'mirrored')::bigint) filter (where r.of_feed), 0)::bigint as mirrored,
                 coalesce(sum((r.sums ->> 'held')::bigint) filter (where r.of_feed), 0)::bigint as held,
                 count(*) filter (where r.of_day) as days,
                 count(*) filter (where r.of_day and r.error is not null) as "wrongDays"
          from (${reconciliations(scope)}) r) r,
         (select count(*) filter (where ${raw(MISSED)}) as missed, count(*) filter (where ${raw(OPEN)}) as open
          from (${differences(scope)}) d) d`,
  kpis: [
    countKpi('mirrored', 'Entries that are here', {
      definition:
        'Entries of the sources that an appointment or class here follows, at the last comparison of each feed in the period.',
    }),
    countKpi('held', 'Need a person', {
      definition:
        'Entries that are held until a person decides, at the last comparison of each feed.',
      better: 'less',
    }),
    countKpi('missed', 'Missed by pulls', {
      definition:
        'Differences that no pull saw. The comparison found them and fixed them at once; at most 1,000 of one comparison are stored.',
      better: 'less',
    }),
    countKpi('open', 'Differences left', {
      definition:
        'Appointments that were cancelled only here or only in the source, and those that disappeared there and were not cancelled, at the last comparison of each feed.',
      better: 'less',
    }),
    countKpi('wrongDays', 'Days without proof', {
      definition:
        'Days of a feed on which it could not be compared, or its entries did not add up: those in the source are those that are here, held and left out.',
      better: 'less',
      base: ({ days }) => days ?? undefined,
    }),
  ],
  charts: [
    countsOverTime({
      name: 'differences',
      title: 'Differences',
      rows: differences,
      series: [
        { name: 'Missed by pulls', tone: 'missed', where: MISSED },
        { name: 'Left to a person', tone: 'unclosed', where: `not ${MISSED}` },
      ],
    }),
  ],
  sentences: proofs,
  drillDown: {
    objects: (scope) => sql`
      select t.*, null::bigint as event_trigger_id, null::bigint as email_id, p.client_id, p.professional_id, p.reason_id, p.location_id,
             t.started_time as time, t.entry as name, t.kind as status,
             t.feed_run_id || ' ' || t.place as row_key, t.feed_id || ' ' || t.local_start::date as line
      from (select d.*, ${scope.businessId}::bigint as business_id, null::text as object_uuid
            from (${differences(scope)}) d) t
      ${PARTS_OF_OBJECT}`,
    keys: () => ['line'],
    figures: {
      ...Object.fromEntries(KINDS.map(({ kind, name }) => [name, { where: `kind = '${kind}'` }])),
      missed: { where: MISSED },
      open: { where: OPEN },
    },
  },
}
