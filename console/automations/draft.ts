import { t } from '../texts/translate.ts'
import type { EventAction, RecipientValue } from '../../src/contract/event-action.ts'
import type { DefinitionObjectType } from '../../src/contract/event-definition.ts'
import { eventTypeById, type WatchedChange } from '../../src/contract/event-type.ts'
import type { EventType } from '../../src/contract/event-type-info.ts'
import {
  readAutomation,
  saveAutomation,
  type AutomationBody,
  type StoredAutomation,
} from '../api/automation.ts'
import { signedInBusinessId } from '../api/session.ts'
import type { Setup } from '../api/setup.ts'
import { tagsInWords } from '../components/tags.ts'
import type { Difference } from '../records/changes.ts'
import type { RecordKind } from '../records/kind.ts'
import {
  readTags,
  sentenceOf,
  statusLabel,
  type DescribedDefinition,
  type OccasionKey,
  type Word,
} from './sentence.ts'

export type DraftMail = {
  eventActionId?: number
  emailTemplateId: number | null
  recipient: { value: RecipientValue }
}

/** An automation while it is edited. */
export type Draft = DescribedDefinition & {
  eventDefnId?: number | undefined
  objectType: DefinitionObjectType
  active: boolean
  description: string | null
  offsetMode: 'ELAPSED' | 'CALENDAR'
  latePolicy: 'SKIP' | 'SEND'
  allowPast: boolean
  changes?: WatchedChange[] | null | undefined
  onlyIfStatus?: string[] | null | undefined
  mails: DraftMail[]
}

const STORED_FIELDS = [
  'eventDefnId',
  'objectType',
  'active',
  'description',
  'eventType',
  'triggerMonths',
  'triggerHours',
  'triggerMinutes',
  'triggerAnchor',
  'offsetMode',
  'latePolicy',
  'allowPast',
  'oldStatus',
  'newStatus',
  'locationIdList',
  'professionalIdList',
  'reasonIdList',
  'filterTagMapJson',
  'changes',
  'onlyIfStatus',
] as const satisfies (keyof Draft)[]

function draftOf({ definition, actions }: StoredAutomation): Draft {
  const stored = STORED_FIELDS.map((field) => [field, definition[field]])
  return {
    ...(Object.fromEntries(stored) as Omit<Draft, 'mails'>),
    mails: actions.length === 0 ? [MAIL_TO_CHOOSE] : actions.map(mailOf),
  }
}

const MAIL_TO_CHOOSE: DraftMail = { emailTemplateId: null, recipient: { value: 'client' } }

const mailOf = ({ eventActionId, emailTemplateId, recipient }: EventAction): DraftMail => ({
  eventActionId,
  emailTemplateId,
  recipient: { value: recipient.value },
})

/** The most common automation: a day before an appointment, mail the client. */
export const newDraft = (): Draft => ({
  objectType: 'CALENDAR',
  active: true,
  description: null,
  eventType: OCCASIONS.APPT_REMINDER_START.eventType,
  triggerMonths: 0,
  triggerHours: -24,
  triggerMinutes: 0,
  triggerAnchor: 'START',
  offsetMode: 'CALENDAR',
  latePolicy: 'SKIP',
  allowPast: false,
  oldStatus: null,
  newStatus: null,
  locationIdList: [],
  professionalIdList: [],
  reasonIdList: [],
  filterTagMapJson: null,
  mails: [MAIL_TO_CHOOSE],
})

/** The body that saves a draft; `base` is what is stored, if it is. */
export function bodyOf(draft: Draft, base: Draft): AutomationBody {
  const { eventType, mails: _mails, ...definition } = draft
  const businessId = signedInBusinessId()
  const isOtherKind = base.eventDefnId !== undefined && base.objectType !== draft.objectType
  const mails = withActionIds(draft.mails, base.mails)
  const kept = new Set(mails.map(({ eventActionId }) => eventActionId))
  const removed = base.mails.filter(
    ({ eventActionId }) => eventActionId !== undefined && !kept.has(eventActionId),
  )
  return {
    ...definition,
    businessId,
    eventType: { eventTypeId: eventType.eventTypeId },
    ...(isOtherKind ? { objectId: null, objectUUId: null } : {}),
    eventActions: [
      ...mails
        .filter(({ emailTemplateId }) => emailTemplateId !== null)
        .map((mail) => ({ ...mail, actionType: 'SEND_EMAIL' as const, active: true, businessId })),
      ...removed.map(({ eventActionId }) => ({ eventActionId, active: false })),
    ],
  }
}

/** A mail that was chosen before its automation was stored is the stored one, not another. */
const withActionIds = (mails: DraftMail[], stored: DraftMail[]) =>
  mails.map((mail) => {
    const isSame = (one: DraftMail) =>
      one.emailTemplateId === mail.emailTemplateId && one.recipient.value === mail.recipient.value
    const isTaken = (one: DraftMail) =>
      mails.some(({ eventActionId }) => eventActionId === one.eventActionId)
    const eventActionId =
      mail.eventActionId ?? stored.find((one) => isSame(one) && !isTaken(one))?.eventActionId
    return eventActionId === undefined ? mail : { ...mail, eventActionId }
  })

export const automationKind: RecordKind<StoredAutomation, Draft> = {
  queryKey: ['automation'],
  idOf: ({ definition }) => definition.eventDefnId,
  draftOf: (stored) => (stored ? draftOf(stored) : newDraft()),
  read: (id, signal) => readAutomation(Number(id), signal),
  save: ({ draft, base, options }) => saveAutomation(bodyOf(draft, base), options),
  settings: [
    ['triggerMonths', 'triggerHours', 'triggerMinutes'],
    ['eventType', 'objectType', 'triggerAnchor', 'changes', 'oldStatus', 'newStatus'],
  ],
  hasEffects: true,
}

export type Occasion = {
  eventType: EventType
  objectType: DefinitionObjectType
  anchor: 'START' | 'END'
  changes?: WatchedChange[]
}

const occasion = (eventTypeId: number, more: Partial<Occasion> = {}): Occasion => {
  const eventType = eventTypeById(eventTypeId)!
  const kind = eventType.objectType
  const objectType =
    kind === 'INVITATION' ? 'INVITATION_CAMPAIGN' : kind === 'DISCLAIMER' ? 'CALENDAR' : kind
  return { eventType, objectType, anchor: 'START', ...more }
}

/** The occasions of automations, by the key of their text. */
export const OCCASIONS: Record<OccasionKey, Occasion> = {
  APPT_CREATED: occasion(1),
  APPT_CHANGED: occasion(2),
  APPT_CHANGED_TIME: occasion(2, { changes: ['TIME'] }),
  APPT_REMINDER_START: occasion(3),
  APPT_REMINDER_END: occasion(3, { anchor: 'END' }),
  CLASS_SCHEDULE_CREATED: occasion(4),
  CLASS_SCHEDULE_CHANGED: occasion(5),
  CLASS_SCHEDULE_CHANGED_TIME: occasion(5, {
    changes: ['TIME'],
  }),
  CLASS_SCHEDULE_REMINDER_START: occasion(6),
  CLASS_SCHEDULE_REMINDER_END: occasion(6, {
    anchor: 'END',
  }),
  INVITE_CREATED: occasion(7),
  INVITE_REMINDER: occasion(8),
  INVITE_COMPLETED: occasion(9),
  INVITE_CHANGED: occasion(11),
  RECALL: occasion(10),
  DISCLAIMER_CREATED: occasion(12),
  DISCLAIMER_CHANGED: occasion(13),
}

/** The draft with another occasion; properties that do not apply to it are cleared. */
export function withOccasion(
  draft: Draft,
  { eventType, objectType, anchor, changes }: Occasion,
): Draft {
  const isEvent = eventType.eventCategory === 'EVENT'
  const isBefore = draft.triggerMonths < 0 || draft.triggerHours < 0 || draft.triggerMinutes < 0
  const isSameKind = draft.eventType.objectType === eventType.objectType
  const keepsStatus = isSameKind && eventType.eventType.endsWith('_CHANGED') && !changes
  return {
    ...draft,
    eventType,
    objectType: isSameKind && eventType.objectType === 'DISCLAIMER' ? draft.objectType : objectType,
    triggerAnchor: anchor,
    changes: changes ?? (draft.changes ? [] : draft.changes),
    ...(isEvent && isBefore ? { triggerMonths: 0, triggerHours: 0, triggerMinutes: 0 } : {}),
    ...(keepsStatus ? {} : { oldStatus: null, newStatus: null }),
    ...(isSameKind || !draft.onlyIfStatus ? {} : { onlyIfStatus: [] }),
  }
}

/** The differences in the order of the page. `key` is the word of the sentence, if it is one. */
export function differences(from: Draft, to: Draft, setup: Setup): Difference[] {
  const before = draftWords(from, setup)
  const after = draftWords(to, setup)
  const keys = new Set([...before.keys(), ...after.keys()])
  return [...keys].flatMap((key) => {
    const [a, b] = [before.get(key) ?? '–', after.get(key) ?? '–']
    return a === b ? [] : [{ key, label: labelOf(key), from: a, to: b }]
  })
}

export const wordKey = ({ name, mail }: Word) => (mail === undefined ? name : `${name} ${mail}`)

/** Every word and every row of the fine print, by its key. */
function draftWords(draft: Draft, setup: Setup): Map<string, string> {
  const words = new Map<string, string>()
  for (const { word, text } of sentenceOf(draft, draft.mails, setup, { isEditor: true })) {
    if (!word) continue
    const key = wordKey(word)
    const known = words.get(key)
    words.set(key, known ? `${known} ${text}` : text)
  }
  words.set('active', t(draft.active ? 'words.on' : 'words.off'))
  words.set('name', draft.description ?? t('editor.nameNone'))
  words.set('mode', draft.offsetMode === 'CALENDAR' ? t('editor.byCalendar') : t('editor.byClock'))
  words.set('late', t(draft.latePolicy === 'SEND' ? 'editor.lateSend' : 'editor.lateSkip'))
  words.set('past', t(draft.allowPast ? 'editor.pastSend' : 'editor.pastSkip'))
  words.set('tags', tagWords(draft.filterTagMapJson))
  words.set('onlyIf', onlyIfWords(draft, setup))
  return words
}

export const tagWords = (filterTagMapJson: string | null) =>
  tagsInWords(readTags(filterTagMapJson)) || t('editor.tagsNone')

export const onlyIfWords = ({ onlyIfStatus, eventType }: Draft, setup: Setup) =>
  onlyIfStatus?.map((status) => statusLabel(setup, eventType.objectType, status)).join(', ') ||
  t('editor.onlyIfAny')

function labelOf(key: string): string {
  const [name = ''] = key.split(' ')
  return t(`editor.labels.${name}` as 'editor.labels.timing')
}
