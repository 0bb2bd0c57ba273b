import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { EMAIL_STATUSES } from '../src/contract/email.ts'
import { objectKind } from '../src/contract/objects.ts'
import { openEmbedded } from '../src/database/embedded.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/postgres.ts'
import {
  listEmails,
  listEmailsAbout,
  type EmailFilters,
  type EmailPage,
} from '../src/store/emails.ts'
import { listObjects } from '../src/store/objects.ts'

/**
 * How long a page of a list takes with a thousand and a million rows, with row-level security and for
 * every filter: node bench/lists.bench.ts [max rows, 1000000] [pages of each, 200] [objects|mails]
 */
const maxRows = Number(process.argv[2] ?? 1_000_000)
const samples = Number(process.argv[3] ?? 200)
const which = process.argv[4]
const START = Date.UTC(2024, 0)
const STATUSES = ['OPEN', 'CONFIRMED', 'COMPLETED', 'CANCELLED', 'NO_SHOW']
const NAMES = [
  'Müller',
  'Meier',
  'Şahin',
  'Zhang',
  'Okafor',
  'García',
  'Żółć',
  'Smith',
  'Haddad',
  'Li',
]

const folder = mkdtempSync(path.join(tmpdir(), 'bellwether-bench-'))
const server = await openEmbedded(path.join(folder, 'data'), 'command')
try {
  await migrate(server.url)
  const sizes = [1_000, 1_000_000].map((size) => Math.min(size, maxRows))
  const measured = new Map<string, number[]>()
  for (const size of sizes) {
    const businessId = await fill(size)
    const objects = which === 'mails' ? [] : await measure(businessId, size)
    const mails = which === 'objects' ? [] : await measureMails(businessId, size)
    for (const [name, times] of [...objects, ...mails]) {
      measured.set(name, [
        ...(measured.get(name) ?? []),
        percentile(times, 0.5),
        percentile(times, 0.99),
      ])
    }
  }
  const [small, large] = sizes.map((size) => size.toLocaleString('en'))
  console.log(`ms for a page of 50`.padEnd(34), `${small}: p50   p99   ${large}: p50   p99`)
  for (const [name, figures] of measured) {
    console.log(name.padEnd(34), figures.map((ms) => ms.toFixed(1).padStart(8)).join(' '))
  }
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}

function percentile(times: number[], share: number) {
  return times.toSorted((a, b) => a - b)[Math.floor((times.length - 1) * share)]!
}

/** Creates a business of the given size; triggers are off. */
async function fill(size: number): Promise<number> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const by = `now(), 'x', now(), 'x'`
  const { rows } = await client.query(`
    insert into business (name, time_zone, created_date, created_user, modified_date, modified_user)
    values ('Bench', 'Europe/Zurich', ${by}) returning business_id as id`)
  const id = Number(rows[0].id)
  const changed = `to_timestamp(${START / 1000} + i * 60)`
  const names = `array['${NAMES.join(`','`)}']`
  const objects = [
    `insert into client (business_id, client_id, first_name, last_name, email_address, external_id, created_date, created_user, modified_date, modified_user)
     select ${id}, i, 'Anna', (${names})[1 + i % 10], 'c' || i || '@example.org', 'e' || i, now(), 'x', ${changed}, 'x' from generate_series(1, ${size}) i`,
    `insert into client_word (business_id, word, client_id)
     select ${id}, w, i from generate_series(1, ${size}) i,
       lateral unnest(array['anna', (array['muller','meier','sahin','zhang','okafor','garcia','zolc','smith','haddad','li'])[1 + i % 10], 'c' || i, 'example', 'org']) w`,
    `insert into calendar (business_id, calendar_id, client_id, professional_id, reason_id, location_id, start_time, end_time, status, external_id, created_date, created_user, modified_date, modified_user)
     select ${id}, i, 1 + (i * 7) % ${Math.max(1, Math.round(size / 25))}, 1 + i % 8, 1 + i % 12, 1 + i % 3,
            to_timestamp(${START / 1000} + i * 60), to_timestamp(${START / 1000} + i * 60 + 1800),
            (array['${STATUSES.join(`','`)}'])[1 + i % 5], 'e' || i, now(), 'x', ${changed}, 'x'
     from generate_series(1, ${size}) i`,
  ]
  const mails = [
    `insert into event_trigger (business_id, event_trigger_id, event_defn_id, defn_version, object_type, object_id,
                                anchor_time, scheduled_time, status, completed_time, created_date, created_user)
     overriding system value
     select ${id}, ${id} * 10000000::bigint + i, 1, 1, 'CALENDAR', i, to_timestamp(${START / 1000} + i * 60),
            to_timestamp(${START / 1000} + i * 60), 'COMPLETED', now(), now(), 'x'
     from generate_series(1, ${size}) i`,
    // Nearly all are SENT; a few have each other status, except CAPTURED.
    `insert into email (business_id, email_id, event_trigger_id, email_template_id, object_type, object_id, client_id, to_address,
                        from_address, subject, message_id, html, text, status, next_attempt_time, created_date)
     select ${id}, ${id} * 10000000::bigint + i,
            case when i % 100 <> 9 then ${id} * 10000000::bigint + i end, case when i % 50000 = 7 then 13 else 1 + i % 12 end, 'CALENDAR', i,
            1 + (i * 7) % ${Math.max(1, Math.round(size / 25))}, 'c' || i || '@example.org',
            'hello@example.org', 'See you soon', '<' || i || '@example.org>', '<p>Hello</p>', 'Hello', m.status,
            case when m.status in ('QUEUED', 'RETRYING', 'UNCERTAIN') then now() end,
            to_timestamp(${START / 1000} + i * 60)
     from generate_series(1, ${size}) i,
       lateral (select case when i % 100 = 3 then 'FAILED' when i % 100 = 5 then 'SUPPRESSED'
                            when i % 100 = 8 then 'CANCELLED' when i % 500 = 11 then 'RETRYING'
                            when i % 1000 = 12 then 'UNCERTAIN' when i % 500 = 13 then 'QUEUED'
                            else 'SENT' end as status) m`,
    // Workers have claimed the oldest of them.
    `insert into email_queue (business_id, email_id, status, created_date, next_attempt_time, useful_until, worker)
     select business_id, email_id, status, created_date, next_attempt_time, created_date + interval '72 hours', case when taken then 'bench' end
     from (select *, status = 'QUEUED'
                     and row_number() over (partition by status order by created_date) <= 200 as taken
           from email where business_id = ${id} and next_attempt_time is not null) waiting`,
  ]
  const statements = [
    'set session_replication_role = replica',
    ...(which === 'mails' ? [] : objects),
    ...(which === 'objects' ? [] : mails),
    'vacuum analyze',
  ]
  for (const statement of statements) await client.query(statement)
  await client.end()
  return id
}

async function measure(businessId: number, size: number) {
  const database = openDatabase({ url: server.url })
  const db = database.forBusiness(businessId, 'key:bench')
  const moment = (share: number) =>
    Temporal.Instant.fromEpochMilliseconds(START + Math.round(size * share) * 60_000)
  const lists: [string, string, (i: number) => Record<string, unknown>][] = [
    ['all appointments', 'calendar', () => ({})],
    [
      'a day',
      'calendar',
      (i) => ({ from: moment((i % 97) / 100), to: moment((i % 97) / 100 + 0.01) }),
    ],
    ['locationId', 'calendar', (i) => ({ locationId: 1 + (i % 3) })],
    ['professionalId', 'calendar', (i) => ({ professionalId: 1 + (i % 8) })],
    ['reasonId', 'calendar', (i) => ({ reasonId: 1 + (i % 12) })],
    ['clientId', 'calendar', (i) => ({ clientId: 1 + (i % 40) })],
    ['status', 'calendar', (i) => ({ status: STATUSES[i % 5] })],
    [
      'staff, status, from',
      'calendar',
      (i) => ({ professionalId: 1 + (i % 8), status: 'NO_SHOW', from: moment((i % 90) / 100) }),
    ],
    [
      'place, service, status',
      'calendar',
      (i) => ({ locationId: 1 + (i % 3), reasonId: 1 + (i % 12), status: STATUSES[i % 5] }),
    ],
    ['externalId', 'calendar', (i) => ({ externalId: `e${1 + ((i * 37) % size)}` })],
    ['externalId: no match', 'calendar', (i) => ({ externalId: `x${i}` })],
    ['modifiedSince: the last 100', 'calendar', () => ({ modifiedSince: moment(1 - 100 / size) })],
    ['modifiedSince: a tenth', 'calendar', () => ({ modifiedSince: moment(0.9) })],
    ['modifiedSince: nothing', 'calendar', () => ({ modifiedSince: moment(2) })],
    ['modifiedSince: all', 'calendar', () => ({ modifiedSince: moment(0) })],
    [
      'modifiedSince of one client',
      'calendar',
      (i) => ({ clientId: 1 + i, modifiedSince: moment(0.9) }),
    ],
    ['all clients', 'client', () => ({})],
    ['clients: modifiedSince a tenth', 'client', () => ({ modifiedSince: moment(0.9) })],
    ['clients: externalId', 'client', (i) => ({ externalId: `e${1 + i}` })],
    ['search: a rare word', 'client', (i) => ({ search: `c${1 + ((i * 37) % size)}` })],
    ['search: one in ten', 'client', (i) => ({ search: ['müll', 'Zolc', 'oka', 'zha'][i % 4] })],
    ['search: everyone', 'client', () => ({ search: 'ann' })],
    ['search: two words', 'client', (i) => ({ search: ['anna smith', 'garc anna'][i % 2] })],
    ['search: no match', 'client', (i) => ({ search: `x${i}` })],
  ]
  const found = new Map<string, number[]>()
  for (const [name, kindName, filtersOf] of lists) {
    const kind = objectKind(kindName)!
    const times: number[] = []
    for (let i = 0; i < samples; i += 1) {
      const begin = performance.now()
      await listObjects(db, businessId, kind, {
        filters: filtersOf(i),
        after: undefined,
        limit: 51,
        visibility: null,
      })
      times.push(performance.now() - begin)
    }
    found.set(name, times.slice(10))
  }
  await database.close()
  return found
}

/** Every filter of `GET /emails`, each status, and the lists of one object and of one client. */
async function measureMails(businessId: number, size: number) {
  const database = openDatabase({ url: server.url })
  const db = database.forBusiness(businessId, 'key:bench')
  const moment = (share: number) =>
    Temporal.Instant.fromEpochMilliseconds(START + Math.round(size * share) * 60_000)
  const day = (i: number) => ({ from: moment((i % 97) / 100), to: moment((i % 97) / 100 + 0.01) })
  const lists: [string, (i: number) => Partial<EmailFilters & EmailPage>][] = [
    ['all mails', () => ({})],
    [
      'mails: a page further',
      (i) => ({ after: { createdDate: String(moment((i % 90) / 100)), emailId: 1 } }),
    ],
    ...EMAIL_STATUSES.map((status): [string, () => Partial<EmailFilters & EmailPage>] => [
      `mails: ${status}`,
      () => ({ statuses: [status] }),
    ]),
    ['mails: templateId', (i) => ({ emailTemplateId: 1 + (i % 12) })],
    ['mails: a template of few mails', () => ({ emailTemplateId: 13 })],
    ['mails: a template of none', () => ({ emailTemplateId: 14 })],
    ['mails: from, to', day],
    ['mails: from', (i) => ({ from: moment((i % 97) / 100) })],
    ['mails: to', (i) => ({ to: moment((i % 97) / 100 + 0.01) })],
    ['mails: FAILED, from, to', (i) => ({ statuses: ['FAILED'], ...day(i) })],
    ['mails: SENDING, from', (i) => ({ statuses: ['SENDING'], from: moment((i % 97) / 100) })],
    [
      'mails: SENT, templateId, from, to',
      (i) => ({ statuses: ['SENT'], emailTemplateId: 1 + (i % 12), ...day(i) }),
    ],
    ['mails: FAILED, templateId', (i) => ({ statuses: ['FAILED'], emailTemplateId: 1 + (i % 12) })],
    [
      'mails: CAPTURED, templateId',
      (i) => ({ statuses: ['CAPTURED'], emailTemplateId: 1 + (i % 12) }),
    ],
    ['mails: FAILED, a template of few', () => ({ statuses: ['FAILED'], emailTemplateId: 13 })],
  ]
  const found = new Map<string, number[]>()
  const take = async (name: string, ask: (i: number) => Promise<unknown>) => {
    const times: number[] = []
    for (let i = 0; i < samples; i += 1) {
      const begin = performance.now()
      await ask(i)
      times.push(performance.now() - begin)
      // A slow query needs fewer samples.
      if (times.reduce((sum, ms) => sum + ms, 0) > 5_000) break
    }
    found.set(name, times.length > 20 ? times.slice(10) : times)
  }
  for (const [name, filtersOf] of lists) {
    await take(name, (i) => {
      const asked = { limit: 51, visibility: null, ...filtersOf(i) }
      return listEmails(db, businessId, asked, asked)
    })
  }
  await take('mails of a client', (i) =>
    listEmailsAbout(db, businessId, { clientId: 1 + (i % 40) }, { limit: 501, visibility: null }),
  )
  await take('mails of an appointment', (i) =>
    listEmailsAbout(db, businessId, { calendarId: 1 + i }, { limit: 501, visibility: null }),
  )
  await database.close()
  return found
}
