import type { Caller } from '../../auth/caller.ts'
import { monotonicMs } from '../../clock.ts'
import { Overview } from '../../contract/overview.ts'
import { OverviewQuery } from '../../contract/queries.ts'
import { summarizeFeeds } from '../../feeds/health.ts'
import { getBusiness } from '../../store/businesses.ts'
import { countWithoutPostalAddress } from '../../store/postal-addresses.ts'
import {
  countOverdue,
  countSettings,
  listDays,
  listFailures,
  listQuarterHours,
  readMailState,
  readOverview,
} from '../../store/overview.ts'
import type { Findings } from '../../automation/reconcile.ts'
import { findLastReconciliation, type LastReconciliation } from '../../store/reconciliation.ts'
import { readReasons } from '../../contract/reasons.ts'
import { readMailProblem } from './waiting-emails.ts'
import { toWire } from '../server/serialize.ts'
import { operation, type Routes, type Services } from '../server/services.ts'

const DAYS = 30
const FAILURE_DAYS = 7

/** The start page of the console. */
export const overview: Routes = async (app, services) => {
  app.get(
    '/overview',
    operation('getOverview', 'Read the state of the day and of the automations', {
      config: { scope: 'scheduling:read', function: 'VIEW_SCHEDULE' },
      tags: ['overview'],
      querystring: OverviewQuery,
      response: { 200: Overview },
    }),
    async ({ caller, query: { day, days = 1 } }) => {
      const firstDay = day ? Temporal.PlainDate.from(day) : undefined
      return toWire(await gatherOverview(services, caller, { firstDay, days }))
    },
  )
}

async function gatherOverview(
  { clock, config, database }: Services,
  { db, businessId, visibility }: Caller,
  { firstDay, days }: { firstDay: Temporal.PlainDate | undefined; days: number },
) {
  const now = clock.now()
  const startedAt = monotonicMs()
  const { timeZone } = await getBusiness(db, businessId)
  const milliseconds = Math.round(10 * (monotonicMs() - startedAt)) / 10
  const today = now.toZonedDateTimeISO(timeZone).toPlainDate()
  const startOf = (day: Temporal.PlainDate) => day.toZonedDateTime(timeZone).toInstant()
  const day = firstDay ?? today
  const [dayStart, dayEnd] = [startOf(today), startOf(today.add({ days: 1 }))]
  const daysUntilToday = (days: number) => ({
    from: startOf(today.subtract({ days })),
    to: dayEnd,
    visibility,
  })
  const wanted = { from: startOf(day), to: startOf(day.add({ days })), visibility }
  const [
    read,
    quarterHours,
    lastDays,
    failures,
    setup,
    mail,
    overdue,
    round,
    stop,
    feeds,
    lacking,
  ] = await Promise.all([
    readOverview(db, businessId, { now, dayStart, dayEnd, visibility }),
    listQuarterHours(db, businessId, wanted),
    listDays(db, businessId, timeZone, daysUntilToday(DAYS - 1)),
    listFailures(db, businessId, daysUntilToday(FAILURE_DAYS)),
    countSettings(db, businessId),
    readMailState(db, businessId, now),
    countOverdue(db, businessId, now),
    findLastReconciliation<Findings>(database.engine),
    readMailProblem({ config, database, clock }, { db, businessId }),
    visibility === null ? summarizeFeeds(db, businessId, now) : [],
    countWithoutPostalAddress(db, businessId),
  ])
  return {
    time: now,
    timeZone,
    ...read,
    day: day.toString(),
    days,
    quarterHours,
    lastDays: everyDay(today, lastDays),
    failures,
    feeds,
    setup,
    engine: { ok: overdue === 0, overdue },
    mail: {
      ok: stop.problem === null,
      captured: config.smtpUrl === undefined,
      ...mail,
      ...stop,
      withoutPostalAddress: lacking[0]?.definitions ?? 0,
      problems: readReasons(stop.problem),
    },
    database: { ok: true, milliseconds },
    reconciliation: describeReconciliation(round),
  }
}

/** Adds the days without triggers. */
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

/** Without the counts, which cover all businesses. */
function describeReconciliation(round: LastReconciliation<Findings> | undefined) {
  if (!round) return null
  const { missing, unfounded, doubled } = round.findings
  return { ok: missing + unfounded + doubled === 0, endedTime: round.endedAt }
}
