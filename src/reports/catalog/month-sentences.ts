import { sql, type Sql } from '../../database/sql.ts'
import { percent, type Scope, type SentenceSource } from '../report.ts'
import { firstAppointment } from '../beginning.ts'
import { appointmentRows } from './conditions.ts'
import { isRunning, monthScopes, otherMonths } from './months.ts'
import { reminderCounts, writeDifference, type ReminderCount } from './reminder-rows.ts'

/** A kind, a name and up to three numbers. */
type Fact = {
  kind: 'MONTH' | 'BEFORE' | 'YEAR' | 'NEXT' | 'SERVICE' | 'LOCATION' | 'DAY' | 'REMINDED'
  name: string | null
  one: number
  two: number | null
  three: number | null
}

const outcomes = (kind: string, of: Scope, where = sql`true`) => sql`
  select ${kind}::text as kind, null::text as name, count(*) as one,
         count(*) filter (where a.outcome = 'KEPT') as two,
         count(*) filter (where a.outcome = 'MISSED') as three
  from (${appointmentRows(of)}) a where ${where}`

/** As for figures: a month before it has begun, and one in which the data began, is compared with nothing. */
const isLikeForLike = ({ from }: Scope, scope: Scope) =>
  sql`${scope.from} <= ${scope.now} and (select b.began from (${firstAppointment(scope)}) b) <= ${from}`

/** How many appointments each service or location had in this month and in the one before. */
function changes(scope: Scope, kind: 'SERVICE' | 'LOCATION'): Sql {
  const { soFar, before } = monthScopes(scope)
  const [id, name] =
    kind === 'SERVICE'
      ? [
          sql`a.reason_id`,
          sql`(select r.name from reason r where (r.business_id, r.reason_id) = (${scope.businessId}, c.id))`,
        ]
      : [
          sql`a.location_id`,
          sql`(select l.name from location l where (l.business_id, l.location_id) = (${scope.businessId}, c.id))`,
        ]
  return sql`
    select ${kind}::text, ${name}, c.one, c.two, null::bigint
    from (select i.id, count(*) filter (where i.is_now) as one, count(*) filter (where not i.is_now) as two
          from (select ${id} as id, true as is_now from (${appointmentRows(soFar)}) a
                union all select ${id}, false from (${appointmentRows(before)}) a) i
          group by 1) c`
}

function facts(scope: Scope): Sql {
  const { soFar, before, yearBefore, next } = monthScopes(scope)
  return sql`
    ${outcomes('MONTH', soFar)}
    union all ${outcomes('BEFORE', before, isLikeForLike(before, scope))}
    union all ${outcomes('YEAR', yearBefore, isLikeForLike(yearBefore, scope))}
    union all
    select 'NEXT', null, count(*), null, null from (${appointmentRows(next)}) a where a.outcome <> 'CANCELLED'
    union all ${changes(scope, 'SERVICE')}
    union all ${changes(scope, 'LOCATION')}
    union all
    select 'DAY', to_char(a.local_start, 'YYYY-MM-DD'), count(*) filter (where a.outcome = 'KEPT'), null, null
    from (${appointmentRows(soFar)}) a where a.outcome in ('KEPT', 'MISSED', 'UNCLOSED') group by 2
    union all
    select 'REMINDED', c.reminded || ' ' || c.stratum, c.total, c.missed, c.freed
    from (${reminderCounts(scope)}) c`
}

/** What changed and where, the best and the worst, and what is ahead: three sentences. */
export const monthSentences: SentenceSource = {
  rows: facts,
  write: (rows, scope) => {
    const all = rows as Fact[]
    return [
      writeChange(all, scope),
      writeBestAndWorst(all),
      [writeAhead(all, scope), ...(scope.statuses ? [] : [writeReminders(all)])].join(' '),
    ]
  },
}

const factOf = (facts: Fact[], kind: Fact['kind']) => facts.find((fact) => fact.kind === kind)!

function writeChange(facts: Fact[], scope: Scope): string {
  const month = factOf(facts, 'MONTH')
  const before = factOf(facts, 'BEFORE')
  const year = factOf(facts, 'YEAR')
  const compared = [
    [before, 'the month before'] as const,
    [year, 'a year before'] as const,
  ].flatMap(([{ one }, words]) => (one > 0 ? [`${writeDelta(month.one - one)} ${words}`] : []))
  const where = (['LOCATION', 'SERVICE'] as const).flatMap((kind) => {
    const largest = largestChange(facts, kind)
    return before.one > 0 && largest
      ? [`${largest.name} (${writeSigned(largest.one - largest.two!)})`]
      : []
  })
  const has = isRunning(scope)
    ? 'has had'
    : Temporal.Instant.compare(scope.from, scope.now) > 0
      ? 'has'
      : 'had'
  return (
    [
      `${nameMonth(scope.startDate)} ${has} ${countOf(month.one, 'appointment')}${isRunning(scope) ? ' so far' : ''}`,
      ...compared,
      ...(where.length > 0 ? [`the largest changes: ${where.join(' and ')}`] : []),
      ...(scope.statuses ? [] : writeRates(month, before)),
    ].join(', ') + '.'
  )
}

/** Of several locations or services; one alone is the whole business. */
function largestChange(facts: Fact[], kind: Fact['kind']) {
  const own = facts.filter((fact) => fact.kind === kind)
  const sizeOf = (fact: Fact) => Math.abs(fact.one - fact.two!)
  const [largest] = own.toSorted((a, b) => sizeOf(b) - sizeOf(a) || (a.name! < b.name! ? -1 : 1))
  return own.length > 1 && sizeOf(largest!) > 0 ? largest : undefined
}

function writeRates(month: Fact, before: Fact): string[] {
  const rate = ({ two, three }: Fact) => percent(three, two! + three!)
  const [now, then] = [rate(month), rate(before)]
  if (now === null) return []
  return [`and ${now} % were missed${then === null ? '' : ` after ${then} %`}`]
}

function writeBestAndWorst(facts: Fact[]): string {
  const days = facts
    .filter(({ kind }) => kind === 'DAY')
    .toSorted((a, b) => b.one - a.one || (a.name! < b.name! ? -1 : 1))
  if (days.length < 2) return 'There are too few days with appointments to name a best and a worst.'
  const [best, worst] = [days[0]!, days.at(-1)!]
  return `The best day was ${nameDay(best)} with ${best.one} kept, the worst ${nameDay(worst)} with ${worst.one}.`
}

function writeAhead(facts: Fact[], scope: Scope): string {
  const { next } = otherMonths(scope)
  const { one } = factOf(facts, 'NEXT')
  const isPast =
    Temporal.PlainDate.compare(
      next.endDate,
      scope.now.toZonedDateTimeISO(scope.timeZone).toPlainDate(),
    ) < 0
  return `${nameMonth(next.startDate)} ${isPast ? 'had' : 'already has'} ${countOf(one, 'appointment')} that ${isPast ? 'were' : 'are'} not cancelled.`
}

function writeReminders(facts: Fact[]): string {
  const counts = facts
    .filter(({ kind }) => kind === 'REMINDED')
    .map(({ name, one, two, three }): ReminderCount => {
      const [reminded, stratum] = name!.split(' ')
      return {
        reminded: reminded as ReminderCount['reminded'],
        stratum: Number(stratum),
        total: one,
        missed: two!,
        freed: three!,
      }
    })
  const reached = counts
    .filter(({ reminded }) => reminded === 'REACHED')
    .reduce((sum, { total }) => sum + total, 0)
  const freed = counts.reduce((sum, one) => sum + one.freed, 0)
  return `Reminders reached the clients of ${countOf(reached, 'appointment')}, and ${countOf(freed, 'slot')} became free after one. ${writeDifference(counts)}`
}

const nameMonth = (date: Temporal.PlainDate) =>
  date.toLocaleString('en', { month: 'long', year: 'numeric' })

function nameDay({ name }: Fact) {
  const date = Temporal.PlainDate.from(name!)
  return `${date.toLocaleString('en', { weekday: 'long' })} ${date.day}`
}

const countOf = (count: number, word: string) =>
  `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`

const writeDelta = (delta: number) =>
  delta === 0
    ? 'as many as'
    : `${Math.abs(delta).toLocaleString('en')} ${delta > 0 ? 'more' : 'fewer'} than`

const writeSigned = (delta: number) =>
  `${delta > 0 ? '+' : '−'}${Math.abs(delta).toLocaleString('en')}`
