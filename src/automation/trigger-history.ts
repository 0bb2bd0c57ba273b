import {
  isFinal,
  type HistoryChange,
  type HistoryCode,
  type HistoryDetail,
  type HistoryEntry as ShownEntry,
} from '../contract/event-trigger.ts'
import { readReasons } from '../contract/reasons.ts'
import type { Db } from '../database/database.ts'
import type { Recorded } from '../store/audit.ts'
import type { Stored } from '../store/rows.ts'
import type { StoredEmail } from '../store/emails.ts'
import { listDefinitionStates, type StoredDefinition } from '../store/event-definitions.ts'
import { findTriggerPlan, type StoredTrigger, type TriggerPlan } from '../store/event-triggers.ts'
import { findClientTagsAt, listNames, listSubjectStates } from '../store/subjects.ts'
import { changedProperties } from './define.ts'
import { momentInWords, namedBy, passed } from './explain.ts'
import type { Check } from '../contract/check.ts'
import { checks, refusals, reportsFact } from './match.ts'
import type { Subject } from '../store/subject.ts'
import { firingTime, firstPlan, isBefore, isReminder, isSameMoment } from './timing.ts'
import { readOccurrence } from './occurrence.ts'

export type HistoryEntry = Stored<ShownEntry>

type TriggerHistory = {
  history: HistoryEntry[]
  checks: Check[]
  /** Null while the trigger is pending: then the checks describe the current state. */
  checkedTime: Temporal.Instant | null
}

/** If an object has more changes, the oldest are left out. */
const MAX_STATES = 500

/**
 * The history of a trigger, read from the audit of its object and its definition. No history is
 * written when objects are saved or triggers fire (docs/decisions/0013-one-set-of-rules.md).
 */
export async function readTriggerHistory(
  db: Db,
  trigger: StoredTrigger,
  emails: StoredEmail[],
  now: Temporal.Instant,
): Promise<TriggerHistory> {
  const { businessId, objectType, status } = trigger
  const until = isFinal(status) ? (trigger.modifiedDate ?? trigger.createdDate) : now
  const page = { until, limit: MAX_STATES }
  const id = trigger.objectId ?? trigger.objectUUId!
  const [plan, subjects, definitions] = await Promise.all([
    findTriggerPlan(db, businessId, trigger.eventTriggerId),
    listSubjectStates(db, businessId, { objectType, id, ...page }),
    listDefinitionStates(db, businessId, trigger.eventDefnId, page),
  ])
  // The trigger may have moved between the two tables since it was read, but is in one of them.
  if (!plan) throw new Error(`trigger ${trigger.eventTriggerId} has no plan`)
  const names = await listNames(db, businessId, subjects)
  const firedTime = emails[0]?.createdDate
  const checkedTime = firedTime ?? until
  const states = { subjects, definitions, names }
  return {
    history: [
      ...listChanges(trigger, plan, states, firedTime),
      ...ownEntries(trigger, plan, firedTime),
    ].toSorted((a, b) => Temporal.Instant.compare(a.time, b.time)),
    checks: await checksAt(db, {
      trigger,
      plan,
      states,
      time: checkedTime,
      hasFired: firedTime !== undefined,
    }),
    checkedTime: firedTime || isFinal(status) ? checkedTime : null,
  }
}

type States = {
  subjects: (Subject & Recorded)[]
  definitions: (StoredDefinition & Recorded)[]
  /** By `${what} ${id}`. */
  names: Map<string, string>
}

type RecordedChange = Pick<HistoryEntry, 'change' | 'detail' | 'details'>
type Step = Omit<Recorded, 'change'> &
  RecordedChange & { subject?: Subject; definition?: StoredDefinition }

function listChanges(
  trigger: StoredTrigger,
  plan: TriggerPlan,
  { subjects, definitions, names }: States,
  firedTime: Temporal.Instant | undefined,
): HistoryEntry[] {
  const ofSubject = subjects.flatMap((subject, i): Step[] => {
    const change = changeOfSubject(subjects[i - 1], subject, names)
    return change ? [{ ...recordedOf(subject), ...change, subject }] : []
  })
  const ofDefinition = definitions.flatMap((definition, i): Step[] => {
    const change = changeOfDefinition(definitions[i - 1], definition)
    return change ? [{ ...recordedOf(definition), ...change, definition }] : []
  })
  const steps = [...ofSubject, ...ofDefinition].toSorted((a, b) => a.auditId - b.auditId)
  const plannedBy = steps.findLastIndex(({ time }) => !isBefore(trigger.createdDate, time))
  // Changes of the definition before the object existed are not part of the history.
  const first = steps.findIndex((step) => step.subject)
  let [subject, definition]: [Subject?, StoredDefinition?] = []
  const entries = steps.map((step, i) => {
    subject = step.subject ?? subject
    definition = step.definition ?? definition
    const isPending = i >= plannedBy && !(firedTime && isBefore(firedTime, step.time))
    const scheduledTime =
      isPending && subject && definition
        ? scheduledAfter(definition, subject, plan, step.time)
        : null
    const { time, user, change, detail, details } = step
    const objectTime = timeOf(subject)
    return { time, user, change, detail, details, reasons: [], scheduledTime, objectTime }
  })
  return entries.slice(Math.max(first, 0))
}

const recordedOf = ({ auditId, time, user }: Recorded) => ({ auditId, time, user })

/** When the definition fires for the object in this state; null if it does not match. */
function scheduledAfter(
  definition: StoredDefinition,
  subject: Subject,
  plan: TriggerPlan,
  changedTime: Temporal.Instant,
): Temporal.Instant | null {
  if (isReminder(definition)) {
    const firing = firingTime(definition, subject)
    if (!firing || refusals(definition, subject).length > 0) return null
    return firstPlan(definition, firing, changedTime, subject).scheduledTime
  }
  if (isBefore(changedTime, plan.anchorTime)) return null
  const isRequired = reportsFact(definition)
    ? definition.active
    : refusals(definition, subject).length === 0
  return (isRequired && firingTime(definition, subject, plan.anchorTime)?.scheduledTime) || null
}

/** Changes of the trigger itself, which the audit of object and definition does not contain. */
function ownEntries(
  trigger: StoredTrigger,
  plan: TriggerPlan,
  firedTime: Temporal.Instant | undefined,
): HistoryEntry[] {
  const { scheduledTime, status, statusReason, modifiedUser } = trigger
  const entry = (
    time: Temporal.Instant,
    change: HistoryChange,
    detail: string,
    user: string | null = 'SYSTEM',
    code?: HistoryCode,
  ): HistoryEntry => ({
    time,
    user,
    change,
    detail,
    details: code ? [{ code, params: {} }] : [],
    reasons: code ? [] : readReasons(detail),
    scheduledTime: null,
    objectTime: null,
  })

  const entries: HistoryEntry[] = []
  if (plan.fireNow) {
    const byHand = entry(
      scheduledTime,
      'FIRED_BY_HAND',
      'a user fired it now',
      plan.firedBy,
      'firedByHand',
    )
    entries.push({ ...byHand, scheduledTime })
  }
  if (firedTime) {
    const detail = 'it was due and every check passed'
    entries.push(entry(firedTime, 'FIRED', detail, 'SYSTEM', 'fired'))
  } else if (isFinal(status)) {
    const change = status as 'CANCELLED' | 'SKIPPED' | 'EXPIRED' | 'FAILED'
    const time = trigger.modifiedDate ?? trigger.createdDate
    entries.push(entry(time, change, statusReason ?? '', modifiedUser ?? 'SYSTEM'))
  }
  return entries
}

type PastChecks = {
  trigger: StoredTrigger
  plan: TriggerPlan
  states: States
  time: Temporal.Instant
  hasFired: boolean
}

async function checksAt(
  db: Db,
  { trigger, plan, states, time, hasFired }: PastChecks,
): Promise<Check[]> {
  const { subjects, definitions, names } = states
  const definition = stateAt(definitions, time)
  // A change is checked when it happens, everything else when it fires.
  const isFact = definition && reportsFact(definition)
  const subject = stateAt(subjects, isFact ? plan.anchorTime : time)
  if (!definition || !subject) return []
  const clientTags =
    subject.clientId === null
      ? undefined
      : await findClientTagsAt(db, trigger.businessId, subject.clientId, time)
  const asItWas = { ...subject, clientTags: clientTags ?? subject.clientTags }
  const checked =
    isFact && plan.occurrence
      ? {
          ...readOccurrence(plan.occurrence),
          subject: asItWas,
          oldStatus: plan.oldStatus,
          happenedAt: plan.anchorTime,
        }
      : asItWas
  const found = checks(definition, checked, namedBy(names))
  return hasFired ? found.map((check) => passed(check, 'when it fired')) : found
}

const stateAt = <State extends Recorded>(states: State[], time: Temporal.Instant) =>
  states.findLast((state) => !isBefore(time, state.time))

const timeOf = (subject: Subject | undefined) =>
  subject?.startTime ?? subject?.dueTime ?? subject?.expiresTime ?? null

/** A part of a change, as text and as code. */
type Said = HistoryDetail & { text: string }

const changeOf = (change: HistoryChange, said: Said[]): RecordedChange => ({
  change,
  detail: said.map(({ text }) => text).join('; '),
  details: said.map(({ code, params }) => ({ code, params })),
})

/** What changed; undefined if no definition depends on it. */
function changeOfSubject(
  before: Subject | undefined,
  after: Subject & Recorded,
  names: Map<string, string>,
): RecordedChange | undefined {
  if (!before) return changeOf('CREATED', [sayCreated(after, names)])
  if (before.active && !after.active) {
    return changeOf('DELETED', [{ code: 'deleted', params: {}, text: 'deleted' }])
  }
  const isMoved = !isSameMoment(timeOf(before), timeOf(after))
  const isOtherStatus = before.status !== after.status
  const said = [
    ...(isMoved ? [sayMoved(before, after)] : []),
    ...(isOtherStatus ? [sayStatus(before, after)] : []),
    ...REFERENCES.flatMap((reference) => sayReference(reference, before, after, names)),
  ]
  if (!isSameMoment(before.endTime, after.endTime) && !isMoved) {
    const params = { to: after.endTime?.epochMilliseconds ?? null }
    said.push({ code: 'ends', params, text: `ends ${at(after.endTime ?? null, after)}` })
  }
  if (JSON.stringify(before.tags) !== JSON.stringify(after.tags)) {
    said.push({ code: 'tags', params: {}, text: 'tags changed' })
  }
  if (!before.active && after.active) {
    said.push({ code: 'restored', params: {}, text: 'restored after it was deleted' })
  }
  if (said.length === 0) return undefined
  return changeOf(isMoved ? 'MOVED' : isOtherStatus ? 'STATUS' : 'CHANGED', said)
}

const at = (moment: Temporal.Instant | null, subject: Subject) =>
  moment ? momentInWords(moment, subject) : 'no time'

function sayCreated(after: Subject & Recorded, names: Map<string, string>): Said {
  const time = timeOf(after)
  const known = REFERENCES.flatMap(([what, key]) => names.get(`${what} ${after[key]}`) ?? [])
  const forWhen = time ? ` for ${at(time, after)}` : ''
  const withWhat = known.length > 0 ? `: ${known.join(', ')}` : ''
  // If there are more than MAX_STATES changes, the first one read is not the creation.
  const isCreated = after.change === 'CREATED'
  return {
    code: isCreated ? 'created' : 'earlierState',
    params: { to: time?.epochMilliseconds ?? null, names: known },
    text: `${isCreated ? 'created' : 'earlier state'}${forWhen}${withWhat}`,
  }
}

function sayMoved(before: Subject, after: Subject): Said {
  const [from, to] = [timeOf(before), timeOf(after)]
  return {
    code: 'moved',
    params: { from: from?.epochMilliseconds ?? null, to: to?.epochMilliseconds ?? null },
    text: `moved from ${at(from, after)} to ${at(to, after)}`,
  }
}

const sayStatus = (before: Subject, { objectType, status }: Subject): Said => ({
  code: 'status',
  params: { objectType, from: before.status, to: status },
  text: `status changed from ${before.status} to ${status}`,
})

function sayReference(
  [what, key]: (typeof REFERENCES)[number],
  before: Subject,
  after: Subject,
  names: Map<string, string>,
): Said[] {
  if (before[key] === after[key]) return []
  const nameOf = (id: number | null | undefined) =>
    id == null ? null : (names.get(`${what} ${id}`) ?? String(id))
  const [from, to] = [nameOf(before[key]), nameOf(after[key])]
  const text = `${what} changed from ${from ?? 'none'} to ${to ?? 'none'}`
  return [{ code: what, params: { from, to }, text }]
}

const REFERENCES = [
  ['service', 'reasonId'],
  ['staff', 'professionalId'],
  ['location', 'locationId'],
  ['client', 'clientId'],
] as const

/** What changed; undefined if timing and selection stayed the same. */
function changeOfDefinition(
  before: StoredDefinition | undefined,
  after: StoredDefinition & Recorded,
): RecordedChange | undefined {
  const changed = before ? changedProperties(before, after) : []
  const said: [HistoryCode, string][] = !before
    ? [['definitionCreated', 'was created']]
    : before.deletedDate === null && after.deletedDate !== null
      ? [['definitionDeleted', 'was deleted']]
      : []
  if (before && said.length === 0) {
    if (before.active !== after.active) {
      said.push(
        after.active ? ['switchedOn', 'was switched on'] : ['switchedOff', 'was switched off'],
      )
    }
    if (TIMING.some((key) => changed.includes(key))) {
      said.push(['otherTime', 'now fires at another time'])
    }
    if (SELECTION.some((key) => changed.includes(key))) {
      said.push(['otherSelection', 'now selects other objects'])
    }
  }
  if (said.length === 0) return undefined
  return {
    change: 'DEFINITION',
    detail: `the definition ${said.map(([, text]) => text).join(' and ')}`,
    details: said.map(([code]) => ({ code, params: {} })),
  }
}

const TIMING = [
  'triggerMonths',
  'triggerHours',
  'triggerMinutes',
  'offsetMode',
  'triggerAnchor',
  'latePolicy',
] as const

const SELECTION = [
  'eventTypeId',
  'objectType',
  'objectId',
  'objectUUId',
  'oldStatus',
  'newStatus',
  'locationIdList',
  'professionalIdList',
  'reasonIdList',
  'disclaimerFormIdList',
  'filterTagMapJson',
  'allowPast',
] as const
