import { register } from 'prom-client'
import { checkEmailQueue, checkMailServer, readDelivery } from '../../src/cli/check-delivery.ts'
import { readConfig } from '../../src/config.ts'
import { sql } from '../../src/database/sql.ts'
import type { Mailer } from '../../src/email/mailer.ts'
import { engineMetrics } from '../../src/http/routes/engine-metrics.ts'
import type { startWorld } from './world.ts'

type World = Awaited<ReturnType<typeof startWorld>>
type Watched = { world: World; mailer: Mailer; smtpUrl: string; logged: string[] }

/**
 * Everything that reports the state of mail, as lines of text: the current metrics, doctor and overview,
 * and the log lines and mails to the owner since the last call.
 */
export function watchMail({ world, mailer, smtpUrl, logged }: Watched) {
  const config = readConfig({ SMTP_URL: smtpUrl })
  let lastNotice = 0
  const readNotices = async () => {
    const notices = await world.db.query<{ emailId: number; subject: string }>(sql`
      select email_id as "emailId", subject from email
      where event_trigger_id is null and email_id > ${lastNotice} order by email_id`)
    lastNotice = notices.at(-1)?.emailId ?? lastNotice
    return notices.map(({ subject }) => subject)
  }
  return async () => {
    const { clock, database } = world
    const delivery = await readDelivery(database.engine, clock.now(), config)
    const probed = { server: mailer.server!, trouble: await mailer.check() }
    const findings = [
      checkMailServer(probed, delivery.mailServer, clock.now()),
      checkEmailQueue(delivery, clock.now()),
    ]
    const { ok, waiting, problem } = (await world.call('GET', '/overview')).body.mail
    return {
      metrics: await readMetrics(world, config),
      log: logged.splice(0).map(lineOf),
      doctor: findings.map(({ state, about, says }) => `${state} ${about}: ${says}`),
      overview: `${ok ? 'ok' : 'not ok'}, ${waiting} waiting: ${problem}`,
      owner: await readNotices(),
    }
  }
}

function lineOf(logged: string) {
  const { level, msg, phase, reply, seconds } = JSON.parse(logged)
  return `${level}: ${msg.split(':')[0]} (${phase}: ${reply}, ${seconds} s)`
}

const SHOWN = {
  up: 'smtp_up',
  waiting: 'emails_waiting',
  oldest: 'oldest_waiting_email_seconds',
  accepted: 'last_accepted_email_age_seconds',
}

/** Reads the gauges without their five-second cache, and the counters of this process. */
async function readMetrics({ clock, database }: World, config: ReturnType<typeof readConfig>) {
  const registries = [engineMetrics({ config, clock, database }), register]
  const metrics = (await Promise.all(registries.map((one) => one.getMetricsAsJSON()))).flat()
  const valuesOf = (name: string) =>
    metrics.find((metric) => metric.name === `bellwether_${name}`)?.values ?? []
  const gauges = Object.entries(SHOWN).map(
    ([shown, name]) => `${shown} ${valuesOf(name)[0]?.value ?? 'absent'}`,
  )
  const counters = ['smtp_attempts_total', 'emails_ended_total'].flatMap((name) =>
    valuesOf(name).map(({ labels, value }) => `${Object.values(labels).join(' ')} ${value}`),
  )
  return [...gauges, ...counters].join(', ')
}
