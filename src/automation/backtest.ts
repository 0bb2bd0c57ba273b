import { changesIn, watchedColumns } from './watched.ts'
import { kindOfObjectType } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import type { MergedMail } from '../email/merge.ts'
import { listRecordedEvents, listStatusesAt } from '../store/audit.ts'
import { getBusiness } from '../store/businesses.ts'
import type { StoredDefinition } from '../store/event-definitions.ts'
import { listMailContexts, type ContextRow } from '../store/mail-contexts.ts'
import type { DescribedObject } from '../store/object-names.ts'
import { listStatusesOf, type Status } from '../store/statuses.ts'
import { listSubjects } from '../store/subjects.ts'
import { compose } from './compose.ts'
import { EXAMPLE_ANSWERS } from './preview.ts'
import { listTemplates } from './templates.ts'
import { isSliceOver, nextSlice } from '../time-slice.ts'
import { eventTypeOf } from './explain.ts'
import { SendTimes, type SendTime, type SendTimesResult } from './send-times.ts'
import { checkStatusAtFiring, isOnlyRecorded, refusals } from './match.ts'
import { earliestAnchor, latestStart, objectTypeOf, subjectsFrom } from './plan.ts'
import { objectIdOf, type Subject } from '../store/subject.ts'
import { firingTime, firstPlan, isReminder } from './timing.ts'
import { actionsAfterSaving, readWhatIf, Samples, type WhatIf } from './what-if.ts'

/**
 * Night is between 21:00 and 8:00 in the reader's time zone. `withinAnHour` counts mails that follow
 * another one of this definition to the same address in less than an hour.
 */
export type Backtest = SendTimesResult & {
  mails: number
  clients: number
  emptyTokens: Record<string, number>
  samples: Sample[]
  partial?: true
}

type Found = {
  subject: Subject
  clientId: number | null
  to: string | null
  title: string | null
  sendTime: SendTime
  emptyTokens: string[]
}
type Sample = DescribedObject &
  Pick<Found, 'clientId' | 'to'> & {
    subject: string | null
    scheduledTime: Temporal.Instant
    /** Warnings about the mail, if there are any. */
    reason: string | null
  }

export type Days = { startDate: Temporal.PlainDate; endDate: Temporal.PlainDate }

/** Computes which mails a definition would have sent in a range of days, from the stored data. */
export async function backtest(
  db: Db,
  body: unknown,
  days: Days,
  options: WhatIf,
): Promise<Backtest> {
  const { businessId, hasTimeLeft } = options
  const { before, actions: given, ...whatIf } = await readWhatIf(db, body, options)
  const definition = { ...whatIf.definition, active: true }
  const range = await rangeOf(db, businessId, days)
  const actions = await actionsAfterSaving(db, businessId, before, given)
  const templates = await listTemplates(db, actions)

  const tally = new MailTally(options)
  let isComplete = true
  for await (const firings of firingsOf(db, definition, range)) {
    const contexts = await contextsOf(db, definition, firings)
    for (const firing of firings) {
      if (isSliceOver()) await nextSlice()
      const rows = contexts.get(objectIdOf(firing.subject)) ?? []
      if (actions.length === 0) tally.addAssumed(firing, rows)
      for (const action of actions) {
        const known = templates.get(action.emailTemplateId) ?? []
        const { mails } = compose(action, rows, known, {
          ...LINKS,
          now: firing.time,
        })
        for (const { mail, row } of mails) tally.add(firing, row, mail)
      }
    }
    isComplete = hasTimeLeft()
    if (!isComplete) break
  }
  return {
    ...tally.result(),
    samples: await describeMails(db, tally),
    ...(isComplete ? {} : { partial: true }),
  }
}

async function rangeOf(db: Db, businessId: number, { startDate, endDate }: Days): Promise<Range> {
  const { timeZone } = await getBusiness(db, businessId)
  return {
    from: startDate.toZonedDateTime(timeZone).toInstant(),
    to: endDate.add({ days: 1 }).toZonedDateTime(timeZone).toInstant(),
  }
}

type Range = { from: Temporal.Instant; to: Temporal.Instant }
type PastFiring = { subject: Subject; time: Temporal.Instant }

const LINKS = {
  drawName: (businessId: number) => ({ businessId, emailId: 0, messageId: '' }),
  unsubscribeLink: () => 'https://example.org/unsubscribe',
  calendarLink: () => 'https://example.org/calendar',
  answerLinks: () => EXAMPLE_ANSWERS,
}

async function contextsOf(db: Db, definition: StoredDefinition, firings: PastFiring[]) {
  const { businessId } = definition
  const keys = new Map(
    firings.map(({ subject: { objectId, objectUUId } }) => [
      objectId ?? objectUUId,
      { businessId, objectId, objectUUId },
    ]),
  )
  const rows = await listMailContexts(db, objectTypeOf(definition), [...keys.values()])
  return Map.groupBy(rows, (row) => row.objectId ?? row.objectUUId!)
}

const firingsOf = (db: Db, definition: StoredDefinition, range: Range) =>
  isReminder(definition) ? reminders(db, definition, range) : events(db, definition, range)

/** Reminders that were due in the range, for objects that matched at that time. */
async function* reminders(
  db: Db,
  definition: StoredDefinition,
  range: Range,
): AsyncGenerator<PastFiring[]> {
  const { businessId } = definition
  const objectType = objectTypeOf(definition)
  const statuses = await listStatusesOf(db, businessId, objectType)
  const { anchor, from } = earliestAnchor(definition, objectType, range.from)
  const beyond = latestStart(definition, range.to)
  const listing = anchor === 'createdDate' ? { anchor, from } : { anchor, from, to: beyond }

  for await (const subjects of subjectsFrom(db, businessId, objectType, listing)) {
    const timed = subjects.flatMap((subject): PastFiring[] => {
      const time = dueTimeOf(definition, subject)
      return time && isWithin(time, range) ? [{ subject, time }] : []
    })
    yield await filterMatching(db, definition, timed, statuses)
  }
}

/** When the reminder was due. An object created after that got none, or one at once. */
function dueTimeOf(definition: StoredDefinition, subject: Subject) {
  const firing = firingTime(definition, subject)
  if (!firing) return undefined
  const { createdDate } = subject
  // An object that was entered after its time is imported history, and was known at that time.
  const isHistory = Temporal.Instant.compare(createdDate, firing.anchorTime) >= 0
  if (isHistory) return firing.scheduledTime
  const { status, scheduledTime } = firstPlan(definition, firing, createdDate, subject)
  return status === 'SCHEDULED' ? scheduledTime : undefined
}

/** Keeps firings whose object matched the definition with its status at that time. */
async function filterMatching(
  db: Db,
  definition: StoredDefinition,
  timed: PastFiring[],
  statuses: Status[],
) {
  if (timed.length === 0) return []
  const { kind } = kindOfObjectType(objectTypeOf(definition))
  const moments = timed.map(({ subject, time }) => ({ id: objectIdOf(subject), time }))
  const known = await listStatusesAt(db, definition.businessId, kind, moments)
  return timed.filter(({ subject }) => {
    const past = asItWas(subject, known.get(String(objectIdOf(subject))), statuses)
    return refusals(definition, past).length === 0 && checkStatusAtFiring(definition, past).ok
  })
}

/** The object with the status it had then. If that is not recorded, it counts as live. */
function asItWas(subject: Subject, pastStatus: string | undefined, statuses: Status[]): Subject {
  if (pastStatus === undefined) return { ...subject, live: subject.live || subject.liveAfter }
  const status = statuses.find((known) => known.status === pastStatus)
  const { live = false, liveAfter = false } = status ?? {}
  return { ...subject, status: pastStatus, live, liveAfter }
}

const PAGE = 500

/** Objects that were created or changed in the range, from the audit. */
async function* events(
  db: Db,
  definition: StoredDefinition,
  { from, to }: Range,
): AsyncGenerator<PastFiring[]> {
  const { businessId } = definition
  const objectType = objectTypeOf(definition)
  const eventType = eventTypeOf(definition)
  const { kind, id } = kindOfObjectType(objectType)
  const search = {
    object: kind,
    change: eventType.endsWith('_CREATED') ? ('CREATED' as const) : ('CHANGED' as const),
    columns: watchedColumns(objectType),
    from,
    to,
    limit: PAGE,
  }
  const statuses = await listStatusesOf(db, businessId, objectType)
  for (let after: number | undefined; ;) {
    const page = await listRecordedEvents(db, businessId, { ...search, after })
    if (page.length === 0) return
    const ids = [...new Set(page.map((one) => (id.endsWith('UUID') ? one.id : Number(one.id))))]
    const subjects = await listSubjects(db, businessId, objectType, ids)
    const byId = new Map(subjects.map((subject) => [String(objectIdOf(subject)), subject]))
    yield page.flatMap(({ id, time, oldStatus, newStatus, columns }): PastFiring[] => {
      const found = byId.get(id)
      if (!found || (eventType === 'INVITE_COMPLETED' && !becomesCompleted(oldStatus, newStatus)))
        return []
      const subject = asItWas(found, newStatus, statuses)
      const changes = changesIn(objectType, columns)
      const ended = oldStatus !== null && oldStatus !== newStatus && !subject.live
      const event = { eventType, subject, oldStatus, changes, ended, happenedAt: time }
      const refused = refusals(definition, event)
      const firing = firingTime(definition, subject, time)
      const isSent =
        refused.length === 0 &&
        checkStatusAtFiring(definition, subject).ok &&
        !isOnlyRecorded(definition, event)
      return isSent && firing ? [{ subject, time: firing.scheduledTime }] : []
    })
    after = page.at(-1)!.auditId
  }
}

const becomesCompleted = (oldStatus: string | null, newStatus: string) =>
  oldStatus !== 'COMPLETED' && newStatus === 'COMPLETED'

const isWithin = (time: Temporal.Instant, { from, to }: Range) =>
  Temporal.Instant.compare(time, from) >= 0 && Temporal.Instant.compare(time, to) < 0

class MailTally {
  #mails = 0
  readonly #times = new SendTimes()
  readonly #clients = new Set<number>()
  readonly #empty = new Map<string, number>()
  readonly samples: Samples<Found>

  constructor(options: WhatIf) {
    this.samples = new Samples(options)
  }

  add(firing: PastFiring, row: ContextRow, mail: MergedMail | undefined) {
    const { clientId, context } = row
    const { client, location, business } = context
    const to = mail?.to?.address ?? client?.emailAddress ?? null
    this.#mails += 1
    if (clientId !== null) this.#clients.add(clientId)
    const timeZone = location?.timeZone ?? business.timeZone
    const sendTime = {
      time: firing.time,
      timeZone,
      readerTimeZone: client?.timeZone ?? timeZone,
      reader: to ?? `client ${clientId}`,
    }
    this.#times.add(sendTime)
    const { subject: title = null, emptyTokens = [] } = mail ?? {}
    for (const token of emptyTokens) {
      this.#empty.set(token, (this.#empty.get(token) ?? 0) + 1)
    }
    this.samples.add({ subject: firing.subject, clientId, to, title, sendTime, emptyTokens })
  }

  /** The warnings about a mail; complete when all mails were added. */
  reasonOf({ sendTime, emptyTokens }: Found) {
    const warnings = this.#times.warningsOf(sendTime)
    if (emptyTokens.length > 0) warnings.push(`no value for ${emptyTokens.join(', ')}`)
    return warnings.length > 0 ? warnings.join('; ') : null
  }

  /** A definition without actions is counted as if it mailed the client. */
  addAssumed(firing: PastFiring, rows: ContextRow[]) {
    for (const row of rows) if (row.context.client?.emailAddress) this.add(firing, row, undefined)
  }

  result(): Omit<Backtest, 'partial' | 'samples'> {
    return {
      mails: this.#mails,
      clients: this.#clients.size,
      ...this.#times.result(),
      emptyTokens: Object.fromEntries([...this.#empty].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    }
  }
}

/** Samples with the names of their objects. A mail about a class goes to one student. */
async function describeMails(db: Db, tally: MailTally): Promise<Sample[]> {
  const objects = await tally.samples.describe(db)
  return tally.samples.shown.map((found, i) => {
    const { clientId, to, title: subject, sendTime } = found
    const reason = tally.reasonOf(found)
    return { ...objects[i]!, clientId, to, subject, scheduledTime: sendTime.time, reason }
  })
}
