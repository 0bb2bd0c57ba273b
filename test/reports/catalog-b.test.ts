import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import type { Lifetime } from '../support/clean-up.ts'
import { NOW } from './business.ts'
import {
  calculate,
  linesOf as records,
  localStart,
  openMeasuredBusiness,
  OUTCOMES,
  print,
  seeded,
  sorted,
  type Printed,
  type Row,
} from './measured-business.ts'

const YEAR = { startDate: '2026-01-01', endDate: '2026-12-31' }
const NOVEMBER = { startDate: '2026-11-01', endDate: '2026-11-30' }
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const NOW_MS = NOW.epochMilliseconds

type Reminder = { calendarId: number; momentMs: number; mail: string | null }
type Booked = Row & { bookedMs: number }

test('the reports agree with plain calculations over exported rows', async (t) => {
  const business = await openBusinessWithHistory(t)
  const { rows, reminders } = business
  const byId = new Map(reminders.map((reminder) => [reminder.calendarId, reminder]))

  const isWithin = (row: Row, { startDate, endDate }: typeof YEAR) =>
    dayOf(row, business) >= startDate && dayOf(row, business) <= endDate

  await t.test('904 divides appointments into four groups', async () => {
    const expected = new Map(
      ['Reached', 'Tried', 'No reminder', 'Booked too late'].map((name) => [name, [0, 0, 0]]),
    )
    for (const row of rows) {
      const reminder = byId.get(row.calendarId)
      const momentMs = reminder?.momentMs ?? row.startTime - DAY_MS
      const isReached = reminder?.mail === 'SENT'
      const group =
        row.bookedMs > momentMs
          ? 'Booked too late'
          : isReached
            ? 'Reached'
            : reminder
              ? 'Tried'
              : 'No reminder'
      const counts = expected.get(group)!
      const outcome = outcomeOf(row)
      if (outcome === 'KEPT' || outcome === 'MISSED') counts[0]! += 1
      if (outcome === 'MISSED') counts[1]! += 1
      if (outcome === 'CANCELLED' && isReached) counts[2]! += 1
    }
    const printed = await print(business, { reportId: 904, ...YEAR })
    const shown = records(printed)
    assert.equal(shown.length, 4)
    for (const [name, counts] of expected) {
      const line = shown.find(({ group }) => String(group).startsWith(name))!
      assert.deepEqual([line.total, line.missed, line.freed], counts, name)
      assert.ok(Number(line.low) <= Number(line.rate) && Number(line.rate) <= Number(line.high))
      assert.ok(counts[0]! > 3, `the data has appointments of the group ${name}`)
    }
    assert.equal(kpi(printed, 'difference'), null)
    assert.match(
      printed.sentences[0]!,
      /cannot be told yet: about \d+ more appointments are needed/,
    )
    assert.deepEqual(
      kpi(printed, 'freed'),
      [...expected.values()].reduce((sum, [, , freed]) => sum + freed!, 0),
    )
  })

  await t.test('100 describes the last month of the range in three sentences', async () => {
    const printed = await print(business, {
      reportId: 100,
      startDate: '2026-03-05',
      endDate: '2026-10-12',
    })
    assert.equal(printed.parameters.startDate, '2026-10-01')
    assert.equal(printed.parameters.endDate, '2026-10-31')
    const lines = records(printed)
    const months = ['2026-10', '2026-09', '2025-10', '2026-11']
    assert.deepEqual(
      lines.map(({ month }) => month),
      months,
    )
    lines.forEach((line, i) => {
      const own = calculate(rows.filter((row) => dayOf(row, business).startsWith(months[i]!)))
      assert.equal(line.appointments, own.appointments)
      assert.equal(line.cancelled, own.cancelled)
      assert.equal(line.completed, own.kept)
      assert.equal(line.revenueCHF, own.money.revenue?.CHF ?? 0)
      assert.equal(line.ahead, i === 3 ? own.ahead : null)
    })
    const [october, november] = ['2026-10', '2026-11'].map((month) =>
      calculate(rows.filter((row) => dayOf(row, business).startsWith(month))),
    )
    assert.equal(printed.sentences.length, 3)
    assert.ok(
      printed.sentences[0]!.startsWith(
        `October 2026 had ${october!.appointments} appointments on `,
      ),
    )
    assert.match(
      printed.sentences[1]!,
      /^For its weekday, the best day was \S+ \d+ with \d+ kept \(usually [\d.]+\), the worst /,
    )
    const next = november!.appointments - november!.cancelled
    assert.ok(printed.sentences[2]!.startsWith(`November 2026 already has ${next} appointments`))
    assert.equal(kpi(printed, 'nextMonth'), next)
    const october2026 = { reportId: 100, startDate: '2026-10-01', endDate: '2026-10-31' }
    const french = await print(business, october2026, NOW, 'fr')
    assert.match(french.sentences[0]!, /^Octobre 2026 a compté /)
    assert.match(french.sentences[2]!, /^Novembre 2026 compte déjà /)
    const freed = /([01] créneau s’est libéré|\d{1,3} créneaux se sont libérés) après un rappel/
    assert.match(french.sentences[2]!, freed)
    // Not comparable: October is fully booked, November can still get bookings.
    assert.equal(printed.kpis.find(({ name }) => name === 'nextMonth')!.previous, null)
  })

  await t.test('100 compares a running month up to the same point', async () => {
    const printed = await print(business, { reportId: 100, ...NOVEMBER })
    const [soFar, rest, before] = records(printed)
    const own = rows.filter((row) => dayOf(row, business).startsWith('2026-11'))
    const begun = own.filter(({ startTime }) => startTime <= NOW_MS)
    assert.equal(soFar!.appointments, begun.length)
    assert.equal(rest!.appointments, own.length - begun.length)
    assert.equal(rest!.completed, null)
    const point = (row: Row) =>
      NOW.toZonedDateTimeISO(localStart(row, business).timeZoneId)
        .toPlainDateTime()
        .subtract({ months: 1 })
    const earlier = rows.filter((row) => {
      const local = localStart(row, business).toPlainDateTime()
      return (
        dayOf(row, business).startsWith('2026-10') &&
        Temporal.PlainDateTime.compare(local, point(row)) < 0
      )
    })
    assert.equal(before!.appointments, earlier.length)
  })

  await t.test('106 counts future appointments and the free working time', async () => {
    const range = { startDate: '2026-11-08', endDate: '2026-11-30' }
    const printed = await print(business, { reportId: 106, ...range })
    const lines = records(printed)
    const own = rows.filter((row) => isWithin(row, range))
    for (const [id, name] of [
      [business.elena, 'Elena García'],
      [business.tom, 'Tom Becker'],
    ]) {
      const line = lines.find(({ staff }) => staff === name)!
      const ahead = own.filter((row) => row.professionalId === id && outcomeOf(row) === 'AHEAD')
      assert.equal(line.ahead, ahead.length)
      assert.equal(line.aheadValueEUR, calculate(ahead).money.aheadValue?.EUR ?? 0)
    }
    // Elena works on Sundays from 0 to 8 and on Mondays from 9 to 17, Zurich time.
    const busy = [...own, ...business.classes]
      .filter(({ status }) => OUTCOMES[status] !== 'CANCELLED')
      .filter((row) => !('professionalId' in row) || row.professionalId === business.elena)
    let open = 0
    let free = 0
    for (let ms = NOW_MS; ms < Date.UTC(2026, 10, 30, 23); ms += 60_000) {
      const at = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO('Europe/Zurich')
      const works =
        (at.dayOfWeek === 7 && at.hour < 8) || (at.dayOfWeek === 1 && at.hour >= 9 && at.hour < 17)
      if (!works) continue
      open += 1
      const isBusy = busy.some((row) => {
        const endMs = 'endTime' in row ? row.endTime : row.startTime + HOUR_MS
        return row.startTime <= ms && ms < endMs
      })
      if (!isBusy) free += 1
    }
    const elena = lines.find(({ staff }) => staff === 'Elena García')!
    assert.deepEqual([elena.openMinutes, elena.freeMinutes], [open, free])
    assert.ok(free < open, 'some working time is booked')
    assert.equal(kpi(printed, 'freeMinutes'), free)

    const past = await print(business, {
      reportId: 106,
      startDate: '2026-03-01',
      endDate: '2026-03-31',
    })
    assert.deepEqual([past.kpis, past.rows], [[], []], 'a past range has no figures')
    assert.match(past.notes.join(), /looks ahead, and the period has ended/)
  })

  await t.test('204 lists clients who missed more than one appointment', async () => {
    const range = { startDate: '2026-10-01', endDate: '2026-10-31' }
    const printed = await print(business, { reportId: 204, ...range })
    const expected = business.people.flatMap(({ clientId, name }) => {
      const own = rows.filter((row) => row.clientId === clientId)
      const missed = own.filter((row) => outcomeOf(row) === 'MISSED')
      const here = missed.filter((row) => isWithin(row, range))
      const until = missed.filter((row) => row.startTime < Date.UTC(2026, 10, 1, 4))
      const ahead = own.filter((row) => outcomeOf(row) === 'AHEAD').toSorted(byStart)[0]
      if (here.length === 0 || until.length < 2) return []
      const lost = calculate(here).money.lostValue?.CHF ?? 0
      return [[name, here.length, until.length, lost, ahead ? dayOf(ahead, business) : null]]
    })
    const shown = records(printed).map((line) => [
      line.client,
      line.noShows,
      line.missedInAll,
      line.lostCHF,
      line.nextVisit,
    ])
    assert.deepEqual(sorted(shown), sorted(expected))
    assert.ok(shown.length > 0)
    assert.equal(kpi(printed, 'repeatClients'), expected.length)
  })

  await t.test('206 lists appointments that were never closed', async () => {
    const printed = await print(business, { reportId: 206, ...YEAR })
    const unclosed = rows.filter((row) => outcomeOf(row) === 'UNCLOSED' && isWithin(row, YEAR))
    assert.deepEqual(
      sorted(
        records(printed).map(({ date, days, price, currency }) => [date, days, price, currency]),
      ),
      sorted(
        unclosed.map((row) => [
          dayOf(row, business),
          Math.floor((NOW_MS - row.startTime) / DAY_MS),
          row.price,
          row.currency,
        ]),
      ),
    )
    assert.ok(unclosed.length > 10)
    const oldest = Math.min(...unclosed.map(({ startTime }) => startTime))
    assert.equal(kpi(printed, 'oldestDays'), Math.floor((NOW_MS - oldest) / DAY_MS))
    // Not compared: earlier months had more time to be closed, so a change would always look good.
    const october = await print(business, {
      reportId: 206,
      startDate: '2026-10-01',
      endDate: '2026-10-31',
    })
    assert.deepEqual(
      october.kpis.map(({ previous }) => previous),
      [null, null, null],
    )
  })

  await t.test('505 lists clients without a working address', async () => {
    const printed = await print(business, { reportId: 505, ...YEAR })
    const came = business.people.filter(({ clientId }) =>
      rows.some((row) => row.clientId === clientId && OUTCOMES[row.status] !== 'CANCELLED'),
    )
    const expected = came.flatMap(({ name, cause }) => (cause ? [[name, cause]] : []))
    assert.deepEqual(
      sorted(records(printed).map(({ client, cause }) => [client, cause])),
      sorted(expected),
    )
    assert.equal(kpi(printed, 'noAddress'), 1)
    assert.equal(kpi(printed, 'suppressed'), 1)
    assert.equal(kpi(printed, 'unreachableShare'), Math.round((1000 * 2) / came.length) / 10)
  })

  await t.test('205 lists cancelled slots that stayed free', async () => {
    const printed = await print(business, { reportId: 205, ...YEAR })
    const taken = [
      ...rows.filter((row) => OUTCOMES[row.status] !== 'CANCELLED'),
      ...business.classes
        .filter(({ status }) => status !== 'CANCELLED')
        .map(({ startTime }) => ({
          startTime,
          endTime: startTime + HOUR_MS,
          professionalId: business.elena,
        })),
    ]
    const empty = rows.filter(
      (row) =>
        OUTCOMES[row.status] === 'CANCELLED' &&
        isWithin(row, YEAR) &&
        !taken.some(
          (other) =>
            other.professionalId === row.professionalId &&
            other.startTime < row.endTime &&
            other.endTime > row.startTime,
        ),
    )
    assert.deepEqual(
      sorted(
        records(printed).map(({ date, minutes, price, currency }) => [
          date,
          minutes,
          price,
          currency,
        ]),
      ),
      sorted(
        empty.map((row) => [
          dayOf(row, business),
          (row.endTime - row.startTime) / 60_000,
          row.price,
          row.currency,
        ]),
      ),
    )
    const past = empty.filter(({ startTime }) => startTime <= NOW_MS)
    assert.equal(kpi(printed, 'stayedEmpty'), past.length)
    assert.equal(kpi(printed, 'stillFree'), empty.length - past.length)
    assert.ok(past.length > 0)
  })

  await t.test('402 has a line for each service at each location', async () => {
    const printed = await print(business, { reportId: 402, ...YEAR })
    const own = rows.filter((row) => isWithin(row, YEAR))
    const groups = Map.groupBy(own, (row) => `${row.locationId} ${row.reasonId}`)
    assert.equal(printed.rows.length, groups.size)
    assert.deepEqual(
      sorted(
        records(printed).map((line) => [
          line.appointments,
          line.completed,
          line.minutes,
          line.revenueCHF,
          line.revenueEUR,
        ]),
      ),
      sorted(
        [...groups.values()].map((group) => {
          const { appointments, kept, bookedMinutes, money } = calculate(group)
          const { CHF = 0, EUR = 0 } = money.revenue ?? {}
          return [appointments, kept, bookedMinutes, CHF, EUR]
        }),
      ),
    )
  })

  await t.test('602 lists every student of every class', async () => {
    const printed = await print(business, { reportId: 602, ...YEAR })
    const held = business.classes.filter(
      ({ status, locationId, startTime }) =>
        status !== 'CANCELLED' && dayOf({ locationId, startTime }, business) <= YEAR.endDate,
    )
    const expected = held.flatMap(({ students, ...one }) =>
      Array.from({ length: students }, () => [
        dayOf(one, business),
        one.startTime > NOW_MS ? 'Booked ahead' : 'Not recorded',
      ]),
    )
    assert.deepEqual(
      sorted(records(printed).map(({ date, presence }) => [date, presence])),
      sorted(expected),
    )
    assert.equal(kpi(printed, 'students'), expected.length)
    const filtered = await print(business, {
      reportId: 602,
      ...YEAR,
      filters: { clientIdList: [rows[0]!.clientId] },
    })
    // The rows are those of one client, so a tile with all students would contradict them.
    assert.ok(!filtered.kpis.some(({ name }) => name === 'students'))
    assert.ok(filtered.notes.some((note) => note.startsWith('Students is left out')))
  })

  await t.test('903 says when an automation last fired', async () => {
    const printed = await print(business, { reportId: 903, ...YEAR })
    const fired = reminders.filter(({ mail }) => mail !== null)
    const isInYear = ({ momentMs }: Reminder) =>
      new Date(momentMs + HOUR_MS).toISOString().startsWith('2026')
    const [line] = records(printed)
    const last = Math.max(...fired.map(({ momentMs }) => momentMs))
    const local = Temporal.Instant.fromEpochMilliseconds(last).toZonedDateTimeISO('Europe/Zurich')
    assert.equal(line!.automation, 'A day before')
    assert.equal(line!.lastFired, local.toPlainDateTime().toString().slice(0, 16).replace('T', ' '))
    assert.equal(line!.fired, fired.filter(isInYear).length)
    assert.equal(line!.dropped, reminders.filter(isInYear).length - fired.filter(isInYear).length)
    assert.equal(kpi(printed, 'silent'), 0)
  })
})

const byStart = (a: Row, b: Row) => a.startTime - b.startTime

const outcomeOf = ({ status, startTime }: Row) => {
  const outcome = OUTCOMES[status]
  if (outcome === 'CANCELLED') return outcome
  return startTime > NOW_MS ? 'AHEAD' : (outcome ?? 'UNCLOSED')
}

const dayOf = (row: { locationId: number; startTime: number }, business: { newYork: number }) =>
  localStart(row, business).toPlainDate().toString()

const kpi = ({ kpis }: Printed, wanted: string) => kpis.find(({ name }) => name === wanted)!.value

/** The measured business, with lead times, reminders and mails. */
async function openBusinessWithHistory(t: Lifetime) {
  const business = await openMeasuredBusiness(t)
  const { db, businessId } = business
  const random = seeded(904)
  const pick = <T>(items: T[]) => items[Math.floor(random() * items.length)]!
  const rows: Booked[] = business.rows.map((row) => ({
    ...row,
    bookedMs: row.startTime - pick([HOUR_MS, 2 * DAY_MS, 5 * DAY_MS, 20 * DAY_MS, 60 * DAY_MS]),
  }))
  await db.query(sql`
    update calendar c set booked_time = to_timestamp(b.at / 1000)
    from unnest(${rows.map(({ calendarId }) => calendarId)}::bigint[],
                ${rows.map(({ bookedMs }) => bookedMs)}::float8[]) b (id, at)
    where c.business_id = ${businessId} and c.calendar_id = b.id`)
  const reminders = await addReminders(business, rows, pick)
  const people = await addAddresses(business)
  return { ...business, rows, reminders, people }
}

/** Ben has no address, Zoë's bounced, Anna can be reached. */
async function addAddresses({ db, businessId }: Business) {
  await db.query(sql`
    update client set email_address = first_name || '@Example.org'
    where business_id = ${businessId} and first_name <> 'Ben'`)
  await db.query(sql`
    insert into suppression (business_id, email_address, reason, created_date, created_user)
    values (${businessId}, 'zoë@example.org', 'UNSUBSCRIBED', ${NOW}, 'TEST'),
           (${businessId}, 'zoë@example.org', 'BOUNCED', ${NOW}, 'TEST'),
           (${businessId}, 'nobody@example.org', 'BOUNCED', ${NOW}, 'TEST')`)
  const people = await db.query<{ clientId: number; name: string }>(sql`
    select client_id as "clientId", first_name || ' ' || last_name as name
    from client where business_id = ${businessId}`)
  const causes: Record<string, string> = { 'Ben Abel': 'No address', 'Zoë Öz': 'Address bounced' }
  return people.map((person) => ({ ...person, cause: causes[person.name] ?? null }))
}

type Business = Awaited<ReturnType<typeof openMeasuredBusiness>>
type Pick = <T>(items: T[]) => T

/** A reminder a day before for some appointments, with or without a mail to the client. */
async function addReminders({ db, businessId }: Business, rows: Booked[], pick: Pick) {
  const [definition] = await db.query<{ id: number }>(sql`
    insert into event_definition (business_id, active, description, event_type_id, object_type, trigger_hours,
                                  created_date, created_user, modified_date, modified_user)
    values (${businessId}, true, 'A day before', 3, 'CALENDAR', -24, ${NOW}, 'TEST', ${NOW}, 'TEST')
    returning event_defn_id as id`)
  const reminders: Reminder[] = []
  for (const row of rows) {
    if (row.startTime > NOW_MS || !pick([true, true, false])) continue
    const momentMs = row.startTime - DAY_MS
    const moment = Temporal.Instant.fromEpochMilliseconds(momentMs)
    const mail = pick(['SENT', 'SENT', 'BOUNCED', 'SUPPRESSED', null])
    const [trigger] = await db.query<{ id: number }>(sql`
      insert into event_trigger (business_id, event_defn_id, defn_version, object_type, object_id, anchor_time,
                                 scheduled_time, status, completed_time, created_date)
      values (${businessId}, ${definition!.id}, 1, 'CALENDAR', ${row.calendarId},
              ${moment.add({ hours: 24 })}, ${moment}, ${mail ? 'COMPLETED' : 'SKIPPED'}, ${mail ? moment : null}, ${moment})
      returning event_trigger_id as id`)
    if (mail) {
      await db.query(sql`
        insert into email (business_id, event_trigger_id, object_type, object_id, recipient_key, to_address,
                           from_address, subject, message_id, status, status_reason, sent_time, created_date)
        values (${businessId}, ${trigger!.id}, 'CALENDAR', ${row.calendarId}, ${`client ${row.clientId}`},
                'a@example.org', 'b@example.org', 's', ${`m${row.calendarId}`},
                ${mail === 'BOUNCED' ? 'SENT' : mail}, ${mail === 'BOUNCED' ? 'bounced: 5.1.1' : null},
                ${moment}, ${moment})`)
    }
    reminders.push({ calendarId: row.calendarId, momentMs, mail })
  }
  return reminders
}
