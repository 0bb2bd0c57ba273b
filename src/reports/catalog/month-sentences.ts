import { sql, type Sql } from '../../database/sql.ts'
import { percent, type Scope, type SentenceSource } from '../report.ts'
import { firstAppointment } from '../beginning.ts'
import { appointmentRows } from './conditions.ts'
import { isRunning, monthScopes, otherMonths } from './months.ts'
import { openDays, perDay } from './working-hours.ts'
import { reminderCounts, strataOf, writeDifference, type ReminderCount } from './reminder-rows.ts'
import type { Words } from '../words.ts'

/** A kind, a name and up to three numbers. For a month `days` is the number of its open days. */
type Fact = {
  kind:
    | 'MONTH'
    | 'BEFORE'
    | 'YEAR'
    | 'NEXT'
    | 'SERVICE'
    | 'LOCATION'
    | 'DAY'
    | 'DAY_BEFORE'
    | 'REMINDED'
  name: string | null
  one: number
  two: number | null
  three: number | null
  days: number | null
}

const outcomes = (kind: string, of: Scope, where = sql`true`) => sql`
  select ${kind}::text as kind, null::text as name, count(*) as one,
         count(*) filter (where a.outcome = 'KEPT' and not a.is_unrated) as two,
         count(*) filter (where a.outcome = 'MISSED') as three,
         (select count(*) from (${openDays(of)}) o) as days
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
    select ${kind}::text, ${name}, c.one, c.two, null::bigint, null::bigint
    from (select i.id, count(*) filter (where i.is_now) as one, count(*) filter (where not i.is_now) as two
          from (select ${id} as id, true as is_now from (${appointmentRows(soFar)}) a
                union all select ${id}, false from (${appointmentRows(before)}) a) i
          group by 1) c`
}

/** How many appointments were kept on each open day since the first appointment; none is a count too. */
const keptOnDays = (kind: Fact['kind'], of: Scope, scope: Scope) => sql`
  select ${kind}::text, to_char(d.day, 'YYYY-MM-DD'), count(a.outcome) filter (where a.outcome = 'KEPT'),
         null::bigint, null::bigint, null::bigint
  from (${openDays(of)}) d left join (${appointmentRows(of)}) a on a.local_start::date = d.day
  where (d.day + interval '1 day') at time zone ${scope.timeZone} > (select b.began from (${firstAppointment(scope)}) b)
  group by d.day`

function facts(scope: Scope): Sql {
  const { soFar, before, yearBefore, next } = monthScopes(scope)
  return sql`
    ${outcomes('MONTH', soFar)}
    union all ${outcomes('BEFORE', before, isLikeForLike(before, scope))}
    union all ${outcomes('YEAR', yearBefore, isLikeForLike(yearBefore, scope))}
    union all
    select 'NEXT', null, count(*), null, null, null from (${appointmentRows(next)}) a where a.outcome <> 'CANCELLED'
    union all ${changes(scope, 'SERVICE')}
    union all ${changes(scope, 'LOCATION')}
    union all ${keptOnDays('DAY', soFar, scope)}
    union all ${keptOnDays('DAY_BEFORE', before, scope)}
    union all
    select 'REMINDED', c.reminded || ' ' || c.stratum, c.total, c.missed, c.freed, null
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
  ].flatMap(([other, when]) =>
    other.one > 0 && other.days && month.days
      ? [writeDelta(perDay(month.one, month.days)! - perDay(other.one, other.days)!, when, words)]
      : [],
  )
  const where = (['LOCATION', 'SERVICE'] as const).flatMap((kind) => {
    const largest = before.one > 0 ? largestChange(facts, kind) : undefined
    return largest ? [`${largest.name} (${writeSigned(largest.delta, words)})`] : []
  })
  const beginning = isRunning(scope)
    ? '{month} has had {count} so far on {days}'
    : Temporal.Instant.compare(scope.from, scope.now) > 0
      ? '{month} has {count} on {days}'
      : '{month} had {count} on {days}'
  return (
    [
      say(beginning, {
        month: nameMonth(scope.startDate, words),
        count: countAppointments(month.one, words),
        days: countOpenDays(month.days ?? 0, words),
      }),
      ...compared,
      ...(where.length > 0
        ? [
            say('the largest changes per open day: {changes}', {
              changes: where.join(say(' and ')),
            }),
          ]
        : []),
      ...(scope.statuses ? [] : writeRates(month, before, words)),
    ].join(', ') + '.'
  )
}

/** Per open day. Undefined if there is only one: its change is that of the business. */
function largestChange(facts: Fact[], kind: Fact['kind']) {
  const [{ days: now }, { days: was }] = [factOf(facts, 'MONTH'), factOf(facts, 'BEFORE')]
  const own = facts
    .filter((fact) => fact.kind === kind)
    .map(({ name, one, two }) => ({
      name: name!,
      delta: toTenth((perDay(one, now) ?? 0) - (perDay(two, was) ?? 0)),
    }))
    .toSorted((a, b) => Math.abs(b.delta) - Math.abs(a.delta) || (a.name < b.name ? -1 : 1))
  return own.length > 1 && own[0]!.delta !== 0 ? own[0] : undefined
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

/** Days are compared with the others of their weekday, in this month and in the one before. */
function writeBestAndWorst(facts: Fact[], words: Words): string {
  const days = facts.filter(({ kind }) => kind === 'DAY')
  const all = [...days, ...facts.filter(({ kind }) => kind === 'DAY_BEFORE')]
  const compared = days
    .flatMap((day) => {
      const others = all.filter((one) => one !== day && weekdayOf(one) === weekdayOf(day))
      const usual = perDay(
        others.reduce((sum, { one }) => sum + one, 0),
        others.length,
      )
      return usual === null ? [] : [{ day, usual, delta: toTenth(day.one - usual) }]
    })
    .toSorted((a, b) => b.delta - a.delta || (a.day.name! < b.day.name! ? -1 : 1))
  const { say, locale } = words
  if (compared.length < 2) {
    return say('There are too few open days to name a best and a worst.')
  }
  const [best, worst] = [compared[0]!, compared.at(-1)!]
  if (best.delta === worst.delta) {
    return say('All {days} open days were as usual for their weekday.', {
      days: compared.length,
    })
  }
  return say(
    'For its weekday, the best day was {best} with {most} kept (usually {usual}), the worst {worst} with {least} ({usualOfWorst}).',
    {
      best: nameDay(best.day, words),
      most: best.day.one,
      usual: best.usual.toLocaleString(locale),
      worst: nameDay(worst.day, words),
      least: worst.day.one,
      usualOfWorst: worst.usual.toLocaleString(locale),
    },
  )
}

const weekdayOf = ({ name }: Fact) => Temporal.PlainDate.from(name!).dayOfWeek

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
  return `${sentence} ${writeDifference(strataOf(counts), words)}`
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

const countOpenDays = (count: number, { say, locale }: Words) =>
  count === 1 ? say('1 open day') : say('{n} open days', { n: count.toLocaleString(locale) })

/** A change of appointments per open day. */
const writeDelta = (change: number, when: string, { say, locale }: Words) => {
  const delta = toTenth(change)
  return delta === 0
    ? say(`as many a day as ${when}`)
    : say(`{n} ${delta > 0 ? 'more' : 'fewer'} a day than ${when}`, {
        n: Math.abs(delta).toLocaleString(locale),
      })
}

const writeSigned = (delta: number, { locale }: Words) =>
  `${delta > 0 ? '+' : '−'}${Math.abs(delta).toLocaleString(locale)}`

/** Removes the rounding errors of binary fractions. */
const toTenth = (value: number) => Math.round(value * 10) / 10
