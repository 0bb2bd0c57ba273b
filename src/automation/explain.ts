import {
  eventTypeById,
  type WatchedChange,
  type EventTypeName,
  type ObjectType,
} from '../contract/event-type.ts'
import { kindOfObjectType } from '../contract/objects.ts'
import type { Check, CheckCode } from '../contract/check.ts'
import type { Explanation as ShownExplanation } from '../contract/explanation.ts'
import { readReasons, REASONS } from '../contract/reasons.ts'
import type { Db } from '../database/database.ts'
import { listStatusMoves } from '../store/audit.ts'
import { countMailsOfTriggers, type MailCounts } from '../store/emails.ts'
import { listActionsOfDefinitions } from '../store/event-actions.ts'
import { listDefinitionsOfTypes, type StoredDefinition } from '../store/event-definitions.ts'
import { listTriggerStates, type TriggerState } from '../store/event-triggers.ts'
import type { Stored } from '../store/rows.ts'
import { listStatusesOf } from '../store/statuses.ts'
import { GAVE_UP } from '../store/trigger-queue.ts'
import { listNames, listSubjects } from '../store/subjects.ts'
import { checks, checkStatusAtFiring, reportsFact, type NameOf } from './match.ts'
import { typesOf } from './schedule.ts'
import type { SchedulingEvent } from './occurrence.ts'
import type { Subject } from '../store/subject.ts'
import { quietHoursInWords } from './quiet-hours.ts'
import { firingTime, isBefore, isReminder, type FiringTime } from './timing.ts'
import { changesIn, watchedColumns } from './watched.ts'

/** For FIRED the checks describe the moment of firing. */
export type Explanation = Stored<Omit<ShownExplanation, 'status'>>

/** Explains, for every active definition of the object's kind, what it did for the object and why. */
export async function explain(
  db: Db,
  businessId: number,
  objectType: ObjectType,
  id: number | string,
  { now, deletedBefore }: Pick<Facts, 'now' | 'deletedBefore'>,
): Promise<Explanation[] | undefined> {
  const [[subject], definitions, triggers, changes] = await Promise.all([
    listSubjects(db, businessId, objectType, [id]),
    listDefinitionsOfTypes(db, businessId, typesOf(objectType)),
    listTriggerStates(db, businessId, objectType, id),
    listChanges(db, businessId, objectType, id),
  ])
  if (!subject) return undefined
  const triggersOf = Map.groupBy(triggers, (trigger) => trigger.eventDefnId)
  const found = definitions.map((definition) => {
    const rows = triggersOf.get(definition.eventDefnId) ?? []
    return { definition, rows, ...outcomeOf(rows) }
  })
  const fired = found.flatMap(({ outcome, row }) =>
    outcome === 'FIRED' && row ? [row.eventTriggerId] : [],
  )
  const [names, actions, mails] = await Promise.all([
    listNames(db, businessId, [subject]),
    listActionsOfDefinitions(db, definitions),
    countMailsOfTriggers(db, businessId, fired),
  ])
  const nameOf = namedBy(names)
  const withAction = new Set(actions.map((action) => action.eventDefnId))

  return found.map(({ definition, rows, outcome, row }) => {
    const { eventDefnId, description } = definition
    const facts = { definition, subject, rows, row, changes, nameOf, now, deletedBefore }
    const hasAction = checkAction(withAction.has(eventDefnId))
    return {
      eventDefnId,
      description,
      eventType: eventTypeOf(definition),
      outcome,
      scheduledTime: row?.scheduledTime ?? null,
      eventTriggerId: row?.eventTriggerId ?? null,
      checks:
        row && outcome === 'FIRED'
          ? [
              ...explainFired(facts, row, mails.get(row.eventTriggerId)),
              passed(hasAction, 'when it fired'),
            ]
          : [
              ...(isReminder(definition) ? explainReminder(facts) : explainEvent(facts)).map(
                (found) => withSince(found, facts),
              ),
              ...(definition.onlyIfStatus.length > 0
                ? [checkStatusAtFiring(definition, subject)]
                : []),
              hasAction,
            ],
    }
  })
}

/** Makes reasons say "location Altstadt" instead of "location 3". */
export const namedBy =
  (names: Map<string, string>): NameOf =>
  (what, id) => {
    const name = names.get(`${what} ${id}`)
    return name && `${what} ${name}`
  }

type PastChange = {
  time: Temporal.Instant
  oldStatus: string
  newStatus: string
  changes: WatchedChange[]
  /** The status changed to one that is not live. */
  ended: boolean
}

type Facts = {
  definition: StoredDefinition
  subject: Subject
  /** The definition's triggers for the object; `row` is the one that the explanation names. */
  rows: TriggerState[]
  row: TriggerState | undefined
  /** Newest first. */
  changes: PastChange[]
  nameOf: NameOf
  now: Temporal.Instant
  /** Triggers that ended before this time are deleted (RETENTION_MONTHS); undefined: none are. */
  deletedBefore: Temporal.Instant | undefined
}

const MAX_CHANGES = 100

async function listChanges(
  db: Db,
  businessId: number,
  objectType: ObjectType,
  id: number | string,
): Promise<PastChange[]> {
  const { kind } = kindOfObjectType(objectType)
  const wanted = { object: kind, id, columns: watchedColumns(objectType) }
  const [moves, statuses] = await Promise.all([
    listStatusMoves(db, businessId, wanted, MAX_CHANGES),
    listStatusesOf(db, businessId, objectType),
  ])
  const isLive = (name: string) => statuses.some(({ status, live }) => status === name && live)
  return moves.map(({ columns, ...move }) => ({
    ...move,
    changes: changesIn(objectType, columns),
    ended: move.oldStatus !== move.newStatus && !isLive(move.newStatus),
  }))
}

export const eventTypeOf = ({ eventTypeId }: StoredDefinition): EventTypeName =>
  eventTypeById(eventTypeId)!.eventType

/** A pending trigger comes first, then one that fired, then any other. */
function outcomeOf(rows: TriggerState[]): Pick<Explanation, 'outcome'> & Pick<Facts, 'row'> {
  const pending = rows.find(({ isPending }) => isPending)
  if (pending) return { outcome: 'WAITING', row: pending }
  const fired = rows.find((row) => FIRED.has(row.status) && !isGivenUp(row))
  return fired ? { outcome: 'FIRED', row: fired } : { outcome: 'NOT', row: rows[0] }
}

const FIRED: ReadonlySet<string> = new Set(['RUNNING', 'COMPLETED', 'FAILED'])

/** No attempt to fire it succeeded, so it has no mails. */
const isGivenUp = ({ status, statusReason }: TriggerState) =>
  status === 'FAILED' && statusReason?.startsWith(GAVE_UP)

/**
 * A trigger fires only if its object passes every check: a change when it happens, everything else
 * when it fires. A check that would fail today was passed then.
 */
function explainFired(facts: Facts, row: TriggerState, mails: MailCounts | undefined): Check[] {
  const { definition, subject, rows, changes, nameOf } = facts
  const change = reportsFact(definition) ? findChange(row, definition, changes) : undefined
  const checked = change ? eventOf(definition, subject, change) : subject
  const when = change ? 'when it happened' : 'when it fired'
  const outcome = describeTrigger(row, subject, mails)
  const firing = isReminder(definition) ? firingTime(definition, subject) : undefined
  const current = firing && rows.find((each) => isOfAnchor(each, firing.anchorTime))
  const reason =
    current && current !== row
      ? `${outcome.reason}; for its current time: ${describeTrigger(current, subject).reason}`
      : outcome.reason
  return [
    ...checks(definition, checked, nameOf).map((check) => passed(check, when)),
    { ...outcome, reason },
  ]
}

/** A check that was passed at its time; if it would fail now, the reason says so. */
export const passed = (found: Check, when: string): Check =>
  found.ok
    ? found
    : {
        ...found,
        ok: true,
        reason: `passed ${when}; now: ${found.reason}`,
        code: 'held-then',
        params: { ...found.params, now: found.code },
      }

const isOfAnchor = ({ anchorTime, status }: TriggerState, time: Temporal.Instant) =>
  anchorTime.equals(time) && status !== 'CANCELLED'

function explainReminder(facts: Facts): Check[] {
  const { definition, subject, rows, nameOf, now } = facts
  const rules = checks(definition, subject, nameOf)
  const firing = firingTime(definition, subject)
  if (!firing) return [...rules, no('time', NO_END_TIME, 'no-time')]
  const row =
    rows.find(({ isPending }) => isPending) ??
    rows.find((each) => isOfAnchor(each, firing.anchorTime))
  if (row) return [...rules, withQuietHours(describeTrigger(row, subject), row, firing, subject)]

  const moment = momentInWords(firing.scheduledTime, subject) + quietHoursNote(firing, subject)
  const due = { time: firing.scheduledTime.epochMilliseconds }
  if (rules.some((check) => !check.ok)) {
    return [...rules, yes('time', `it would be due on ${moment}`, 'would-be-due', due)]
  }
  if (definition.plannedVersion < definition.version) {
    const reason = `due on ${moment}; the definition is still being planned`
    return [...rules, yes('time', reason, 'being-planned', due)]
  }
  if (Temporal.Instant.compare(firing.scheduledTime, now) < 0) {
    const ended = rows.find(({ anchorTime }) => anchorTime.equals(firing.anchorTime))
    if (ended) return [...rules, describeTrigger(ended, subject)]
    return isDeleted(firing.scheduledTime, facts)
      ? [...rules, no('time', `it was due on ${moment}${DELETED}`, 'retention-passed', due)]
      : [
          ...rules,
          no(
            'time',
            `it was due on ${moment}, before the definition was created or changed`,
            'due-before-saved',
            due,
          ),
        ]
  }
  const cancelled = rows.find(({ status }) => status === 'CANCELLED')
  const reason = cancelled?.statusReason ?? `it would be due on ${moment}`
  const found = no('time', reason, 'cancelled', { ...due, ...reasonOf(cancelled) })
  return [...rules, { ...found, reasons: readReasons(cancelled?.statusReason) }]
}

/** Only invitations can lack the time that a reminder counts from. */
const NO_END_TIME = 'neither the invitation nor its campaign has an expiresTime; set one of them'

function explainEvent(facts: Facts): Check[] {
  const { definition, subject, row, changes, nameOf } = facts
  const eventType = eventTypeOf(definition)
  const firing = row && firingTime(definition, subject, row.anchorTime)
  const outcome =
    row && firing && withQuietHours(describeTrigger(row, subject), row, firing, subject)
  if (eventType.endsWith('_CREATED')) {
    return [...checks(definition, subject, nameOf), outcome ?? checkCreated(facts)]
  }
  if (eventType === 'INVITE_COMPLETED') {
    const happenedAt = subject.createdDate
    const event = { eventType, subject, oldStatus: null, changes: [], ended: false, happenedAt }
    const completed = outcome ?? checkCompleted(facts)
    return [...checks(definition, event, nameOf), completed]
  }
  const change = row ? findChange(row, definition, changes) : lastChangeFor(definition, changes)
  if (!change) {
    const rules = checks(definition, { ...subject, live: true, liveAfter: true }, nameOf)
    return [...rules, no('change', 'it has not changed since it was created', 'unchanged')]
  }
  const rules = checks(definition, eventOf(definition, subject, change), nameOf)
  // A change is matched when it happens, and not again when it fires.
  if (outcome) return [...rules.map((check) => passed(check, 'when it happened')), outcome]
  return [...rules, checkChanged(facts, change)]
}

/** The change that a trigger reports. If that is too old to be read, the newest one. */
const findChange = (
  { anchorTime }: TriggerState,
  definition: StoredDefinition,
  changes: PastChange[],
) => changes.find(({ time }) => time.equals(anchorTime)) ?? lastChangeFor(definition, changes)

const eventOf = (
  definition: StoredDefinition,
  subject: Subject,
  { time, oldStatus, newStatus, changes, ended }: PastChange,
): SchedulingEvent => ({
  eventType: eventTypeOf(definition),
  subject: { ...subject, status: newStatus },
  oldStatus,
  changes,
  ended,
  happenedAt: time,
})

/** The newest change of the kind that the definition waits for, else the newest of all. */
function lastChangeFor(definition: StoredDefinition, changes: PastChange[]) {
  const asksForStatus = definition.oldStatus !== null || definition.newStatus !== null
  const isWanted = (change: PastChange) =>
    (!asksForStatus || change.oldStatus !== change.newStatus) &&
    (definition.changes.length === 0 ||
      definition.changes.some((wanted) => change.changes.includes(wanted)))
  return changes.find(isWanted) ?? changes[0]
}

/** Whether a trigger of this time would be deleted by now. */
const isDeleted = (time: Temporal.Instant, { deletedBefore }: Facts) =>
  deletedBefore !== undefined && Temporal.Instant.compare(time, deletedBefore) < 0

const DELETED = '; the triggers of that time are deleted'

function checkCreated(facts: Facts): Check {
  const { definition, subject } = facts
  const created = `it was created on ${momentInWords(subject.createdDate, subject)}`
  const at = { time: subject.createdDate.epochMilliseconds }
  if (isDeleted(subject.createdDate, facts)) {
    return no('created', created + DELETED, 'retention-passed', at)
  }
  return isOlder(subject.createdDate, definition)
    ? no('created', `${created}, before the definition was last saved`, 'created-before-saved', at)
    : no(
        'created',
        `${created}; it was imported as history, or did not match then`,
        'created-as-history',
        at,
      )
}

function checkCompleted(facts: Facts): Check {
  const { subject, changes } = facts
  if (subject.status !== 'COMPLETED') {
    const { objectType, status } = subject
    const reason = `the invitation's status is ${status}, not COMPLETED`
    return no('completed', reason, 'not-completed', { objectType, status })
  }
  const change = changes.find(({ newStatus }) => newStatus === 'COMPLETED')
  if (!change) {
    return no('completed', 'it was created with the status COMPLETED', 'created-completed')
  }
  return checkChanged(facts, change)
}

function checkChanged(facts: Facts, { time }: PastChange): Check {
  const { definition, subject } = facts
  const changed = `it was last changed on ${momentInWords(time, subject)}`
  const at = { time: time.epochMilliseconds }
  if (isDeleted(time, facts)) return no('change', changed + DELETED, 'retention-passed', at)
  return isOlder(time, definition)
    ? no('change', `${changed}, before the definition was last saved`, 'changed-before-saved', at)
    : yes('change', changed, 'changed-on', at)
}

const isOlder = (time: Temporal.Instant, { modifiedDate }: StoredDefinition) =>
  Temporal.Instant.compare(time, modifiedDate) < 0

const describeTrigger = (trigger: TriggerState, subject: Subject, mails?: MailCounts): Check => ({
  ...describeState(trigger, subject, mails),
  reasons: readReasons(trigger.statusReason),
})

function describeState(trigger: TriggerState, subject: Subject, mails?: MailCounts): Check {
  const { status, statusReason, scheduledTime, isPending } = trigger
  const moment = momentInWords(scheduledTime, subject)
  const ended = (what: string) =>
    `${what}${statusReason ? `: ${statusReason}` : ''}; it was due on ${moment}`
  const params = { time: scheduledTime.epochMilliseconds, ...reasonOf(trigger) }
  switch (status) {
    case 'SCHEDULED': {
      const reason = `due on ${moment}${statusReason ? `; ${statusReason}` : ''}`
      return yes('time', reason, 'due', params)
    }
    case 'RUNNING': {
      const state = isPending ? 'a worker is firing it' : 'its mails are being sent'
      return yes('time', `${state}; it was due on ${moment}`, 'sending', params)
    }
    case 'COMPLETED':
      return yes('time', ended(describeMails(mails)), mails?.captured ? 'captured' : 'sent', params)
    case 'FAILED':
      return isGivenUp(trigger)
        ? no('mail', ended('nothing was sent'), 'gave-up', params)
        : no('mail', ended('a mail could not be delivered'), 'failed', params)
    case 'SKIPPED':
      return no('mail', ended('nothing was sent'), 'skipped', params)
    case 'EXPIRED':
      return no('time', ended('expired'), 'expired', params)
    case 'CANCELLED':
      return no('time', ended('cancelled'), 'cancelled', params)
  }
}

/** Adds a note if quiet hours moved the time of a pending trigger. */
const withQuietHours = (
  check: Check,
  { isPending, scheduledTime }: TriggerState,
  firing: FiringTime,
  subject: Subject,
): Check =>
  isPending && firing.scheduledTime.equals(scheduledTime)
    ? { ...check, reason: check.reason + quietHoursNote(firing, subject) }
    : check

function quietHoursNote({ quietTime, scheduledTime }: FiringTime, subject: Subject) {
  if (!quietTime) return ''
  const hours = `quiet hours (${quietHoursInWords(subject)})`
  const moved = isBefore(scheduledTime, quietTime) ? `before ${hours} begin` : `when ${hours} end`
  return `, ${moved}; its own time would be ${momentInWords(quietTime, subject)}`
}

function describeMails({ sent, captured }: MailCounts = { sent: 0, captured: 0 }) {
  if (captured === 0) return 'sent'
  return sent === 0 ? CAPTURED : `${sent} sent, ${captured} ${CAPTURED}`
}

const CAPTURED = 'captured, not sent: no mail server was configured'

const checkAction = (hasAction: boolean) =>
  hasAction
    ? yes('action', 'the definition has an active action', 'has-mail')
    : no('action', REASONS.noActiveAction, 'no-mail')

const yes = (
  check: string,
  reason: string,
  code: CheckCode,
  params: Check['params'] = {},
): Check => ({ check, ok: true, reason, code, params })

const no = (...found: Parameters<typeof yes>): Check => ({ ...yes(...found), ok: false })

/** The reason of a trigger as its key in REASONS, and as text. */
function reasonOf(trigger: Pick<TriggerState, 'statusReason'> | undefined) {
  const text = trigger?.statusReason ?? null
  const known = Object.entries(REASONS).find(([, words]) => text?.startsWith(words))
  return { reason: text, reasonCode: known?.[0] ?? null }
}

/** Since when the object has the status because of which nothing is sent. */
const withSince = (found: Check, { subject, changes }: Facts): Check => {
  if (found.code !== 'status-not-live') return found
  const change = changes.find(
    ({ oldStatus, newStatus }) => newStatus === subject.status && oldStatus !== newStatus,
  )
  return change
    ? { ...found, params: { ...found.params, since: change.time.epochMilliseconds } }
    : found
}

export function momentInWords(time: Temporal.Instant, { timeZone }: Subject) {
  const local = time.toZonedDateTimeISO(timeZone)
  return `${local.toLocaleString('en-GB', DATE_FORMAT)} (${timeZone})`
}

const DATE_FORMAT = { dateStyle: 'full', timeStyle: 'short' } as const
