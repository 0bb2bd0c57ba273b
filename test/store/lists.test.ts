import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { OBJECT_KINDS, objectKind, type ObjectKind } from '../../src/contract/objects.ts'
import { sql } from '../../src/database/sql.ts'
import { countAppointmentDays, listChangedObjects, listObjects } from '../../src/store/objects.ts'
import { cloneDatabase } from '../support/database.ts'
import { asOwner } from '../support/owner.ts'
import { statementOf } from '../support/statement.ts'

const ROWS = 6_000
const { database } = await cloneDatabase({ after })

/** Enough rows of every kind, in two businesses, that reading all of them would be slow. */
before(async () => {
  const by = `now(), 'x', now(), 'x'`
  const time = `to_timestamp(1700000000 + i * 600)`
  const into = (table: string, columns: string, values: string) => `
    insert into ${table} (business_id, ${columns}, created_date, created_user, modified_date, modified_user)
    select 1 + i % 2, ${values}, now(), 'x', ${time}, 'x' from generate_series(1, ${ROWS}) i`
  const refs = 'client_id, professional_id, reason_id, location_id'
  const ids = '1 + i % 500, 1 + i % 80, 1 + i % 120, 1 + i % 60'
  const status = `case when i % 50 = 2 then 'CONFIRMED' else 'OPEN' end`
  await asOwner(
    database,
    `insert into business (business_id, name, time_zone, created_date, created_user, modified_date, modified_user)
     select i, 'B', 'UTC', ${by} from generate_series(1, 2) i`,
    'set session_replication_role = replica',
    into('client', 'client_id, first_name, last_name', `i, 'A', 'B'`),
    `insert into client_word (business_id, word, client_id)
     select 1 + i % 2, w, i from generate_series(1, ${ROWS}) i, lateral unnest(array['anna', 'w' || i]) w`,
    into(
      'calendar',
      `calendar_id, ${refs}, start_time, end_time, status`,
      `i, ${ids}, ${time}, ${time} + interval '1 hour', ${status}`,
    ),
    into(
      'class_schedule',
      `class_schedule_id, name, professional_id, reason_id, location_id, start_time, end_time, status, client_id_list`,
      `i, 'Yoga', 1 + i % 80, 1 + i % 120, 1 + i % 60, ${time}, ${time} + interval '1 hour', ${status}, array[i % 500, i % 499]`,
    ),
    into(
      'invitation',
      'invitation_uuid, invitation_campaign_id, client_id, status',
      `md5(i::text), 1 + i % 40, 1 + i % 500, ${status}`,
    ),
    into('recall', `recall_id, ${refs}, due_time, status`, `i, ${ids}, ${time}, ${status}`),
    into(
      'disclaimer',
      'disclaimer_id, disclaimer_form_id, client_id, calendar_id, status',
      `i, 1 + i % 40, 1 + i % 500, i, ${status}`,
    ),
    'analyze',
  )
})

const VALUES: Record<string, unknown> = {
  from: Temporal.Instant.from('2023-12-24T00:00:00Z'),
  to: Temporal.Instant.from('2023-11-16T00:00:00Z'),
  modifiedSince: Temporal.Instant.from('2023-12-20T00:00:00Z'),
  status: 'CONFIRMED',
  search: 'w12',
}

/** A business has so few staff that one page holds them all. */
const SMALL = new Set(['professional'])

/** A business has few of these: any plan is fast. */
const FEW = new Set([
  'location',
  'reason',
  'invitationCampaign',
  'disclaimerForm',
  'emailCategory',
  'emailTemplate',
])

const isUnindexed = (kind: ObjectKind, filter: string) =>
  filter === 'active' || (['modifiedSince', 'externalId'].includes(filter) && FEW.has(kind.kind))

for (const kind of OBJECT_KINDS.filter(({ kind: name }) => !SMALL.has(name))) {
  for (const filter of Object.keys(kind.filters).filter((name) => !isUnindexed(kind, name))) {
    test(`${kind.kind} is filtered by ${filter} through an index, under row-level security`, async () => {
      const plan = await planOf(kind, { [filter]: VALUES[filter] ?? 7 })
      const { field } = kind.filters[filter]!
      const column =
        field === 'search'
          ? 'word'
          : field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      const indexed = column === 'client_id_list' ? 'class_schedule_id' : column
      assert.match(plan, new RegExp(`"Index Cond":"[^"]*${indexed}`))
    })
  }
}

test('the next page is read through an index too', async () => {
  const plan = await planOf(objectKind('calendar')!, { status: 'OPEN' }, [
    '2023-11-20T00:00:00Z',
    700,
  ])
  assert.match(plan, /"Index Cond":"[^"]*start_time/)
})

test('changes are read page by page in order, without a sort and without reading other rows', async () => {
  const filters = { modifiedSince: Temporal.Instant.from('2023-11-16T00:00:00Z') }
  for (const position of [undefined, ['2023-11-20T00:00:00Z', 700]]) {
    const plan = await planOf(objectKind('calendar')!, filters, position)
    assert.match(plan, /"Index Cond":"[^"]*modified_date/)
    assert.doesNotMatch(plan, /"Node Type":"(Incremental )?Sort"|"Filter":"[^"]*modified_date/)
  }
})

test('lists by changedSince, and lists of deleted objects, are read through an index in their order', async () => {
  const large = OBJECT_KINDS.filter(({ kind }) => !SMALL.has(kind) && !FEW.has(kind))
  for (const kind of large) {
    const id = kind.id === 'invitationUUID' ? 'x' : 7
    for (const afterId of [undefined, id]) {
      const changes = { since: { transaction: '3', afterId }, until: '10' }
      const listing = { filters: {}, changes, limit: 51, visibility: null }
      const plan = await explain((db) => listChangedObjects(db, 1, kind, listing))
      assert.match(plan, /"Index Cond":"[^"]*changed_in/, kind.kind)
      assert.doesNotMatch(plan, SORTED)
    }
    const deleted = await planOf(kind, { active: 'false' })
    assert.match(deleted, new RegExp(`"Index Name":"${kind.table}_deleted"`))
    assert.doesNotMatch(await planOf(kind, { active: 'all' }), SORTED)
  }
})

const SORTED = /"Node Type":"(Incremental )?Sort"/

test('a day at one location is read, and the days of a week are counted, through an index', async () => {
  const week = {
    from: Temporal.Instant.fromEpochMilliseconds(1_700_600_000_000),
    to: Temporal.Instant.fromEpochMilliseconds(1_700_700_000_000),
    locationId: undefined,
  }
  const day = { from: week.from, to: week.to, locationId: 7 }
  assert.match(await planOf(objectKind('calendar')!, day), /"Index Cond":"[^"]*start_time/)
  const statement = await statementOf((db) => countAppointmentDays(db, 1, week, null))
  const rows = await database.forBusiness(1, 'test').query(sql`explain (format json) ${statement}`)
  assert.match(JSON.stringify(rows), /"Index Cond":"[^"]*start_time/)
})

/** The server's plan of a list, under the application's role. */
async function planOf(
  kind: ObjectKind,
  filters: Record<string, unknown>,
  position?: (string | number)[],
): Promise<string> {
  const listing = { filters, after: position, limit: 51, visibility: null }
  return explain((db) => listObjects(db, 1, kind, listing))
}

async function explain(list: Parameters<typeof statementOf>[0]) {
  const statement = await statementOf(list)
  const db = database.forBusiness(1, 'test')
  const rows = await db.query(sql`explain (format json) ${statement}`)
  return JSON.stringify(rows).replaceAll('\\"', "'")
}
