/**
 * What must and must not be sent, said plainly: no code of the engine, only the facts of the
 * interface. What was before what is told by the steps of the simulation, which only grow; `at` is
 * what the clock said then, in milliseconds, and the clock jumps.
 */
export type Version = {
  /** The steps at which its transaction began and was committed. */
  began: number
  from: number
  /** The step at which the next version was committed. */
  until: number
  at: number
}
export type Appointment = Version & { id: number; start: number; status: string; active: boolean }
export type Definition = Version & {
  id: number
  kind: 'REMINDER' | 'CREATED' | 'CHANGED'
  offset: number
  active: boolean
}
export type Trigger = {
  id: number
  definition: number
  object: number
  anchor: number
  scheduled: number
  status: string
  reason: string | null
  at: number
  isReminder: boolean
  /** When it became what it is, where that was in a transaction of several statements. */
  step: number | undefined
}
export type Mail = { trigger: number; action: number; at: number; step: number }
export type Settled = { step: number; at: number }

export type RunRecord = {
  appointments: Map<number, Appointment[]>
  definitions: Map<number, Definition[]>
  actions: Map<number, number[]>
  triggers: Trigger[]
  mails: Mail[]
  /** Moments at which a node was well, no dead one's lease ran on and nothing due was left. */
  settled: Settled[]
  /** How often a node died or froze. */
  mishaps: number
}

const HOUR = 3_600_000
const LIVE = new Set(['OPEN', 'CONFIRMED', 'CHECKED_IN', 'IN_PROGRESS'])
const LIVE_AFTER = new Set([...LIVE, 'COMPLETED'])

/** Every sentence of the promise that this run breaks. */
export function brokenPromises(record: RunRecord): string[] {
  const broken: string[] = []
  const say = (sentence: string) => broken.push(sentence)
  const mailsOf = Map.groupBy(record.mails, (mail) => mail.trigger)
  noTwins(record, say)
  for (const trigger of record.triggers) {
    const mails = mailsOf.get(trigger.id) ?? []
    rightNumber(record, trigger, mails, say)
    for (const mail of mails) rightMoment(record, trigger, mail, say)
  }
  noReminderLost(record, mailsOf, say)
  changesTold(record, say)
  noneGivenUpInVain(record, say)
  return broken
}

type Say = (sentence: string) => void

/** The same occasion is never reminded of twice, nor one mail of it sent twice. */
function noTwins({ triggers, mails }: RunRecord, say: Say) {
  const seen = new Set<string>()
  for (const one of triggers.filter((trigger) => trigger.status !== 'CANCELLED')) {
    const key = `${one.definition} ${one.object} ${one.anchor}`
    if (one.isReminder && seen.size === seen.add(key).size) say(`twice planned: ${key}`)
  }
  const sent = new Set<string>()
  for (const { trigger, action } of mails) {
    const key = `trigger ${trigger} action ${action}`
    if (sent.size === sent.add(key).size) say(`twice sent: ${key}`)
  }
}

/** A completed trigger has one mail for each action, any other none: never some of them. */
function rightNumber({ actions }: RunRecord, trigger: Trigger, mails: Mail[], say: Say) {
  const wanted = trigger.status === 'COMPLETED' ? actions.get(trigger.definition)!.length : 0
  if (mails.length !== wanted) {
    say(`${trigger.status} trigger ${trigger.id} has ${mails.length} mails instead of ${wanted}`)
  }
  if (trigger.status === 'RUNNING') say(`trigger ${trigger.id} is still running`)
  if (trigger.status === 'FAILED' && !isGivenUp(trigger))
    say(`trigger ${trigger.id} failed: ${trigger.reason}`)
}

/**
 * One over which node after node dies is given up, and shown. Who is innocent of it cannot be told
 * from outside; but a node must have been lost with it among others, and three with it alone.
 */
function noneGivenUpInVain({ triggers, mishaps }: RunRecord, say: Say) {
  const aside = triggers.filter(isGivenUp).length
  if (aside > 0 && mishaps < 4)
    say(`${aside} set aside though a node was lost ${mishaps} times only`)
}

export const isGivenUp = ({ status, reason }: Trigger) =>
  status === 'FAILED' && reason!.startsWith('gave up after 3 failed attempts: ')

/** When a mail was made, what stood at that moment asked for it. */
function rightMoment(record: RunRecord, trigger: Trigger, mail: Mail, say: Say) {
  const definition = standingAt(record.definitions.get(trigger.definition)!, mail.step)
  const appointment = standingAt(record.appointments.get(trigger.object)!, mail.step)
  if (!definition || !appointment || !asks(definition, appointment, trigger, mail)) {
    say(`mail of trigger ${trigger.id} was not asked for at step ${mail.step}`)
  }
}

const standingAt = <V extends Version>(versions: V[], step: number) =>
  versions.find((one) => one.from <= step && step < one.until)

function asks(
  definition: Definition,
  { start, status, active }: Appointment,
  trigger: Trigger,
  { at }: Mail,
) {
  if (!definition.active || at < trigger.scheduled) return false
  if (definition.kind === 'CHANGED') return true
  if (!active) return false
  if (definition.kind === 'CREATED') return LIVE_AFTER.has(status)
  const due = start + definition.offset
  if (trigger.anchor !== start || at < due) return false
  if (definition.offset < 0) return LIVE.has(status) && at < start
  return LIVE_AFTER.has(status) && at <= due + 72 * HOUR
}

/** Whatever was asked for in time and until somebody was there to send it, was sent. */
function noReminderLost(record: RunRecord, mailsOf: Map<number, Mail[]>, say: Say) {
  for (const [definitionId, definitions] of record.definitions) {
    if (definitions[0]!.kind !== 'REMINDER') continue
    for (const [object, appointments] of record.appointments) {
      for (const { start, offset, from, until, at } of stretches(definitions, appointments)) {
        const due = start + offset
        const last = offset < 0 ? start - 1 : due + 72 * HOUR
        const hadItsChance = record.settled.some(
          (moment) =>
            from < moment.step && moment.step < until && due <= moment.at && moment.at <= last,
        )
        // What is asked for after its moment is late, and recorded as such.
        if (at > due || !hadItsChance) continue
        const own = record.triggers.filter(
          (one) => one.definition === definitionId && one.object === object && one.anchor === start,
        )
        const isSent = own.some((one) => mailsOf.has(one.id))
        // Booked after its time once, it stays so for this occasion.
        const wasLate = own.some((one) => one.status === 'EXPIRED' && one.step! <= from)
        if (!isSent && !wasLate && !own.some(isGivenUp)) {
          say(`lost: definition ${definitionId}, object ${object}, due ${due}, from step ${from}`)
        }
      }
    }
  }
}

type Stretch = { start: number; offset: number; from: number; until: number; at: number }

/** Stretches in which one definition asked for the same reminder of one appointment. */
function stretches(definitions: Definition[], appointments: Appointment[]) {
  const found: Stretch[] = []
  for (const definition of definitions) {
    for (const appointment of appointments) {
      const { offset } = definition
      const later = definition.from < appointment.from ? appointment : definition
      const until = Math.min(definition.until, appointment.until)
      const live = offset < 0 ? LIVE : LIVE_AFTER
      if (later.from >= until || !definition.active || !appointment.active) continue
      if (!live.has(appointment.status)) continue
      // Who froze in the middle of a save says when it began, hours ago: asked for is what both ask for.
      const at = Math.max(definition.at, appointment.at)
      found.push({ start: appointment.start, offset, from: later.from, until, at })
    }
  }
  return found
    .toSorted((a, b) => a.from - b.from)
    .reduce<Stretch[]>((joined, next) => {
      const last = joined.at(-1)
      const goesOn =
        last?.until === next.from && last.start === next.start && last.offset === next.offset
      if (goesOn) last.until = next.until
      else joined.push({ ...next })
      return joined
    }, [])
}

/**
 * Each creation and each change is told once by every definition that was active throughout its
 * transaction, by none that was not; one that was saved meanwhile may or may not have been seen.
 * And what was told was sent, where it still stood when somebody was there to send it.
 */
function changesTold(record: RunRecord, say: Say) {
  for (const [definitionId, definitions] of record.definitions) {
    const { kind } = definitions[0]!
    if (kind === 'REMINDER') continue
    for (const [object, versions] of record.appointments) {
      // Deleting an appointment, and changing a deleted one, is no news.
      const happened =
        kind === 'CREATED'
          ? versions.slice(0, 1)
          : versions.filter((one, i) => i > 0 && one.active && !isSame(one, versions[i - 1]!))
      for (const [at, together] of Map.groupBy(happened, (one) => one.at)) {
        const seen = together.map(({ began, from }) => during(definitions, began, from))
        const least = seen.filter((some) => some.every((one) => one?.active)).length
        const most = seen.filter((some) => some.some((one) => one?.active)).length
        const told = record.triggers.filter(
          (one) => one.definition === definitionId && one.object === object && one.anchor === at,
        )
        if (told.length < least || told.length > most) {
          const wanted = least === most ? least : `${least} to ${most}`
          say(`${kind} of ${object} at ${at} told ${told.length} times instead of ${wanted}`)
        }
        const [first, last] = [together[0]!, together.at(-1)!]
        const settled = record.settled.find(
          (moment) => moment.step > last.from && at <= moment.at && moment.at <= at + 72 * HOUR,
        )
        if (!settled) continue
        const stood =
          during(definitions, first.began, settled.step).every((one) => one?.active) &&
          (kind === 'CHANGED' ||
            during(versions, first.from, settled.step).every(
              (one) => one?.active && LIVE_AFTER.has(one.status),
            ))
        for (const one of stood ? told : []) {
          const { id, status, reason } = one
          if (status !== 'COMPLETED' && !isGivenUp(one))
            say(`news ${id} was not sent: ${status}, ${reason}`)
        }
      }
    }
  }
}

const isSame = (a: Appointment, b: Appointment) => a.start === b.start && a.status === b.status

/** What stood from one step to another; undefined among them where there was nothing yet. */
const during = <V extends Version>(versions: V[], from: number, until: number) => [
  ...(versions[0]!.from > from ? [undefined] : []),
  ...versions.filter((one) => one.from <= until && from < one.until),
]
