import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/** Why a mail server accepts no mail, and since when. */
export type MailOutage = { since: Temporal.Instant; phase: string; reply: string }

export type MailServerState = {
  lastAcceptedTime: Temporal.Instant | null
  /** Null: it accepts mails. */
  outage: MailOutage | null
  /** When a person last asked to try it at once. */
  retryRequestedTime: Temporal.Instant | null
}

type Row = Pick<MailServerState, 'lastAcceptedTime' | 'retryRequestedTime'> & {
  since: Temporal.Instant | null
  phase: string
  reply: string
}

/** Undefined if no node has sent through it yet. */
export async function findMailServer(
  engine: Db,
  server: string,
): Promise<MailServerState | undefined> {
  const row = await engine.findRow<Row>(sql`
    select last_accepted_time as "lastAcceptedTime", failing_since as since, phase, reply,
           retry_requested_time as "retryRequestedTime"
    from mail_server where server = ${server}`)
  if (!row) return undefined
  const { lastAcceptedTime, retryRequestedTime, since, phase, reply } = row
  return { lastAcceptedTime, retryRequestedTime, outage: since && { since, phase, reply } }
}

/** Asks the nodes that send to try the server at once. Further requests within 5 s change nothing. */
export const requestMailRetry = (engine: Db, server: string, now: Temporal.Instant) =>
  engine.query(sql`
    update mail_server set retry_requested_time = ${now}
    where server = ${server} and failing_since is not null
      and (retry_requested_time is null or retry_requested_time <= ${now.subtract({ seconds: 5 })})`)

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
