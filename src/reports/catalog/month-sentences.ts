import { sql, type Sql } from '../../database/sql.ts'
import { percent, type Scope, type SentenceSource } from '../report.ts'
import { firstAppointment } from '../beginning.ts'
import { appointmentRows } from './conditions.ts'
import { isRunning, monthScopes, otherMonths } from './months.ts'
import { reminderCounts, writeDifference, type ReminderCount } from './reminder-rows.ts'
import type { Words } from '../words.ts'

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

/** As for figures: no comparison for a future month, or if the data began after the compared month did. */
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

/**
 * Sentences about the changes, the best and the worst day, the next month and the reminders. French writes
 * months in lower case, except at the beginning of a sentence.
 */
export const monthSentences: SentenceSource = {
  rows: facts,
  write: (rows, scope, words) => {
    const all = rows as Fact[]
    return [
      writeChange(all, scope, words),
      writeBestAndWorst(all, words),
      [writeAhead(all, scope, words), ...(scope.statuses ? [] : [writeReminders(all, words)])].join(
        ' ',
      ),
    ].map((sentence) => sentence.charAt(0).toLocaleUpperCase(words.locale) + sentence.slice(1))
  },
}

const factOf = (facts: Fact[], kind: Fact['kind']) => facts.find((fact) => fact.kind === kind)!

function writeChange(facts: Fact[], scope: Scope, words: Words): string {
  const month = factOf(facts, 'MONTH')
  const before = factOf(facts, 'BEFORE')
  const year = factOf(facts, 'YEAR')
  const { say } = words
  const compared = [
    [before, 'the month before'] as const,
    [year, 'a year before'] as const,
  ].flatMap(([{ one }, when]) => (one > 0 ? [writeDelta(month.one - one, when, words)] : []))
  const where = (['LOCATION', 'SERVICE'] as const).flatMap((kind) => {
    const largest = largestChange(facts, kind)
    return before.one > 0 && largest
      ? [`${largest.name} (${writeSigned(largest.one - largest.two!, words)})`]
      : []
  })
  const beginning = isRunning(scope)
    ? '{month} has had {count} so far'
    : Temporal.Instant.compare(scope.from, scope.now) > 0
      ? '{month} has {count}'
      : '{month} had {count}'
  return (
    [
      say(beginning, {
        month: nameMonth(scope.startDate, words),
        count: countAppointments(month.one, words),
      }),
      ...compared,
      ...(where.length > 0
        ? [say('the largest changes: {changes}', { changes: where.join(say(' and ')) })]
        : []),
      ...(scope.statuses ? [] : writeRates(month, before, words)),
    ].join(', ') + '.'
  )
}

/** Undefined if there is only one: its change is that of the business. */
function largestChange(facts: Fact[], kind: Fact['kind']) {
  const own = facts.filter((fact) => fact.kind === kind)
  const sizeOf = (fact: Fact) => Math.abs(fact.one - fact.two!)
  const [largest] = own.toSorted((a, b) => sizeOf(b) - sizeOf(a) || (a.name! < b.name! ? -1 : 1))
  return own.length > 1 && sizeOf(largest!) > 0 ? largest : undefined
}

function writeRates(month: Fact, before: Fact, { say, locale }: Words): string[] {
  const rate = ({ two, three }: Fact) => percent(three, two! + three!)
  const [now, was] = [month, before].map((fact) => rate(fact)?.toLocaleString(locale))
  if (now === undefined) return []
  return [
    was === undefined
      ? say('and {now} % were missed', { now })
      : say('and {now} % were missed after {was} %', { now, was }),
  ]
}

function writeBestAndWorst(facts: Fact[], words: Words): string {
  const days = facts
    .filter(({ kind }) => kind === 'DAY')
    .toSorted((a, b) => b.one - a.one || (a.name! < b.name! ? -1 : 1))
  const { say } = words
  if (days.length < 2) {
    return say('There are too few days with appointments to name a best and a worst.')
  }
  const [best, worst] = [days[0]!, days.at(-1)!]
  if (best.one === worst.one) {
    return say('All {days} days with appointments were alike: {most} kept on each.', {
      days: days.length,
      most: best.one,
    })
  }
  return say('The best day was {best} with {most} kept, the worst {worst} with {least}.', {
    best: nameDay(best, words),
    most: best.one,
    worst: nameDay(worst, words),
    least: worst.one,
  })
}

function writeAhead(facts: Fact[], scope: Scope, words: Words): string {
  const { next } = otherMonths(scope)
  const { one } = factOf(facts, 'NEXT')
  const isPast =
    Temporal.PlainDate.compare(
      next.endDate,
      scope.now.toZonedDateTimeISO(scope.timeZone).toPlainDate(),
    ) < 0
  const sentence = isPast
    ? '{month} had {count}, without cancelled ones.'
    : '{month} already has {count}, without cancelled ones.'
  return words.say(sentence, {
    month: nameMonth(next.startDate, words),
    count: countAppointments(one, words),
  })
}

function writeReminders(facts: Fact[], words: Words): string {
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
  const sentence = words.say('Reminders reached the clients of {count}, and {freed} after one.', {
    count: countAppointments(reached, words),
    freed: writeFreed(freed, words),
  })
  return `${sentence} ${writeDifference(counts, words)}`
}

const nameMonth = (date: Temporal.PlainDate, { locale }: Words) =>
  date.toLocaleString(locale, { month: 'long', year: 'numeric' })

function nameDay({ name }: Fact, { say, locale }: Words) {
  const date = Temporal.PlainDate.from(name!)
  const weekday = date.toLocaleString(locale, { weekday: 'long' })
  return say('{weekday} {day}', { weekday, day: date.day })
}

const countAppointments = (count: number, { say, locale }: Words) =>
  count === 1 ? say('1 appointment') : say('{n} appointments', { n: count.toLocaleString(locale) })

/** Includes the verb, which is singular for one slot, and in French also for none. */
function writeFreed(count: number, { say, locale }: Words) {
  const n = count.toLocaleString(locale)
  const isSingular = new Intl.PluralRules(locale).select(count) === 'one'
  return isSingular ? say('{n} slot became free', { n }) : say('{n} slots became free', { n })
}

const writeDelta = (delta: number, when: string, { say, locale }: Words) =>
  delta === 0
    ? say(`as many as ${when}`)
    : say(`{n} ${delta > 0 ? 'more' : 'fewer'} than ${when}`, {
        n: Math.abs(delta).toLocaleString(locale),
      })

const writeSigned = (delta: number, { locale }: Words) =>
  `${delta > 0 ? '+' : '−'}${Math.abs(delta).toLocaleString(locale)}`
