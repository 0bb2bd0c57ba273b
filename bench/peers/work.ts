import type pg from 'pg'
import { textOfHtml } from '../../src/email/html.ts'
import { compileTemplate, mergeMail } from '../../src/email/merge.ts'
import { BODY, SUBJECT } from '../../test/support/due-reminders.ts'
import type { Stage } from './stage.ts'

export const DELIVERIES = `create table bench_delivery (
  appointment bigint primary key, client_id bigint, to_address text, subject text, html text,
  body_text text, sent_time timestamptz not null)`

/**
 * What a job of a peer does: read appointment, client and template, merge, hand to a transport that
 * does nothing, record the delivery. For one job, or for several at once.
 */
export async function deliver({ pool, business }: Stage, ids: number[]) {
  const { rows } = await pool.query({
    name: 'bench_read',
    text: `
      select c.calendar_id, c.start_time, c.end_time, c.status, c.note, c.change_note,
             k.client_id, k.first_name, k.last_name, k.email_address, k.phone, k.time_zone, k.language,
             b.name as business_name, b.time_zone as business_zone, l.name as location_name, l.address,
             p.first_name as staff_first, p.last_name as staff_last, r.name as reason_name,
             r.duration_minutes, m.subject, m.email_body
      from unnest($1::bigint[]) as a (id)
      cross join lateral (
        select * from calendar o where o.business_id = $2 and o.calendar_id = a.id limit 1) c
      join client k on k.business_id = c.business_id and k.client_id = c.client_id
      join business b on b.business_id = c.business_id
      join location l on l.business_id = c.business_id and l.location_id = c.location_id
      join professional p on p.business_id = c.business_id and p.professional_id = c.professional_id
      join reason r on r.business_id = c.business_id and r.reason_id = c.reason_id
      join email_template m on m.business_id = c.business_id and m.email_template_id = $3`,
    values: [ids, business.businessId, business.emailTemplateId],
  })
  const mails = rows.map((row) => mergeMail(template, contextOf(row), null))
  const values = [
    rows.map((row) => row.calendar_id),
    rows.map((row) => row.client_id),
    mails.map((mail) => mail.to!.address),
    mails.map((mail) => mail.subject),
    mails.map((mail) => mail.html),
    mails.map((mail) => mail.text),
  ]
  await pool.query({
    name: 'bench_record',
    text: `
      insert into bench_delivery (appointment, client_id, to_address, subject, html, body_text, sent_time)
      select *, clock_timestamp()
      from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[])`,
    values,
  } satisfies pg.QueryConfig)
}

const template = compileTemplate({
  subject: SUBJECT,
  html: BODY,
  text: textOfHtml(BODY),
  fromName: null,
  fromAddress: null,
  toName: null,
  toAddress: null,
  ccAddress: null,
  bccAddress: null,
  replyToAddress: null,
  language: null,
  because: null,
  styles: '',
  hasLayout: false,
})

// oxlint-disable-next-line typescript/no-explicit-any -- a flat row, given its shape here
function contextOf(row: any): Parameters<typeof mergeMail>[1] {
  const moment = (date: Date) => Temporal.Instant.fromEpochMilliseconds(date.getTime())
  return {
    business: {
      senderDomains: [],
      accentColor: null,
      website: null,
      replyTo: null,
      logo: null,
      bookingUrl: null,
      name: row.business_name,
      emailAddress: null,
      phone: null,
      postalAddress: null,
      postalAddressRequired: false,
      timeZone: row.business_zone,
      language: null,
    },
    location: {
      name: row.location_name,
      address: row.address,
      emailAddress: null,
      phone: null,
      directions: null,
      timeZone: null,
      externalId: null,
    },
    professional: {
      firstName: row.staff_first,
      lastName: row.staff_last,
      emailAddress: null,
      timeZone: null,
      externalId: null,
    },
    client: {
      firstName: row.first_name,
      lastName: row.last_name,
      emailAddress: row.email_address,
      phone: row.phone,
      timeZone: row.time_zone,
      language: row.language,
      externalId: null,
      tags: {},
    },
    reason: {
      name: row.reason_name,
      durationMinutes: row.duration_minutes,
      price: null,
      currency: null,
      externalId: null,
    },
    calendar: {
      calendarId: Number(row.calendar_id),
      startTime: moment(row.start_time),
      endTime: moment(row.end_time),
      status: row.status,
      isCancelled: false,
      isMissed: false,
      isLive: true,
      note: row.note,
      changeNote: row.change_note,
      answerNote: null,
      previousStartTime: null,
      externalId: null,
      tags: {},
    },
    classSchedule: null,
    invitation: null,
    recall: null,
    disclaimer: null,
    movedFrom: null,
    unsubscribeLink: null,
    calendarLink: null,
  }
}
