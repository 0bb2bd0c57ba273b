import type { EventAction } from '../../src/contract/event-action.ts'
import type { EventDefinition } from '../../src/contract/event-definition.ts'
import type { Setup } from '../api/setup.ts'
import type { enPages } from '../texts/en-pages.ts'
import type { TextKey } from '../texts/keys.ts'
import { findText, listAlternatives, t, textOr } from '../texts/translate.ts'

/** The words of a sentence that can be changed. Words about a mail also have its index. */
export type WordName =
  | 'timing'
  | 'occasion'
  | 'status'
  | 'locations'
  | 'staff'
  | 'services'
  | 'tags'
  | 'recipient'
  | 'template'
export type Word = { name: WordName; mail?: number }

/**
 * A part of the sentence of an automation. A user decided the `chosen` words; `open` words mean no
 * choice ("any staff"); `template` is the name of the mail; `plain` words join them.
 */
export type SentencePart = {
  kind: 'chosen' | 'open' | 'plain' | 'template'
  text: string
  word?: Word
}

/** The properties of a definition in the sentence. */
export type DescribedDefinition = Pick<
  EventDefinition,
  | 'eventType'
  | 'triggerMonths'
  | 'triggerHours'
  | 'triggerMinutes'
  | 'triggerAnchor'
  | 'oldStatus'
  | 'newStatus'
  | 'locationIdList'
  | 'professionalIdList'
  | 'reasonIdList'
  | 'filterTagMapJson'
> & { changes?: readonly string[] | null | undefined }

/** The properties of an action in the sentence. A mail that is not chosen yet has no template. */
export type DescribedMail = {
  emailTemplateId: number | null
  recipient: Pick<EventAction['recipient'], 'value'>
}

const plain = (text: string): SentencePart => ({ kind: 'plain', text })
const chosen = (text: string, word: Word): SentencePart => ({ kind: 'chosen', text, word })
const open = (text: string, word: Word): SentencePart => ({ kind: 'open', text, word })

/**
 * "2 days before an appointment at Zürich, mail the client Reminder." The editor also shows
 * words that are not chosen yet. Each language has its own order of the words.
 */
export function sentenceOf(
  definition: DescribedDefinition,
  mails: DescribedMail[],
  setup: Setup,
  { isEditor = false } = {},
): SentencePart[] {
  const parts = compose(mails.length > 0 ? 'sentence.whole' : 'sentence.withoutMail', {
    timing: [chosen(timingWords(definition), { name: 'timing' })],
    occasion: occasionParts(definition, setup, isEditor),
    filters: filterParts(definition, setup, isEditor),
    mails: mails.flatMap((mail, place) => mailParts(mail, place, setup)),
  })
  // The name of a mail can end the sentence: "How was it?"
  return /[.?!]$/.test(parts.at(-1)!.text) ? parts : [...parts, plain('.')]
}

/** The text of a key with parts in place of its values. */
function compose(key: TextKey, slots: Record<string, SentencePart[]>): SentencePart[] {
  // The pieces are: text, name of a slot, text, …
  return findText(key)
    .split(/\{\{(\w+)\}\}/)
    .flatMap((piece, i) =>
      i % 2 === 1 ? slots[piece]! : piece.trim() ? [plain(piece.trim())] : [],
    )
}

/** The same as text, for labels and search. */
export const sentenceText = (parts: SentencePart[]) =>
  parts
    .map(({ text }) => text)
    .join(' ')
    .replace(/ ([.,])/g, '$1')

const HOURS_A_DAY = 24
const HOURS_A_WEEK = 168

export type Unit = 'month' | 'week' | 'day' | 'hour' | 'minute'
export type Offset = Pick<DescribedDefinition, 'triggerMonths' | 'triggerHours' | 'triggerMinutes'>

/** "2 days before", "as soon as" */
export function timingWords({ triggerMonths, triggerHours, triggerMinutes }: Offset): string {
  const amounts: [Unit, number][] = [['month', triggerMonths]]
  if (triggerHours % HOURS_A_WEEK === 0) amounts.push(['week', triggerHours / HOURS_A_WEEK])
  else if (triggerHours % HOURS_A_DAY === 0) amounts.push(['day', triggerHours / HOURS_A_DAY])
  else amounts.push(['hour', triggerHours])
  amounts.push(['minute', triggerMinutes])
  const given = amounts.filter(([, amount]) => amount !== 0)
  if (given.length === 0) return t('sentence.atOnce')
  const words = given.map(([unit, amount]) =>
    t(`sentence.units.${unit}`, { count: Math.abs(amount) }),
  )
  const isBefore = given[0]![1] < 0
  return t(isBefore ? 'sentence.before' : 'sentence.after', { amount: words.join(' ') })
}

/** Names an occasion in the texts: the event type, with the anchor or the kind of change. */
export function occasionKey({
  eventType,
  triggerAnchor,
  changes,
}: DescribedDefinition): OccasionKey {
  const name = eventType.eventType
  if (name === 'APPT_REMINDER' || name === 'CLASS_SCHEDULE_REMINDER') {
    return `${name}_${triggerAnchor}`
  }
  const isMove = changes?.length === 1 && changes[0] === 'TIME'
  if (isMove && (name === 'APPT_CHANGED' || name === 'CLASS_SCHEDULE_CHANGED'))
    return `${name}_TIME`
  return name as OccasionKey
}

/** The event, or the object that the mail reminds of. */
function occasionParts(
  definition: DescribedDefinition,
  setup: Setup,
  isEditor: boolean,
): SentencePart[] {
  const { eventType, newStatus, oldStatus } = definition
  const word: Word = { name: 'occasion' }
  const key = occasionKey(definition)
  const isChange = key.endsWith('_CHANGED')
  const changes = isChange ? (definition.changes ?? []) : []
  const asksForStatus = isChange && (newStatus !== null || oldStatus !== null)
  if (!asksForStatus && changes.length === 0) {
    return [
      { kind: 'plain', text: t(`sentence.occasions.${key}`), word },
      ...(isEditor && isChange ? [open(t('sentence.inAnyWay'), { name: 'status' })] : []),
    ]
  }
  const statusWord: Word = { name: 'status' }
  const label = (status: string | null) =>
    status === null ? [] : [chosen(statusLabel(setup, eventType.objectType, status), statusWord)]
  const happening = [
    ...(changes.length > 0 ? ['changed'] : []),
    ...(asksForStatus ? [isStatus(newStatus) ? 'becomes' : 'leaves'] : []),
    ...(asksForStatus && isStatus(oldStatus) ? ['from'] : []),
  ].join('_') as Happening
  return compose(`sentence.happenings.${happening}`, {
    object: [{ kind: 'plain', text: t(`sentence.objects.${eventType.objectType}`), word }],
    changes: [chosen(listAlternatives(changes.map(changeName)), statusWord)],
    leaves: [{ kind: 'plain', text: t('sentence.leaves'), word: statusWord }],
    status: label(newStatus),
    before: label(oldStatus),
  })
}

/** What the sentence says about a change. */
type Happening = keyof (typeof enPages)['sentence']['happenings']
export type OccasionKey = keyof (typeof enPages)['sentence']['occasions']

export const changeName = (change: string) => textOr(`sentence.changes.${change}`, change)

const isStatus = (status: string | null): status is string => status !== null && status !== '*'

export const statusLabel = (setup: Setup, objectType: string, status: string) =>
  setup.statuses.find((one) => one.objectType === objectType && one.status === status)?.label ??
  status

const PLACED: ReadonlySet<string> = new Set(['CALENDAR', 'CLASS_SCHEDULE', 'RECALL'])

function filterParts(
  definition: DescribedDefinition,
  setup: Setup,
  isEditor: boolean,
): SentencePart[] {
  const { eventType, locationIdList, professionalIdList, reasonIdList } = definition
  const filters = [
    ['locations', locationIdList.map((id) => nameOf.location(setup, id))],
    ['staff', professionalIdList.map((id) => nameOf.professional(setup, id))],
    ['services', reasonIdList.map((id) => nameOf.service(setup, id))],
  ] as const
  const showsOpen = isEditor && PLACED.has(eventType.objectType)
  const comma = isEditor ? [plain(',')] : []
  const placed = filters.flatMap(([name, names]) => {
    if (names.length > 0) {
      const slots = { names: [chosen(listAlternatives(names), { name })] }
      return [...comma, ...compose(`sentence.filters.${name}`, slots)]
    }
    if (!showsOpen) return []
    const slots = { any: [open(t(`sentence.any.${name}`), { name })] }
    return [...comma, ...compose(`sentence.withoutFilter.${name}`, slots)]
  })
  const tagged = Object.entries(readTags(definition.filterTagMapJson)).flatMap(([tag, values]) => [
    ...comma,
    ...compose('sentence.filters.tags', {
      tag: [plain(tag)],
      names: [chosen(listAlternatives(values), { name: 'tags' })],
    }),
  ])
  return [...placed, ...tagged]
}

const nameOf = {
  location: (setup: Setup, id: number) =>
    setup.locations.find((one) => one.locationId === id)?.name ?? t('words.noLongerActive'),
  professional: (setup: Setup, id: number) => {
    const found = setup.professionals.find((one) => one.professionalId === id)
    return found ? `${found.firstName} ${found.lastName}` : t('words.noLongerActive')
  },
  service: (setup: Setup, id: number) =>
    setup.services.find((one) => one.reasonId === id)?.name ?? t('words.noLongerActive'),
}

/** The tags that an object or its client must have. */
export const readTags = (filterTagMapJson: string | null): Record<string, string[]> =>
  filterTagMapJson ? JSON.parse(filterTagMapJson) : {}

const mailParts = (
  { emailTemplateId, recipient }: DescribedMail,
  mail: number,
  setup: Setup,
): SentencePart[] =>
  compose(mail === 0 ? 'sentence.firstMail' : 'sentence.nextMail', {
    recipient: [chosen(t(`sentence.recipients.${recipient.value}`), { name: 'recipient', mail })],
    template: [
      emailTemplateId === null
        ? open(t('sentence.chooseMail'), { name: 'template', mail })
        : {
            kind: 'template',
            text: templateName(setup, emailTemplateId),
            word: { name: 'template', mail },
          },
    ],
  })

const templateName = (setup: Setup, id: number) =>
  setup.templates.find((one) => one.emailTemplateId === id)?.templateName ??
  t('words.noLongerActive')
