import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/** Why a mail server accepts no mail, and since when. */
export type MailOutage = { since: Temporal.Instant; phase: string; reply: string }

/** The state of a mail server, as seen by the nodes that send. */
export type MailServerState = {
  lastAcceptedTime: Temporal.Instant | null
  /** Null: it accepts mails. */
  outage: MailOutage | null
}

type Row = {
  lastAcceptedTime: Temporal.Instant | null
  since: Temporal.Instant | null
  phase: string
  reply: string
}

/** Undefined if no node has sent through it yet. */
export async function findMailServer(
  engine: Db,
  server: string,
): Promise<MailServerState | undefined> {
  const [row] = await engine.query<Row>(sql`
    select last_accepted_time as "lastAcceptedTime", failing_since as since, phase, reply
    from mail_server where server = ${server}`)
  if (!row) return undefined
  const { lastAcceptedTime, since, phase, reply } = row
  return { lastAcceptedTime, outage: since && { since, phase, reply } }
}

/** If another node has already recorded the outage, its start time stays. */
export const saveMailOutage = (
  engine: Db,
  server: string,
  { since, phase, reply }: MailOutage,
  now: Temporal.Instant,
) =>
  engine.query(sql`
    insert into mail_server (server, failing_since, last_failed_time, phase, reply)
    values (${server}, ${since}, ${now}, ${phase}, ${reply})
    on conflict (server) do update
    set failing_since = coalesce(mail_server.failing_since, excluded.failing_since),
        last_failed_time = excluded.last_failed_time, phase = excluded.phase, reply = excluded.reply`)

/** Ends an outage, whichever node has recorded it. `acceptedAt`: undefined if no mail was accepted. */
export const saveMailServerWorks = (
  engine: Db,
  server: string,
  acceptedAt: Temporal.Instant | undefined,
) =>
  engine.query(sql`
    insert into mail_server (server, last_accepted_time) values (${server}, ${acceptedAt ?? null})
    on conflict (server) do update
    set last_accepted_time = greatest(mail_server.last_accepted_time, excluded.last_accepted_time),
        failing_since = null, last_failed_time = null, phase = null, reply = null`)
