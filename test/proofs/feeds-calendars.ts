import type { Random } from './random.ts'

/*
 * A person's calendars as files: random edits of them. Each event names its client by ATTENDEE and by its
 * title, and one that is cancelled has the title “cancelled”.
 */

/** What one file says. Occurrences are numbered from 0. */
type Plan = {
  uid: string
  client: string
  zone: string
  start: Temporal.PlainDateTime
  minutes: number
  /** Null: a single event. Without `count` it never ends. */
  rule: { days: number; count: number | null } | null
  excluded: Set<number>
  changed: Map<number, { hours: number; isCancelled: boolean }>
  isCancelled: boolean
  revision: number
}

type Edit = {
  what: string
  requests: { method: 'PUT' | 'DELETE'; path: string; body?: string }[]
}

const ZONES = ['Europe/Zurich', 'America/New_York', 'Asia/Kolkata', 'Australia/Sydney']
const CLIENTS = 6

/** Edits two calendars of one account. `now` is when the next edit is made. */
export function editCalendars(
  random: Random,
  folders: readonly string[],
  now: () => Temporal.Instant,
) {
  const { below, chance, pick } = random
  const files = new Map<string, Plan>()
  let made = 0

  const newStart = () =>
    now()
      .toZonedDateTimeISO('UTC')
      .toPlainDate()
      .add({ days: 3 + below(40) })
      .toPlainDateTime({ hour: 5 + below(15), minute: pick([0, 0, 15, 30]) })
  const newPlan = (): Plan => ({
    uid: `u${(made += 1)}-${below(1e6)}`,
    client: `c${below(CLIENTS)}@example.org`,
    zone: pick(ZONES),
    start: newStart(),
    minutes: pick([30, 45, 60]),
    rule: chance(0.4)
      ? { days: pick([1, 7, 7, 14]), count: chance(0.15) ? null : 2 + below(7) }
      : null,
    excluded: new Set(),
    changed: new Map(),
    isCancelled: false,
    revision: 0,
  })
  const put = (path: string, plan: Plan) => {
    plan.revision += 1
    files.set(path, plan)
    return { method: 'PUT' as const, path, body: fileOf(plan) }
  }
  const remove = (path: string) => {
    files.delete(path)
    return { method: 'DELETE' as const, path }
  }
  const create = (): Edit => {
    const path = `${pick(folders)}e${made + 1}.ics`
    return { what: 'create', requests: [put(path, newPlan())] }
  }

  /** Each changes a plan in place, or returns false if it is not possible. */
  const changes: Record<string, (plan: Plan) => boolean | void> = {
    move(plan) {
      plan.start = chance(0.5) ? plan.start.add({ hours: pick([-1, 1, 2]) }) : newStart()
      forgetExceptions(plan)
    },
    zone(plan) {
      plan.zone = pick(ZONES)
      forgetExceptions(plan)
    },
    duration: (plan) => void (plan.minutes = pick([20, 30, 90])),
    client: (plan) => void (plan.client = `c${below(CLIENTS)}@example.org`),
    cancel: (plan) => void (plan.isCancelled = !plan.isCancelled),
    'export time': () => {},
    exclude(plan) {
      const at = freeOccurrence(plan)
      if (at === undefined) return false
      plan.excluded.add(at)
    },
    'move an occurrence'(plan) {
      const at = freeOccurrence(plan)
      if (at === undefined) return false
      plan.changed.set(at, { hours: pick([-2, 1, 3, 26]), isCancelled: false })
    },
    'cancel an occurrence'(plan) {
      const at = freeOccurrence(plan)
      if (at === undefined) return false
      plan.changed.set(at, { hours: 0, isCancelled: true })
    },
    shorten(plan) {
      if (!plan.rule?.count || plan.rule.count < 3) return false
      plan.rule = { ...plan.rule, count: plan.rule.count - 1 }
      for (const at of plan.changed.keys()) if (at >= plan.rule.count!) plan.changed.delete(at)
    },
  }
  const freeOccurrence = ({ rule, excluded, changed }: Plan) => {
    if (!rule) return undefined
    const at = below(rule.count ?? 6)
    const isLast = rule.count !== null && excluded.size + 1 >= rule.count
    return excluded.has(at) || changed.has(at) || isLast ? undefined : at
  }

  /** A random edit; its requests are sent in their order. */
  function next(): Edit {
    if (files.size < 3 || (files.size < 9 && chance(0.25))) return create()
    const [path, plan] = pick([...files])
    const kind = below(10)
    if (kind === 0) return { what: 'delete', requests: [remove(path)] }
    if (kind === 1) {
      return {
        what: 'delete and create under the same name',
        requests: [remove(path), put(path, newPlan())],
      }
    }
    if (kind === 2) {
      const other = folders.find((folder) => !path.startsWith(folder))!
      const to = `${other}${path.split('/').at(-1)}`
      if (files.has(to)) return next()
      const [before, after] = [remove(path), put(to, plan)]
      return { what: 'other calendar', requests: chance(0.5) ? [before, after] : [after, before] }
    }
    if (kind === 3 && plan.rule?.count && plan.rule.count > 3) {
      const at = 1 + below(plan.rule.count - 2)
      const rest = { ...newPlan(), client: plan.client, zone: plan.zone, minutes: plan.minutes }
      rest.start = plan.start.add({ days: plan.rule.days * at, hours: pick([0, 1]) })
      rest.rule = { ...plan.rule, count: plan.rule.count - at }
      plan.rule = { ...plan.rule, count: at }
      forgetExceptions(plan)
      const to = `${path.slice(0, path.lastIndexOf('/'))}/s${made}.ics`
      return { what: 'split', requests: [put(path, plan), put(to, rest)] }
    }
    const what = pick(Object.keys(changes))
    if (changes[what]!(plan) === false) return next()
    return { what, requests: [put(path, plan)] }
  }

  return { next, paths: () => [...files.keys()] }
}

function forgetExceptions(plan: Plan) {
  plan.excluded.clear()
  plan.changed.clear()
}

const basic = (time: Temporal.PlainDateTime) =>
  time.toString({ smallestUnit: 'second' }).replaceAll(/[-:]/g, '')

function fileOf({
  uid,
  client,
  zone,
  start,
  minutes,
  rule,
  excluded,
  changed,
  isCancelled,
  revision,
}: Plan) {
  const timeOf = (time: Temporal.PlainDateTime) => `;TZID=${zone}:${basic(time)}`
  const startOf = (at: number) => start.add({ days: (rule?.days ?? 0) * at })
  const event = (from: Temporal.PlainDateTime, isOff: boolean, more: string[]) => [
    'BEGIN:VEVENT',
    `UID:${uid}`,
    `DTSTAMP:${basic(Temporal.PlainDateTime.from('2026-01-01').add({ minutes: revision }))}Z`,
    `SEQUENCE:${revision}`,
    `SUMMARY:${isOff ? 'cancelled' : client}`,
    ...(isOff ? ['STATUS:CANCELLED'] : []),
    `DTSTART${timeOf(from)}`,
    `DTEND${timeOf(from.add({ minutes }))}`,
    `ATTENDEE:mailto:${client}`,
    ...more,
    'END:VEVENT',
  ]
  const repeats = rule && {
    rule: `RRULE:FREQ=${rule.days === 1 ? 'DAILY' : `WEEKLY;INTERVAL=${rule.days / 7}`}${rule.count ? `;COUNT=${rule.count}` : ''}`,
    excluded: [...excluded].map((at) => `EXDATE${timeOf(startOf(at))}`),
  }
  const lines = [
    ...event(start, isCancelled, repeats ? [repeats.rule, ...repeats.excluded] : []),
    ...[...changed].flatMap(([at, change]) =>
      event(startOf(at).add({ hours: change.hours }), isCancelled || change.isCancelled, [
        `RECURRENCE-ID${timeOf(startOf(at))}`,
      ]),
    ),
  ]
  return [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Test//Test//EN',
    ...lines,
    'END:VCALENDAR',
    '',
  ].join('\r\n')
}
