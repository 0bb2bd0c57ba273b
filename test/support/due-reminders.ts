import pg from 'pg'

/** Many due reminders, inserted directly into the tables because booking them would take too long. */
export type DueReminders = {
  /** The number of businesses, each with staff, clients, a template and one reminder a day before. */
  businesses: number
  /** The number of appointments of each business, by its index. */
  appointments: (place: number) => number
  /** When the first reminder of a business is due; the others follow within `spreadMs`. */
  dueFrom: (place: number) => Temporal.Instant
  spreadMs: number
}

export type BusinessWithReminders = {
  businessId: number
  eventDefnId: number
  emailTemplateId: number
}

export async function insertDueReminders(
  url: string,
  reminders: DueReminders,
): Promise<BusinessWithReminders[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const made: BusinessWithReminders[] = []
    for (let place = 0; place < reminders.businesses; place += 1) {
      const business = await makeBusiness(client, place)
      const count = reminders.appointments(place)
      const dueFrom = reminders.dueFrom(place)
      await insertAppointments(client, business, { count, dueFrom, spreadMs: reminders.spreadMs })
      made.push(business)
    }
    // As autovacuum would do.
    await client.query('vacuum (analyze) calendar, pending_trigger, event_trigger, client')
    return made
  } finally {
    await client.end()
  }
}

const CLIENTS = 100
const WHO = `now(), 'SYSTEM', now(), 'SYSTEM'`
const WHO_COLUMNS = 'created_date, created_user, modified_date, modified_user'

async function makeBusiness(client: pg.Client, place: number): Promise<BusinessWithReminders> {
  const one = async (text: string, values: unknown[] = []) =>
    Number((await client.query(text, values)).rows[0].id)
  const businessId = await one(
    `insert into business (name, time_zone, ${WHO_COLUMNS}) values ($1, 'Europe/Zurich', ${WHO})
     returning business_id as id`,
    [`Practice ${place}`],
  )
  const insert = (
    table: string,
    id: string,
    columns: string,
    values: string,
    given: unknown[] = [],
  ) =>
    one(
      `insert into ${table} (business_id, ${columns}, ${WHO_COLUMNS})
       values (${businessId}, ${values}, ${WHO}) returning ${id} as id`,
      given,
    )
  await insert('location', 'location_id', 'name, address', `'Altstadt', 'Marktgasse 1'`)
  await insert(
    'professional',
    'professional_id',
    'first_name, last_name, email_address',
    `'Elena', 'García', 'elena@example.org'`,
  )
  await insert('reason', 'reason_id', 'name, duration_minutes', `'Consultation', 30`)
  await client.query(`
    insert into client (business_id, first_name, last_name, email_address, ${WHO_COLUMNS})
    select ${businessId}, 'Anna', 'Müller ' || n, 'anna.' || n || '@example.org', ${WHO}
    from generate_series(1, ${CLIENTS}) n`)
  const emailTemplateId = await insert(
    'email_template',
    'email_template_id',
    'template_name, subject, email_body',
    '$1, $2, $3',
    ['Reminder', SUBJECT, BODY],
  )
  const eventDefnId = await insert(
    'event_definition',
    'event_defn_id',
    'active, event_type_id, object_type, trigger_hours, version, planned_version',
    `true, 3, 'CALENDAR', -24, 1, 1`,
  )
  await insert(
    'event_action',
    'event_action_id',
    'event_defn_id, action_type, active, email_template_id',
    `${eventDefnId}, 'SEND_EMAIL', true, ${emailTemplateId}`,
  )
  return { businessId, eventDefnId, emailTemplateId }
}

/** The template of all these mails, also of the peers in the benchmark. */
export const SUBJECT = 'Your appointment at %BUSINESS_NAME%, %CLIENT_FIRSTNAME%'
export const BODY = `<html><body><p>Dear %CLIENT_FULLNAME%,</p>
<p>this is to remind you of your %SERVICE_NAME% with %PROFESSIONAL_FULLNAME%
on %APPT_DATE% at %APPT_START_TIME%, %LOCATION_NAME%, %LOCATION_ADDRESS%.</p>
<p>Please call us should you not be able to come.</p><p>%BUSINESS_NAME%</p></body></html>`

type Many = { count: number; dueFrom: Temporal.Instant; spreadMs: number }

/** Inserts appointments with the triggers that booking them would have scheduled. */
export async function insertAppointments(
  client: pg.Client,
  { businessId, eventDefnId }: BusinessWithReminders,
  { count, dueFrom, spreadMs }: Many,
) {
  await client.query('begin')
  // Triggers that only matter for later changes take most of the time, so they are off here.
  await client.query(`set local session_replication_role = replica`)
  await client.query(
    `with fixed as (
       select (select min(location_id) from location where business_id = $1) as location_id,
              (select min(professional_id) from professional where business_id = $1) as professional_id,
              (select min(reason_id) from reason where business_id = $1) as reason_id,
              (select min(client_id) from client where business_id = $1) as client_id
     ), booked as (
       insert into calendar (business_id, client_id, professional_id, reason_id, location_id,
                             start_time, end_time, status, ${WHO_COLUMNS})
       select $1, client_id + n % ${CLIENTS}, professional_id, reason_id, location_id, start,
              start + interval '30 minutes', 'OPEN', ${WHO}
       from fixed, generate_series(0, $2 - 1) n,
            lateral (select date_trunc('milliseconds', $3::timestamptz + interval '24 hours'
                            + n * $4::float8 / $2 * interval '1 millisecond') as start) s
       returning calendar_id, start_time
     )
     insert into pending_trigger (business_id, event_defn_id, defn_version, object_type, object_id,
                                anchor_time, scheduled_time, next_attempt_time, created_date)
     select $1, $5, 1, 'CALENDAR', calendar_id, start_time, start_time - interval '24 hours',
            start_time - interval '24 hours', now()
     from booked`,
    [businessId, count, dueFrom.toString(), spreadMs, eventDefnId],
  )
  await client.query('commit')
}

/** Ends all pending triggers without sending a mail. */
export const FIRE_ALL_SQL = `
  with gone as (delete from pending_trigger returning *)
  insert into event_trigger (business_id, event_trigger_id, event_defn_id, defn_version, object_type,
    object_id, anchor_time, scheduled_time, status, completed_time, created_date)
  select business_id, event_trigger_id, event_defn_id, defn_version, object_type, object_id,
         anchor_time, scheduled_time, 'COMPLETED', scheduled_time, created_date
  from gone`
