import type pg from 'pg'
import { fireAll } from './bellwether.ts'
import { book, rateOf, type Contender, type Stage } from './stage.ts'

/**
 * The floor: the fewest statements that leave the same rows as Bellwether, written by hand. One
 * statement for each 500 triggers deletes them, records them as COMPLETED and stores a copy of a mail
 * that Bellwether captured for each. It reads no client or template, checks nothing and runs on one
 * connection.
 */
export const floor = async (stage: Stage): Promise<Contender> => {
  const dueFrom = Temporal.Now.instant().subtract({ seconds: 30 })
  await book(stage, 1, { dueFrom, spreadMs: 0 })
  await fireAll(stage.database, 1)
  const { rows } = await stage.pool.query('select max(email_id) as id from email')
  return {
    name: 'floor',
    fire: async (ids) => {
      const client = await stage.pool.connect()
      const startedAt = performance.now()
      for (let fired = 0; fired < ids.length;) {
        const { rowCount } = await client.query(statement(stage.business.businessId, rows[0].id))
        if (!rowCount) throw new Error(`${fired} of ${ids.length} were pending`)
        fired += rowCount
      }
      const rate = rateOf(ids.length, startedAt)
      client.release()
      return rate
    },
  }
}

const statement = (businessId: number, sampleId: string): pg.QueryConfig => ({
  name: 'floor',
  text: `
    with fired as (
      delete from pending_trigger where ctid = any (array(
        select ctid from pending_trigger
        where worker is null and next_attempt_time <= clock_timestamp()
        order by next_attempt_time limit 500 for update skip locked))
      returning *
    ), recorded as (
      insert into event_trigger (business_id, event_trigger_id, event_defn_id, defn_version,
        object_type, object_id, object_uuid, occurrence, old_status, new_status, anchor_time,
        scheduled_time, fire_now, status, completed_time, created_date, created_user, modified_date,
        modified_user)
      select business_id, event_trigger_id, event_defn_id, defn_version, object_type, object_id,
        object_uuid, occurrence, old_status, new_status, anchor_time, scheduled_time, fire_now,
        'COMPLETED', clock_timestamp(), created_date, created_user, clock_timestamp(), 'SYSTEM'
      from fired
    ), sample as (
      select *, substring(message_id from '[.].*') as message_id_end from email
      where business_id = $1 and email_id = $2
    )
    insert into email (business_id, event_trigger_id, event_action_id, email_template_id, object_type,
      object_id, client_id, recipient_key, to_address, from_address, subject, message, message_id,
      status, sent_time, created_date, attempts)
    select f.business_id, f.event_trigger_id, a.event_action_id, s.email_template_id, f.object_type,
      f.object_id, c.client_id, 'client ' || c.client_id, s.to_address, s.from_address, s.subject,
      s.message, '<' || f.event_trigger_id || s.message_id_end, s.status, clock_timestamp(),
      clock_timestamp(), s.attempts
    from fired f
    cross join sample s
    join calendar c on c.business_id = f.business_id and c.calendar_id = f.object_id
    join event_action a on a.business_id = f.business_id and a.event_defn_id = f.event_defn_id`,
  values: [businessId, sampleId],
})
