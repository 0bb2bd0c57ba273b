/**
 * A plain model of which mails must and must not be sent. It shares no code with the engine. The order of
 * events is that of their steps in the simulation, which only grow. `at` is the time of the simulated clock
 * in milliseconds; that clock jumps.
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
  /** The step of the last write to its row; undefined if that was a statement outside a transaction. */
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
  /** Moments at which a healthy node had done everything due and no lease of a dead node was left. */
  settled: Settled[]
  /** How often a node crashed or froze. */
  failures: number
}

const HOUR = 3_600_000
const LIVE = new Set(['OPEN', 'CONFIRMED', 'CHECKED_IN', 'IN_PROGRESS'])
const LIVE_AFTER = new Set([...LIVE, 'COMPLETED'])

/** Checks every promise; returns one line for each time that the run breaks one. */
export function findBrokenPromises(record: RunRecord): string[] {
  const broken: string[] = []
  const report = (line: string) => broken.push(line)
  const mailsOf = Map.groupBy(record.mails, (mail) => mail.trigger)
  checkDuplicates(record, report)
  for (const trigger of record.triggers) {
    const mails = mailsOf.get(trigger.id) ?? []
    checkNumberOfMails(record, trigger, mails, report)
    for (const mail of mails) checkMailIsWanted(record, trigger, mail, report)
  }
  checkLostReminders(record, mailsOf, report)
  checkChangeTriggers(record, report)
  checkGivenUp(record, report)
  return broken
}

type Report = (line: string) => void

/** A reminder is never planned twice for the same time, and no mail of it is sent twice. */
function checkDuplicates({ triggers, mails }: RunRecord, report: Report) {
  const seen = new Set<string>()
  for (const { definition, object, anchor, isReminder, status } of triggers) {
    if (!isReminder || status === 'CANCELLED') continue
    const key = `${definition} ${object} ${anchor}`
    if (seen.size === seen.add(key).size) report(`planned twice: ${key}`)
  }
  const sent = new Set<string>()
  for (const { trigger, action } of mails) {
    const key = `trigger ${trigger} action ${action}`
    if (sent.size === sent.add(key).size) report(`sent twice: ${key}`)
  }
}

/** A completed trigger has one mail for each action; any other trigger has none. */
function checkNumberOfMails(
  { actions }: RunRecord,
  trigger: Trigger,
  mails: Mail[],
  report: Report,
) {
  const wanted = trigger.status === 'COMPLETED' ? actions.get(trigger.definition)!.length : 0
  if (mails.length !== wanted) {
    report(`${trigger.status} trigger ${trigger.id} has ${mails.length} mails instead of ${wanted}`)
  }
  if (trigger.status === 'RUNNING') report(`trigger ${trigger.id} is still running`)
  if (trigger.status === 'FAILED' && !isGivenUp(trigger))
    report(`trigger ${trigger.id} failed: ${trigger.reason}`)
}

/**
 * A trigger is given up only after it failed four times: once in a batch with others, three times alone.
 * The record does not say which triggers a lost node had claimed, so the model counts all lost nodes.
 */
function checkGivenUp({ triggers, failures }: RunRecord, report: Report) {
  const givenUp = triggers.filter(isGivenUp).length
  if (givenUp > 0 && failures < 4)
    report(`${givenUp} given up although a node was lost only ${failures} times`)
}

export const isGivenUp = ({ status, reason }: Trigger) =>
  status === 'FAILED' && reason!.startsWith('gave up after 3 failed attempts: ')

/** When a mail was created, its definition and appointment asked for it. */
function checkMailIsWanted(record: RunRecord, trigger: Trigger, mail: Mail, report: Report) {
  const definition = versionAt(record.definitions.get(trigger.definition)!, mail.step)
  const appointment = versionAt(record.appointments.get(trigger.object)!, mail.step)
  if (!definition || !appointment || !isWanted(definition, appointment, trigger, mail)) {
    report(`mail of trigger ${trigger.id} was not wanted at step ${mail.step}`)
  }
}

const versionAt = <V extends Version>(versions: V[], step: number) =>
  versions.find((version) => version.from <= step && step < version.until)

function isWanted(
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

/** Every reminder that was wanted before it was due, and still when a healthy node ran, was sent. */
function checkLostReminders(record: RunRecord, mailsOf: Map<number, Mail[]>, report: Report) {
  for (const [definitionId, definitions] of record.definitions) {
    if (definitions[0]!.kind !== 'REMINDER') continue
    for (const [object, appointments] of record.appointments) {
      for (const { start, offset, from, until, at } of wantedPeriods(definitions, appointments)) {
        const due = start + offset
        const last = offset < 0 ? start - 1 : due + 72 * HOUR
        const couldBeSent = record.settled.some(
          (moment) =>
            from < moment.step && moment.step < until && due <= moment.at && moment.at <= last,
        )
        // A reminder that is first wanted after it was due is EXPIRED.
        if (at > due || !couldBeSent) continue
        const own = record.triggers.filter(
          (one) => one.definition === definitionId && one.object === object && one.anchor === start,
        )
        const isSent = own.some((one) => mailsOf.has(one.id))
        // A reminder that was EXPIRED once stays so for the same time of the appointment.
        const wasLate = own.some((one) => one.status === 'EXPIRED' && one.step! <= from)
        if (!isSent && !wasLate && !own.some(isGivenUp)) {
          report(
            `lost: definition ${definitionId}, object ${object}, due ${due}, from step ${from}`,
          )
        }
      }
    }
  }
}

type WantedPeriod = { start: number; offset: number; from: number; until: number; at: number }

const isWantedBy = (offset: number, { active, status }: Appointment) =>
  active && (offset < 0 ? LIVE : LIVE_AFTER).has(status)

/** The periods in which a definition asked for the same reminder of an appointment. */
function wantedPeriods(definitions: Definition[], appointments: Appointment[]) {
  const found: WantedPeriod[] = []
  for (const definition of definitions) {
    for (const appointment of appointments) {
      const { offset } = definition
      const later = definition.from < appointment.from ? appointment : definition
      const until = Math.min(definition.until, appointment.until)
      if (later.from >= until || !definition.active || !isWantedBy(offset, appointment)) continue
      // A save that froze has the time at which it began, hours ago: the later time of both counts.
      const at = Math.max(definition.at, appointment.at)
      found.push({ start: appointment.start, offset, from: later.from, until, at })
    }
  }
  // A save that another one of the same transaction replaced has cancelled the reminder.
  const wasCancelled = ({ start, offset, from }: WantedPeriod) =>
    appointments.some(
      (one) =>
        one.from === from &&
        one.until === from &&
        !(one.start === start && isWantedBy(offset, one)),
    )
  return found
    .toSorted((a, b) => a.from - b.from)
    .reduce<WantedPeriod[]>((joined, next) => {
      const last = joined.at(-1)
      const continuesLast =
        last?.until === next.from &&
        last.start === next.start &&
        last.offset === next.offset &&
        !wasCancelled(next)
      if (continuesLast) last.until = next.until
      else joined.push({ ...next })
      return joined
    }, [])
}

/**
 * Every creation or change of an appointment has one trigger of each definition that was active throughout
 * its transaction, and none of the others. A definition saved meanwhile may have one or none. The trigger
 * is sent if definition and appointment still asked for it when a healthy node ran.
 */
function checkChangeTriggers(record: RunRecord, report: Report) {
  for (const [definitionId, definitions] of record.definitions) {
    const { kind } = definitions[0]!
    if (kind === 'REMINDER') continue
    for (const [object, versions] of record.appointments) {
      // Deleting an appointment, or changing a deleted one, triggers nothing.
      const changes =
        kind === 'CREATED'
          ? versions.slice(0, 1)
          : versions.filter((one, i) => i > 0 && one.active && !isSame(one, versions[i - 1]!))
      for (const [at, together] of Map.groupBy(changes, (change) => change.at)) {
        const seen = together.map(({ began, from }) => versionsDuring(definitions, began, from))
        const min = seen.filter((versions) => versions.every((one) => one?.active)).length
        const max = seen.filter((versions) => versions.some((one) => one?.active)).length
        const triggers = record.triggers.filter(
          (one) => one.definition === definitionId && one.object === object && one.anchor === at,
        )
        if (triggers.length < min || triggers.length > max) {
          const wanted = min === max ? min : `${min} to ${max}`
          report(
            `${kind} of ${object} at ${at} has ${triggers.length} triggers instead of ${wanted}`,
          )
        }
        const [first, last] = [together[0]!, together.at(-1)!]
        const settled = record.settled.find(
          (moment) => moment.step > last.from && at <= moment.at && moment.at <= at + 72 * HOUR,
        )
        if (!settled) continue
        const isStillWanted =
          versionsDuring(definitions, first.began, settled.step).every((one) => one?.active) &&
          (kind === 'CHANGED' ||
            versionsDuring(versions, first.from, settled.step).every(
              (one) => one?.active && LIVE_AFTER.has(one.status),
            ))
        for (const trigger of isStillWanted ? triggers : []) {
          const { id, status, reason } = trigger
          if (status !== 'COMPLETED' && !isGivenUp(trigger))
            report(`trigger ${id} was not sent: ${status}, ${reason}`)
        }
      }
    }
  }
}

const isSame = (a: Appointment, b: Appointment) => a.start === b.start && a.status === b.status

/** The versions between two steps, and undefined if there was none yet at the first. */
const versionsDuring = <V extends Version>(versions: V[], from: number, until: number) => [
  ...(versions[0]!.from > from ? [undefined] : []),
  ...versions.filter((one) => one.from <= until && from < one.until),
]
