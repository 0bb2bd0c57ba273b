import type pg from 'pg'
import { BODY, SUBJECT } from '../../test/support/due-reminders.ts'
import { rateOf, type Contender, type Stage } from './stage.ts'

/**
 * The floor: the fewest statements that leave the same rows as Bellwether, written by hand. One
 * statement for each 500 triggers deletes them, records them as COMPLETED and stores a captured mail of
 * the same size for each. It reads no client or template, checks nothing and runs on one connection.
 */
export const floor = ({ pool, business }: Stage): Contender => ({
  name: 'floor',
  fire: async (ids) => {
    const client = await pool.connect()
    const startedAt = performance.now()
    for (let fired = 0; fired < ids.length;) {
      const { rowCount } = await client.query(statement(business))
      if (!rowCount) throw new Error(`${fired} of ${ids.length} were pending`)
      fired += rowCount
    }
    const rate = rateOf(ids.length, startedAt)
    client.release()
    return rate
  },
})

const statement = ({ emailTemplateId }: Stage['business']): pg.QueryConfig => ({
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
    )
    insert into email (business_id, event_trigger_id, event_action_id, email_template_id, object_type,
      object_id, client_id, recipient_key, to_address, from_address, subject, html, text, message_id,
      status, sent_time, created_date, attempts)
    select f.business_id, f.event_trigger_id, a.event_action_id, $1, f.object_type, f.object_id,
      c.client_id, 'CLIENT', 'client@example.com', 'bellwether@example.com', $2, $3, $3,
      f.event_trigger_id || '@example.com', 'CAPTURED', clock_timestamp(), clock_timestamp(), '[]'
    from fired f
    join calendar c on c.business_id = f.business_id and c.calendar_id = f.object_id
    join event_action a on a.business_id = f.business_id and a.event_defn_id = f.event_defn_id`,
  values: [emailTemplateId, SUBJECT, BODY],
})
