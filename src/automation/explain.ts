import {
  eventTypeById,
  type Change as Changed,
  type EventTypeName,
  type ObjectType,
} from '../contract/event-type.ts'
import { kindOfObjectType } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { listStatusMoves } from '../store/audit.ts'
import { countMailsOfTriggers, type MailCounts } from '../store/emails.ts'
import { listActionsOfDefinitions } from '../store/event-actions.ts'
import { listDefinitionsOfTypes, type StoredDefinition } from '../store/event-definitions.ts'
import { listTriggerStates, type TriggerState } from '../store/event-triggers.ts'
import { listStatusesOf, type Status } from '../store/statuses.ts'
import { listNames, listSubjects } from '../store/subjects.ts'
import { checks, checkStatusAtFiring, reportsFact, type Check, type NameOf } from './match.ts'
import { typesOf } from './schedule.ts'
import type { Subject } from '../store/subject.ts'
import { firingTime, isReminder } from './timing.ts'
import { changesIn, watchedColumns } from './watched.ts'

export type Explanation = {
  eventDefnId: number
  description: string | null
  eventType: EventTypeName
  /** It has fired, it will, or neither: the checks say why. Of FIRED they say what was true then. */
  outcome: 'FIRED' | 'WAITING' | 'NOT'
  scheduledTime: Temporal.Instant | null
  eventTriggerId: number | null
  checks: Check[]
}

/** For every active definition about objects of this kind: what it did for this one, and why. */
export async function explain(
  db: Db,
  businessId: number,
  objectType: ObjectType,
  id: number | string,
  now: Temporal.Instant,
): Promise<Explanation[] | undefined> {
  const [[subject], definitions, triggers, changes] = await Promise.all([
    listSubjects(db, businessId, objectType, [id]),
    listDefinitionsOfTypes(db, businessId, typesOf(objectType)),
    listTriggerStates(db, businessId, objectType, id),
    listChanges(db, businessId, objectType, id),
  ])
  if (!subject) return undefined
  const [names, actions] = await Promise.all([
    listNames(db, businessId, [subject]),
    listActionsOfDefinitions(db, definitions),
  ])
  const nameOf = namedBy(names)
  const triggersOf = Map.groupBy(triggers, (trigger) => trigger.eventDefnId)
  const acting = new Set(actions.map((action) => action.eventDefnId))
  const found = definitions.map((definition) => {
    const rows = triggersOf.get(definition.eventDefnId) ?? []
    return { definition, rows, ...outcomeOf(rows) }
  })
  const fired = found.flatMap(({ outcome, row }) => (outcome === 'FIRED' && row ? [row] : []))
  const mails = await countMailsOfTriggers(
    db,
    businessId,
    fired.map(({ eventTriggerId }) => eventTriggerId),
  )

  return found.map(({ definition, rows, outcome, row }) => {
    const acts = action(acting.has(definition.eventDefnId))
    const asksForStatus = definition.onlyIfStatus.length > 0
    const atFiring = asksForStatus ? [checkStatusAtFiring(definition, subject)] : []
    return {
      eventDefnId: definition.eventDefnId,
      description: definition.description,
      eventType: nameOfType(definition),
      outcome,
      scheduledTime: row?.scheduledTime ?? null,
      eventTriggerId: row?.eventTriggerId ?? null,
      checks:
        row && outcome === 'FIRED'
          ? explainFired(definition, subject, row, { rows, changes, nameOf, mails, acts })
          : isReminder(definition)
            ? [...explainReminder(definition, subject, rows, nameOf, now), ...atFiring, acts]
            : [...explainEvent(definition, subject, row, changes, nameOf), ...atFiring, acts],
    }
  })
}

/** Says "location Altstadt" instead of "location 3". */
export const namedBy =
  (names: Map<string, string>): NameOf =>
  (what, id) => {
    const name = names.get(`${what} ${id}`)
    return name && `${what} ${name}`
  }

type Change = {
  time: Temporal.Instant
  oldStatus: string
  newStatus: string
  changes: Changed[]
  /** The status moved to one that is not live. */
  ended: boolean
}

const MOST_CHANGES = 100

async function listChanges(
  db: Db,
  businessId: number,
  objectType: ObjectType,
  id: number | string,
): Promise<Change[]> {
  const { kind } = kindOfObjectType(objectType)
  const wanted = { object: kind, id, columns: watchedColumns(objectType) }
  const [moves, statuses] = await Promise.all([
    listStatusMoves(db, businessId, wanted, MOST_CHANGES),
    listStatusesOf(db, businessId, objectType),
  ])
  const isLive = (name: string) =>
    statuses.some(({ status, live }: Status) => status === name && live)
  return moves.map(({ columns, ...move }) => ({
    ...move,
    changes: changesIn(objectType, columns),
    ended: move.oldStatus !== move.newStatus && !isLive(move.newStatus),
  }))
}

export const nameOfType = ({ eventTypeId }: StoredDefinition) =>
  eventTypeById(eventTypeId)!.eventType as EventTypeName

/** What is still to come counts before what was, and what was done before what was not. */
function outcomeOf(rows: TriggerState[]): Pick<Explanation, 'outcome'> & { row?: TriggerState } {
  const waiting = rows.find(({ status }) => status === 'SCHEDULED')
  if (waiting) return { outcome: 'WAITING', row: waiting }
  const fired = rows.find(({ status }) => FIRED.has(status))
  if (fired) return { outcome: 'FIRED', row: fired }
  return { outcome: 'NOT', ...(rows[0] ? { row: rows[0] } : {}) }
}

const FIRED: ReadonlySet<string> = new Set(['RUNNING', 'COMPLETED', 'FAILED'])

type FiredDetails = {
  rows: TriggerState[]
  changes: Change[]
  nameOf: NameOf
  mails: Map<number, MailCounts>
  acts: Check
}

/**
 * A trigger fires only if its object passed every check: of a change when it happened, of all others
 * when it fired. A check that would fail today was passed then.
 */
function explainFired(
  definition: StoredDefinition,
  subject: Subject,
  row: TriggerState,
  { rows, changes, nameOf, mails, acts }: FiredDetails,
): Check[] {
  const change = reportsFact(definition) ? changeOf(row, definition, changes) : undefined
  const asked = change ? eventOf(definition, subject, change) : subject
  const when = change ? 'when it happened' : 'when it fired'
  const looked = checks(definition, asked, nameOf).map((check) => passed(check, when))
  const end = ended(row, subject, mails.get(row.eventTriggerId))
  const firing = isReminder(definition) ? firingTime(definition, subject) : undefined
  const present = firing && rows.find((each) => isOfAnchor(each, firing.anchorTime))
  const reason =
    present && present !== row
      ? `${end.reason}; for its present time: ${ended(present, subject).reason}`
      : end.reason
  return [...looked, { ...end, reason }, passed(acts, 'when it fired')]
}

/** A check that was passed at its time; if it would fail now, the reason says so. */
export const passed = ({ check, ok, reason }: Check, when: string): Check =>
  yes(check, ok ? reason : `true ${when}; now: ${reason}`)

const isOfAnchor = ({ anchorTime, status }: TriggerState, time: Temporal.Instant) =>
  anchorTime.equals(time) && status !== CANCEL

function explainReminder(
  definition: StoredDefinition,
  subject: Subject,
  rows: TriggerState[],
  nameOf: NameOf,
  now: Temporal.Instant,
): Check[] {
  const looked = checks(definition, subject, nameOf)
  const firing = firingTime(definition, subject)
  if (!firing) return [...looked, no('time', noAnchor(definition, subject))]

  const moment = inWords(firing.scheduledTime, subject)
  const row =
    rows.find(({ status }) => status === 'SCHEDULED') ??
    rows.find((each) => isOfAnchor(each, firing.anchorTime))
  if (row) return [...looked, ended(row, subject)]
  if (looked.some((check) => !check.ok))
    return [...looked, yes('time', `it would be due ${moment}`)]
  if (definition.plannedVersion < definition.version) {
    return [...looked, yes('time', `due ${moment}; the definition is just being planned`)]
  }
  if (Temporal.Instant.compare(firing.scheduledTime, now) < 0) {
    const early = `it was due ${moment}, before the definition was there to ask for it`
    return [...looked, no('time', early)]
  }
  const cancelled = rows.find(({ status }) => status === CANCEL)
  return [...looked, no('time', cancelled?.statusReason ?? `it would be due ${moment}`)]
}

const CANCEL = 'CANCELLED'

function noAnchor(definition: StoredDefinition, subject: Subject) {
  if (subject.objectType !== 'INVITATION') return 'there is no time to count from'
  return 'neither the invitation nor its campaign says when it ends, so nothing can come before that'
}

function explainEvent(
  definition: StoredDefinition,
  subject: Subject,
  row: TriggerState | undefined,
  changes: Change[],
  nameOf: NameOf,
): Check[] {
  const eventType = nameOfType(definition)
  const done = row ? [ended(row, subject)] : []
  if (eventType.endsWith('_CREATED')) {
    const looked = checks(definition, subject, nameOf)
    return row ? [...looked, ...done] : [...looked, created(definition, subject)]
  }
  if (eventType === 'INVITE_COMPLETED') {
    const happenedAt = subject.createdDate
    const event = { eventType, subject, oldStatus: null, changes: [], ended: false, happenedAt }
    const looked = checks(definition, event, nameOf)
    if (row) return [...looked, ...done]
    return [...looked, completed(definition, subject, changes)]
  }
  const change = row ? changeOf(row, definition, changes) : telling(definition, changes)
  if (!change) {
    const looked = checks(definition, { ...subject, live: true, liveAfter: true }, nameOf)
    return [...looked, no('change', 'it has not been changed since it was made')]
  }
  const looked = checks(definition, eventOf(definition, subject, change), nameOf)
  // A change is matched when it happens, and not again when it fires.
  if (row) return [...looked.map((check) => passed(check, 'when it happened')), ...done]
  return [...looked, changed(definition, subject, change)]
}

/** The change that a trigger reports. An older one than those that are read counts as the newest. */
const changeOf = ({ anchorTime }: TriggerState, definition: StoredDefinition, changes: Change[]) =>
  changes.find(({ time }) => time.equals(anchorTime)) ?? telling(definition, changes)

const eventOf = (definition: StoredDefinition, subject: Subject, change: Change) => ({
  eventType: nameOfType(definition),
  subject: { ...subject, status: change.newStatus },
  oldStatus: change.oldStatus,
  changes: change.changes,
  ended: change.ended,
  happenedAt: change.time,
})

/** The newest change that it may have waited for: one of those it lists, and a move of status. */
function telling(definition: StoredDefinition, changes: Change[]) {
  const asksForMove = definition.oldStatus !== null || definition.newStatus !== null
  const isTelling = (change: Change) =>
    (!asksForMove || change.oldStatus !== change.newStatus) &&
    (definition.changes.length === 0 ||
      definition.changes.some((wanted) => change.changes.includes(wanted)))
  return changes.find(isTelling) ?? changes[0]
}

function created(definition: StoredDefinition, subject: Subject): Check {
  const when = inWords(subject.createdDate, subject)
  return isOlder(subject.createdDate, definition)
    ? no('created', `it was made ${when}, before the definition was saved as it is now`)
    : no('created', `it was made ${when}, without this event: as history, or not matching then`)
}

function completed(definition: StoredDefinition, subject: Subject, changes: Change[]): Check {
  if (subject.status !== 'COMPLETED')
    return no('completed', `it is ${subject.status}, not COMPLETED`)
  const change = changes.find(({ newStatus }) => newStatus === 'COMPLETED')
  if (!change) return no('completed', 'it was COMPLETED from the start')
  return changed(definition, subject, change)
}

function changed(definition: StoredDefinition, subject: Subject, { time }: Change): Check {
  const when = `it was last changed ${inWords(time, subject)}`
  return isOlder(time, definition)
    ? no('change', `${when}, before the definition was saved as it is now`)
    : yes('change', when)
}

const isOlder = (time: Temporal.Instant, { modifiedDate }: StoredDefinition) =>
  Temporal.Instant.compare(time, modifiedDate) < 0

/** How a trigger stands, for a reader who asks where the mail is. */
function ended(
  { status, statusReason, scheduledTime }: TriggerState,
  subject: Subject,
  mails?: MailCounts,
): Check {
  const moment = inWords(scheduledTime, subject)
  const because = statusReason ? `: ${statusReason}` : ''
  switch (status) {
    case 'SCHEDULED':
      return yes('time', `due ${moment}${because}`)
    case 'RUNNING':
      return yes('time', `its mails are being sent since ${moment}`)
    case 'COMPLETED':
      return yes('time', `${delivered(mails)}; it was due ${moment}`)
    case 'FAILED':
      return no(
        'mail',
        `it fired, but a mail could not be delivered${because}; it was due ${moment}`,
      )
    case 'SKIPPED':
      return no('mail', `it was due ${moment}, but there was nothing to send${because}`)
    case 'EXPIRED':
      return no('time', `it was due ${moment}, too late to be of use${because}`)
    case 'CANCELLED':
      return no('time', `it was planned for ${moment}, then cancelled${because}`)
  }
}

function delivered({ sent, captured }: MailCounts = { sent: 0, captured: 0 }) {
  if (captured === 0) return 'sent'
  return sent === 0 ? 'captured, not sent' : `${sent} sent, ${captured} captured and not sent`
}

const action = (isActing: boolean) =>
  isActing
    ? yes('action', 'it has something to do')
    : no('action', 'it has no active action, so nothing is sent')

const yes = (check: string, reason: string): Check => ({ check, ok: true, reason })
const no = (check: string, reason: string): Check => ({ check, ok: false, reason })

/** As on a clock at the place. */
const inWords = (time: Temporal.Instant, subject: Subject) => `on ${momentInWords(time, subject)}`

export function momentInWords(time: Temporal.Instant, { timeZone }: Subject) {
  const local = time.toZonedDateTimeISO(timeZone)
  return `${local.toLocaleString('en-GB', WORDS)} (${timeZone})`
}

const WORDS = { dateStyle: 'full', timeStyle: 'short' } as const
