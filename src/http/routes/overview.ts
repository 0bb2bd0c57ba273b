import { monotonicMs } from '../../clock.ts'
import { Overview } from '../../contract/overview.ts'
import { OverviewQuery } from '../../contract/queries.ts'
import { findBusiness } from '../../store/businesses.ts'
import {
  countOverdue,
  countSetup,
  listDays,
  listFailures,
  listQuarterHours,
  readMailState,
  readOverview,
} from '../../store/overview.ts'
import type { Findings } from '../../automation/reconcile.ts'
import { findLastReconciliation, type LastReconciliation } from '../../store/reconciliation.ts'
import type { Routes } from '../server/services.ts'

const DAYS = 30
const FAILURE_DAYS = 7

/** What one looks at first in the morning. */
export const overview: Routes = async (app, { clock, config, database }) => {
  app.get(
    '/overview',
    {
      config: { scope: 'scheduling:read', function: 'VIEW_SCHEDULE' },
      schema: {
        tags: ['overview'],
        summary: 'The day and the automations at a glance',
        querystring: OverviewQuery,
        response: { 200: Overview },
      },
    },
    async ({ caller, query }) => {
      const { db, businessId, scope: visibility } = caller
      const now = clock.now()
      const startedAt = monotonicMs()
      const { timeZone } = (await findBusiness(db, businessId))!
      const milliseconds = Math.round(10 * (monotonicMs() - startedAt)) / 10
      const today = now.toZonedDateTimeISO(timeZone).toPlainDate()
      const startOf = (day: Temporal.PlainDate) => day.toZonedDateTime(timeZone).toInstant()
      const day = query.day ? Temporal.PlainDate.from(query.day) : today
      const [dayStart, dayEnd] = [startOf(today), startOf(today.add({ days: 1 }))]
      const [read, quarterHours, lastDays, failures, setup, mail, overdue, round] =
        await Promise.all([
          readOverview(db, businessId, { now, dayStart, dayEnd, visibility }),
          listQuarterHours(db, businessId, {
            from: startOf(day),
            to: startOf(day.add({ days: 1 })),
            visibility,
          }),
          listDays(db, businessId, timeZone, {
            from: startOf(today.subtract({ days: DAYS - 1 })),
            to: dayEnd,
            visibility,
          }),
          listFailures(db, businessId, {
            from: startOf(today.subtract({ days: FAILURE_DAYS })),
            to: dayEnd,
            visibility,
          }),
          countSetup(db, businessId),
          readMailState(db, businessId, now),
          countOverdue(db, businessId, now),
          findLastReconciliation<Findings>(database.engine),
        ])
      return {
        time: now,
        timeZone,
        ...read,
        day: day.toString(),
        quarterHours,
        lastDays: everyDay(today, lastDays),
        failures,
        setup,
        engine: { ok: overdue === 0, overdue },
        mail: { ok: true, captured: config.smtpUrl === undefined, ...mail },
        database: { ok: true, milliseconds },
        reconciliation: describeReconciliation(round),
      } as never
    },
  )
}

/** Also the days on which nothing was due. */
function everyDay(
  today: Temporal.PlainDate,
  counted: { day: string; counts: Record<string, number> }[],
) {
  const counts = new Map(counted.map(({ day, counts }) => [day, counts]))
  return Array.from({ length: DAYS }, (_, i) => {
    const day = today.subtract({ days: DAYS - 1 - i }).toString()
    return { day, counts: counts.get(day) ?? {} }
  })
}

/** Without its counts: they are of all businesses. */
function describeReconciliation(round: LastReconciliation<Findings> | undefined) {
  if (!round) return null
  const { missing, unfounded, doubled } = round.findings
  return { ok: missing + unfounded + doubled === 0, endedTime: round.endedAt }
}
