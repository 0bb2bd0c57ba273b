import type { Check, CheckCode } from '../contract/check.ts'
import { parseFilterTags, type Definition } from '../contract/event-definition.ts'
import { eventTypeById, type WatchedChange } from '../contract/event-type.ts'
import { REASONS, reasonText } from '../contract/reasons.ts'
import type { SchedulingEvent } from './occurrence.ts'
import type { Subject, Tags } from '../store/subject.ts'
import { firesBefore, isReminder } from './timing.ts'

/**
 * Every reason why a definition does not match an event; an empty list means that it matches. For a
 * subject without an event: whether its reminder, or its creation event, matches its current state.
 */
export function refusals(
  definition: Definition,
  eventOrSubject: SchedulingEvent | Subject,
): string[] {
  const refused: string[] = []
  const happening = happeningOf(eventOrSubject)
  for (const rule of RULES) {
    if (rule.applies(happening) && !rule.holds(definition, happening)) {
      refused.push(rule.no(definition, happening))
    }
  }
  return refused
}

/** The same with the passed rules too; `nameOf` gives the names of locations, staff and services. */
export function checks(
  definition: Definition,
  eventOrSubject: SchedulingEvent | Subject,
  nameOf?: NameOf,
): Check[] {
  const happening = { ...happeningOf(eventOrSubject), nameOf }
  return RULES.filter((rule) => rule.applies(happening)).map((rule) => {
    const ok = rule.holds(definition, happening)
    const [yes, no] = rule.codes
    return {
      check: rule.check,
      ok,
      reason: (ok ? rule.yes : rule.no)(definition, happening),
      code: ok ? yes : typeof no === 'string' ? no : no(definition, happening),
      params: rule.params?.(definition, happening) ?? {},
    }
  })
}

/**
 * Every reason why a claimed trigger must not fire. Change events are not checked again, so that the
 * mail about a cancellation is sent.
 */
export function refusalsAtFiring(definition: Definition, subject: Subject): string[] {
  const { ok, reason } = checkStatusAtFiring(definition, subject)
  const others = reportsFact(definition)
    ? definition.active
      ? []
      : [REASONS.definitionInactive]
    : refusals(definition, subject)
  return ok ? others : [...others, reason]
}

/** `onlyIfStatus` is checked only when a trigger fires, because the status may change until then. */
export function checkStatusAtFiring({ onlyIfStatus }: Definition, subject: Subject): Check {
  const check = 'status at firing'
  const params = { ...statusOf(subject), wanted: onlyIfStatus }
  const code = 'status-at-firing'
  if (onlyIfStatus.length === 0) return { check, ok: true, reason: 'any status', code, params }
  const reason = statusInWords(subject)
  return onlyIfStatus.includes(subject.status)
    ? { check, ok: true, reason, code, params }
    : {
        check,
        ok: false,
        reason: reasonText('otherStatus', {
          ...statusOf(subject),
          wanted: onlyIfStatus.join(' or '),
        }),
        code: 'other-status-at-firing',
        params,
      }
}

/**
 * Whether an event is not told because its appointment or class was over by then: it was only recorded or
 * corrected. A change of the status, such as a no-show, is a fact about the past and is told.
 */
export const isOnlyRecorded = (
  definition: Definition,
  { subject: { status, endTime }, oldStatus, happenedAt }: SchedulingEvent,
) =>
  !definition.allowPast &&
  !(asksAboutStatus(definition) && oldStatus !== null && oldStatus !== status) &&
  endTime != null &&
  Temporal.Instant.compare(endTime, happenedAt) <= 0

export const reportsFact = ({ eventTypeId }: Pick<Definition, 'eventTypeId'>) => {
  const name = eventTypeById(eventTypeId)?.eventType
  return name === 'INVITE_COMPLETED' || (name?.endsWith('_CHANGED') ?? false)
}

/** The name of an object that a definition selects by. */
export type NameOf = (what: Selected, id: number) => string | undefined
type Selected = 'location' | 'staff' | 'service' | 'disclaimer form'

type Happening = {
  subject: Subject
  event: SchedulingEvent | undefined
  nameOf?: NameOf | undefined
}

type Rule = {
  check: string
  /** What it is called if it holds, and if it does not. */
  codes: [
    yes: CheckCode,
    no: CheckCode | ((definition: Definition, happening: Happening) => CheckCode),
  ]
  params?: (definition: Definition, happening: Happening) => Check['params']
  applies: (happening: Happening) => boolean
  holds: (definition: Definition, happening: Happening) => boolean
  yes: (definition: Definition, happening: Happening) => string
  no: (definition: Definition, happening: Happening) => string
}

const happeningOf = (eventOrSubject: SchedulingEvent | Subject): Happening =>
  'subject' in eventOrSubject
    ? { subject: eventOrSubject.subject, event: eventOrSubject }
    : { subject: eventOrSubject, event: undefined }

const always = () => true
const ofChanges = ({ event }: Happening) => event?.eventType.endsWith('_CHANGED') ?? false
const ofSubjects = ({ event }: Happening) => event === undefined

const SELECTED_CODES: Record<Selected, [CheckCode, CheckCode]> = {
  location: ['location', 'other-location'],
  staff: ['staff', 'other-staff'],
  service: ['service', 'other-service'],
  'disclaimer form': ['form', 'other-form'],
}

/** In the order in which explanations show them. */
const RULES: Rule[] = [
  {
    check: 'definition active',
    codes: ['switched-on', 'switched-off'],
    applies: always,
    holds: (definition) => definition.active,
    yes: () => 'the definition is active',
    no: () => REASONS.definitionInactive,
  },
  {
    check: 'business',
    codes: ['own-business', 'other-business'],
    applies: always,
    holds: (definition, { subject }) => definition.businessId === subject.businessId,
    yes: () => 'it belongs to the same business',
    no: () => reasonText('otherBusiness'),
  },
  {
    check: 'event type',
    codes: ['event-type', 'other-event-type'],
    applies: always,
    holds: ({ eventTypeId }, { subject, event }) => {
      const type = eventTypeById(eventTypeId)
      return event ? type?.eventType === event.eventType : type?.objectType === subject.objectType
    },
    yes: ({ eventTypeId }) => `the definition is for ${eventTypeById(eventTypeId)?.eventType}`,
    no: ({ eventTypeId }, { subject, event }) =>
      reasonText('otherEvent', {
        wanted: eventTypeById(eventTypeId)?.eventType,
        status: event?.eventType ?? subject.objectType,
      }),
  },
  {
    check: 'object',
    codes: ['object', 'other-object'],
    applies: always,
    holds: (definition, { subject }) =>
      isNamed(definition, subject) && isNamedByUUId(definition, subject),
    yes: ({ objectId, objectUUId }) =>
      objectId === null && objectUUId === null
        ? 'any object'
        : `the definition is for ${objectId ?? objectUUId}`,
    no: (definition, { subject }) => {
      const { objectId, objectUUId } = definition
      if (isNamed(definition, subject)) return reasonText('otherObject', { wanted: objectUUId })
      return subject.objectType === 'INVITATION'
        ? reasonText('otherCampaign', { wanted: objectId, name: subject.invitationCampaignId })
        : reasonText('otherObject', { wanted: objectId })
    },
  },
  selection('location', 'locationIdList', 'locationId'),
  selection('staff', 'professionalIdList', 'professionalId'),
  selection('service', 'reasonIdList', 'reasonId'),
  selection('disclaimer form', 'disclaimerFormIdList', 'disclaimerFormId'),
  {
    check: 'tags',
    codes: ['tags', 'missing-tag'],
    params: (definition, { subject }) => {
      const [tag, values] = missingTag(definition, subject) ?? [null, new Set<string>()]
      return { tag, values: values.values().take(MAX_TAGS_SHOWN).toArray() }
    },
    applies: always,
    holds: (definition, { subject }) => missingTag(definition, subject) === undefined,
    yes: (definition) =>
      tagsOf(definition).length === 0 ? 'the definition asks for no tags' : 'it has the tags',
    no: (definition, { subject }) => {
      const [name, values] = missingTag(definition, subject) ?? ['', new Set()]
      const shown = values.values().take(MAX_TAGS_SHOWN).toArray().join(', ')
      const more = values.size > MAX_TAGS_SHOWN ? ', …' : ''
      return reasonText('missingTag', { tag: name, values: shown + more })
    },
  },
  {
    check: 'what changed',
    codes: [
      'changed',
      (definition, happening) =>
        isAskedFor(definition, happening) ? 'also-ended' : 'other-change',
    ],
    params: ({ changes }, { event, subject }) => ({
      ...statusOf(subject),
      changes: [...(event?.changes ?? [])],
      wanted: [...changes],
    }),
    applies: ofChanges,
    holds: (definition, happening) =>
      isAskedFor(definition, happening) && !endsToo(definition, happening),
    yes: ({ changes }, { event }) =>
      changes.length === 0
        ? 'any change'
        : `changed: ${inWords(changes.filter((change) => event?.changes.includes(change)))}`,
    no: (definition, happening) =>
      isAskedFor(definition, happening)
        ? `the status also changed to ${happening.subject.status}, which is not live; add STATUS to the definition's changes to send it`
        : `changed: ${inWords(happening.event?.changes ?? [])}; the definition asks for: ${inWords(definition.changes)}`,
  },
  {
    check: 'status moved',
    codes: ['status-changed', 'status-unchanged'],
    params: (_, { subject }) => statusOf(subject),
    applies: ofChanges,
    holds: (definition, { subject, event }) =>
      !asksForMove(definition) || event?.oldStatus !== subject.status,
    yes: (definition) =>
      asksForMove(definition)
        ? 'the status changed'
        : 'the definition does not ask for a status change',
    no: (_, { subject }) => `the status did not change: it is still ${subject.status}`,
  },
  {
    check: 'status before',
    codes: ['status-before', 'other-status-before'],
    params: ({ oldStatus }, { subject, event }) => ({
      ...statusOf(subject),
      status: event?.oldStatus ?? null,
      wanted: oldStatus,
    }),
    applies: ofChanges,
    holds: (definition, { event }) => allows(definition.oldStatus, event?.oldStatus),
    yes: ({ oldStatus }) =>
      isAny(oldStatus) ? 'any status before' : `the status was ${oldStatus} before`,
    no: ({ oldStatus }, { event }) => `the status was ${event?.oldStatus} before, not ${oldStatus}`,
  },
  {
    check: 'status now',
    codes: ['status-now', 'other-status-now'],
    params: ({ newStatus }, { subject }) => ({ ...statusOf(subject), wanted: newStatus }),
    applies: ofChanges,
    holds: (definition, { subject }) => allows(definition.newStatus, subject.status),
    yes: ({ newStatus }) =>
      isAny(newStatus) ? 'any status now' : `the status is ${newStatus} now`,
    no: ({ newStatus }, { subject }) => `the status is ${subject.status} now, not ${newStatus}`,
  },
  {
    check: 'not deleted',
    codes: ['exists', 'deleted'],
    applies: ofSubjects,
    holds: (_, { subject }) => subject.active,
    yes: () => 'it is not deleted',
    no: () => reasonText('deleted'),
  },
  {
    check: 'still live',
    codes: ['status-live', 'status-not-live'],
    params: (_, { subject }) => statusOf(subject),
    applies: ofSubjects,
    // Reminders before their anchor need a live status; follow-ups also fire after COMPLETED.
    holds: (definition, { subject }) =>
      isReminder(definition) && firesBefore(definition) ? subject.live : subject.liveAfter,
    yes: (_, { subject }) => statusInWords(subject),
    no: (_, { subject }) => statusInWords(subject),
  },
]

const statusOf = ({ objectType, status }: Subject) => ({ objectType, status })

const statusInWords = ({ objectType, status }: Subject) =>
  reasonText('status', { objectType, status })

/** Without `changes` any change counts, except an answer that changes nothing else. */
const isAskedFor = ({ changes }: Definition, { event }: Happening) =>
  changes.length === 0
    ? event === undefined || event.changes.some((change) => change !== 'ANSWER')
    : changes.some((change) => event?.changes.includes(change))

/** A mail about a move must not be sent if the same save also cancelled the object. */
const endsToo = ({ changes }: Definition, { event }: Happening) =>
  changes.length > 0 &&
  !changes.includes('STATUS') &&
  !changes.includes('ANSWER') &&
  (event?.ended ?? false)

const inWords = (changes: readonly WatchedChange[]) =>
  changes.length === 0 ? 'nothing' : changes.map((change) => change.toLowerCase()).join(', ')

const isNamed = (definition: Definition, subject: Subject) =>
  definition.objectId === null || definition.objectId === namedObjectId(definition, subject)

const isNamedByUUId = ({ objectUUId }: Definition, subject: Subject) =>
  objectUUId === null || objectUUId === subject.objectUUId

/** The id that `objectId` refers to: an invitation's campaign, a disclaimer's appointment. */
function namedObjectId({ objectType }: Definition, subject: Subject) {
  if (subject.objectType === 'INVITATION') return subject.invitationCampaignId ?? null
  if (subject.objectType === 'DISCLAIMER' && objectType === 'CALENDAR') {
    return subject.calendarId ?? null
  }
  return subject.objectId
}

type ListName = 'locationIdList' | 'professionalIdList' | 'reasonIdList' | 'disclaimerFormIdList'
type Selectable = 'locationId' | 'professionalId' | 'reasonId' | 'disclaimerFormId'

/** An empty list selects everything; so does a list of something that this kind of object lacks. */
function selection(what: Selected, list: ListName, id: Selectable): Rule {
  const isOpen = (definition: Definition, subject: Subject) =>
    definition[list].length === 0 || subject[id] === undefined
  return {
    check: what,
    codes: SELECTED_CODES[what],
    params: (_, { subject, nameOf }) => {
      const own = subject[id]
      return { name: own == null || !nameOf?.(what, own) ? null : nameOrId(what, own, nameOf) }
    },
    applies: always,
    holds: (definition, { subject }) => {
      const own = subject[id]
      return isOpen(definition, subject) || (own != null && definition[list].includes(own))
    },
    yes: (definition, { subject, nameOf }) => {
      const own = subject[id]
      if (own === undefined) return `this kind of object has no ${what}`
      return isOpen(definition, subject)
        ? `any ${what}`
        : `the definition selects ${what} ${nameOrId(what, own!, nameOf)}`
    },
    no: (_, { subject, nameOf }) => {
      const own = subject[id]
      return own == null
        ? reasonText(REFUSED[what].none)
        : reasonText(REFUSED[what].other, { name: nameOrId(what, own, nameOf) })
    },
  }
}

const REFUSED = {
  location: { none: 'noLocation', other: 'otherLocation' },
  staff: { none: 'noStaff', other: 'otherStaff' },
  service: { none: 'noService', other: 'otherService' },
  'disclaimer form': { none: 'noForm', other: 'otherForm' },
} as const

const nameOrId = (what: Selected, id: number, nameOf: NameOf | undefined) =>
  nameOf?.(what, id)?.slice(what.length + 1) ?? String(id)

/** The first required tag that neither the object nor its client has. */
const missingTag = (definition: Definition, { tags, clientTags }: Subject) =>
  tagsOf(definition).find(
    ([name, values]) => !hasTag(tags, name, values) && !hasTag(clientTags, name, values),
  )

const hasTag = (tags: Tags, name: string, values: Set<string>) =>
  Object.hasOwn(tags, name) && (tags[name]?.some((value) => values.has(value)) ?? false)

/** A tag without values is ignored, like an empty list. */
function tagsOf(definition: Definition) {
  if (definition.filterTagMapJson === null) return NO_TAGS
  let tags = parsedTags.get(definition)
  if (!tags) {
    const all = Object.entries(parseFilterTags(definition.filterTagMapJson) ?? {})
    tags = all
      .filter(([, values]) => values.length > 0)
      .map(([name, values]) => [name, new Set(values)] as const)
    parsedTags.set(definition, tags)
  }
  return tags
}

/** A definition may list thousands of values; a reason shows the first ones. */
const MAX_TAGS_SHOWN = 20

type WantedTag = readonly [name: string, values: Set<string>]

const NO_TAGS: WantedTag[] = []
/** A definition is matched with thousands of subjects, so its tags are parsed once. */
const parsedTags = new WeakMap<Definition, WantedTag[]>()

/** Any status that is set, even `*`, requires that the status changed. */
const asksForMove = ({ oldStatus, newStatus }: Definition) =>
  oldStatus !== null || newStatus !== null

/** Without `changes`, a definition waits for any change, which may be that of the status. */
const asksAboutStatus = (definition: Definition) =>
  asksForMove(definition) ||
  definition.changes.length === 0 ||
  definition.changes.includes('STATUS')

/** No status and `*` both mean any status. */
const isAny = (wanted: string | null) => wanted === null || wanted === '*'
const allows = (wanted: string | null, actual: string | null | undefined) =>
  isAny(wanted) || wanted === actual
