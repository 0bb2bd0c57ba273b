/**
 * What must and must not be sent, said plainly: no code of the engine, only the facts of the
 * interface. Times are milliseconds.
 */
export type Version = { from: number; until: number }
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
}
export type Mail = { trigger: number; action: number; at: number }

export type History = {
  appointments: Map<number, Appointment[]>
  definitions: Map<number, Definition[]>
  actions: Map<number, number[]>
  triggers: Trigger[]
  mails: Mail[]
  /** Moments at which every node was well and nothing due was left. */
  settled: number[]
  /** How far the clock ever went back: then the order of moments is no longer sure. */
  jumpedBack: number
}

const HOUR = 3_600_000
const LIVE = new Set(['OPEN', 'CONFIRMED', 'CHECKED_IN', 'IN_PROGRESS'])
const LIVE_AFTER = new Set([...LIVE, 'COMPLETED'])

/** Every sentence of the promise that this history breaks. */
export function brokenPromises(history: History): string[] {
  const broken: string[] = []
  const say = (sentence: string) => broken.push(sentence)
  const mailsOf = Map.groupBy(history.mails, (mail) => mail.trigger)
  noTwins(history, say)
  for (const trigger of history.triggers) {
    const mails = mailsOf.get(trigger.id) ?? []
    rightNumber(history, trigger, mails, say)
    for (const mail of mails) rightMoment(history, trigger, mail, say)
  }
  nothingLost(history, mailsOf, say)
  changesTold(history, say)
  return broken
}

type Say = (sentence: string) => void

/** The same occasion is never reminded of twice, nor one mail of it sent twice. */
function noTwins({ triggers, mails }: History, say: Say) {
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
function rightNumber({ actions }: History, trigger: Trigger, mails: Mail[], say: Say) {
  const wanted = trigger.status === 'COMPLETED' ? actions.get(trigger.definition)!.length : 0
  if (mails.length !== wanted) {
    say(`${trigger.status} trigger ${trigger.id} has ${mails.length} mails instead of ${wanted}`)
  }
  if (trigger.status === 'RUNNING') say(`trigger ${trigger.id} is still running`)
  if (trigger.status === 'FAILED') say(`trigger ${trigger.id} failed: ${trigger.reason}`)
}

/** When a mail was made, some state of that moment asked for it. */
function rightMoment(history: History, trigger: Trigger, mail: Mail, say: Say) {
  const slack = history.jumpedBack
  const at = <V extends Version>(versions: V[]) =>
    versions.filter((one) => one.from - slack <= mail.at && mail.at <= one.until + slack)
  const appointments = at(history.appointments.get(trigger.object) ?? [])
  const definitions = at(history.definitions.get(trigger.definition) ?? [])
  const isAsked = definitions.some((definition) =>
    appointments.some((appointment) => asks(definition, appointment, trigger, mail, slack)),
  )
  if (!isAsked) say(`mail of trigger ${trigger.id} was not asked for at ${mail.at}`)
}

function asks(
  definition: Definition,
  { start, status, active }: Appointment,
  trigger: Trigger,
  { at }: Mail,
  slack: number,
) {
  if (!definition.active) return false
  if (definition.kind === 'CHANGED') return at >= trigger.anchor - slack
  if (!active) return false
  if (definition.kind === 'CREATED') return LIVE_AFTER.has(status)
  const due = start + definition.offset
  if (trigger.anchor !== start || at < due) return false
  if (definition.offset < 0) return LIVE.has(status) && at < start
  return LIVE_AFTER.has(status) && at <= due + 72 * HOUR
}

/** Whatever was asked for long enough, while somebody was there to send it, was sent. */
function nothingLost(history: History, mailsOf: Map<number, Mail[]>, say: Say) {
  for (const [definitionId, definitions] of history.definitions) {
    if (definitions[0]!.kind !== 'REMINDER') continue
    for (const [object, appointments] of history.appointments) {
      for (const { start, offset, from, until } of standing(definitions, appointments)) {
        const due = start + offset
        const last = offset < 0 ? Math.min(until, start) : Math.min(until, due + 72 * HOUR)
        const margin = history.jumpedBack
        const hadItsChance = history.settled.some(
          (moment) => moment >= due + margin && moment < last - margin,
        )
        // What begins after its moment is late, and recorded as such.
        if (from >= due - margin || !hadItsChance) continue
        const own = history.triggers.filter(
          (one) => one.definition === definitionId && one.object === object && one.anchor === start,
        )
        const isSent = own.some((one) => (mailsOf.get(one.id) ?? []).length > 0)
        // Booked after its time once, it stays so for this occasion.
        const isExpired = own.some((one) => one.status === 'EXPIRED')
        if (!isSent && !isExpired) {
          say(`lost: definition ${definitionId}, object ${object}, due ${due}, from ${from}`)
        }
      }
    }
  }
}

/** Stretches of time in which one definition asked for the same reminder of one appointment. */
function standing(definitions: Definition[], appointments: Appointment[]) {
  const stretches: { start: number; offset: number; from: number; until: number }[] = []
  for (const definition of definitions) {
    for (const appointment of appointments) {
      const from = Math.max(definition.from, appointment.from)
      const until = Math.min(definition.until, appointment.until)
      const live = definition.offset < 0 ? LIVE : LIVE_AFTER
      if (from >= until || !definition.active || !appointment.active) continue
      if (!live.has(appointment.status)) continue
      const { start } = appointment
      const { offset } = definition
      stretches.push({ start, offset, from, until })
    }
  }
  return stretches
}

/** Each creation and each change is told once by every definition that was active then. */
function changesTold(history: History, say: Say) {
  for (const [definitionId, definitions] of history.definitions) {
    const { kind } = definitions[0]!
    if (kind === 'REMINDER') continue
    for (const [object, versions] of history.appointments) {
      const happened = kind === 'CREATED' ? versions.slice(0, 1) : versions.slice(1)
      for (const { from } of happened) {
        const around = definitions.filter((one) => one.from <= from && from <= one.until)
        if (around.some((one) => !one.active) || around.length === 0) continue
        const told = history.triggers.filter(
          (one) => one.definition === definitionId && one.object === object && one.anchor === from,
        )
        const same = happened.filter((one) => one.from === from).length
        if (told.length !== same) {
          say(`${kind} of ${object} at ${from} told ${told.length} times instead of ${same}`)
        }
      }
    }
  }
}
