import i18next from 'i18next'
import type { EventAction } from '../../src/contract/event-action.ts'
import type { EventDefinition } from '../../src/contract/event-definition.ts'
import type { Setup } from '../api/setup.ts'

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

const t = i18next.t.bind(i18next)
const plain = (text: string): SentencePart => ({ kind: 'plain', text })

/**
 * "2 days before an appointment at Zürich, mail the client Reminder." The editor also shows
 * words that are not chosen yet.
 */
export function sentenceOf(
  definition: DescribedDefinition,
  mails: DescribedMail[],
  setup: Setup,
  { isEditor = false } = {},
): SentencePart[] {
  const mailed = mailParts(mails, setup)
  return [
    { kind: 'chosen', text: timingWords(definition), word: { name: 'timing' } },
    ...occasionParts(definition, setup, isEditor),
    ...filterParts(definition, setup, isEditor),
    ...mailed,
    // The name of a mail can end the sentence: "How was it?"
    ...(/[.?!]$/.test(mailed.at(-1)!.text) ? [] : [plain('.')]),
  ]
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
export function occasionKey({ eventType, triggerAnchor, changes }: DescribedDefinition): string {
  const name = eventType.eventType
  if (name === 'APPT_REMINDER' || name === 'CLASS_SCHEDULE_REMINDER') {
    return `${name}_${triggerAnchor}`
  }
  const isMove = name.endsWith('_CHANGED') && changes?.length === 1 && changes[0] === 'TIME'
  return isMove && i18next.exists(`sentence.occasions.${name}_TIME`) ? `${name}_TIME` : name
}

export const occasionText = (key: string) =>
  t(`sentence.occasions.${key}` as 'sentence.occasions.RECALL')

/** The event, or the object that the mail reminds of. */
function occasionParts(
  definition: DescribedDefinition,
  setup: Setup,
  isEditor: boolean,
): SentencePart[] {
  const { eventType, newStatus, oldStatus, changes } = definition
  const word: Word = { name: 'occasion' }
  const key = occasionKey(definition)
  const isChange = key.endsWith('_CHANGED')
  const changed = isChange ? changeParts(changes ?? []) : []
  const asksForStatus = isChange && (newStatus !== null || oldStatus !== null)
  if (!asksForStatus && changed.length === 0) {
    return [
      { kind: 'plain', text: occasionText(key), word },
      ...(isEditor && isChange ? [open(t('sentence.inAnyWay'), { name: 'status' })] : []),
    ]
  }
  const object = t(`sentence.objects.${eventType.objectType}`)
  const status = asksForStatus ? statusParts(definition, setup) : []
  const joined = changed.length > 0 && asksForStatus ? [plain(t('sentence.andMail'))] : []
  return [{ kind: 'plain', text: object, word }, ...changed, ...joined, ...status]
}

/** "changes its time or location" */
function changeParts(changes: readonly string[]): SentencePart[] {
  if (changes.length === 0) return []
  const text = listed(changes.map((change) => changeName(change)))
  return [plain(t('sentence.changesIts')), { kind: 'chosen', text, word: { name: 'status' } }]
}

export const changeName = (change: string) =>
  t(`sentence.changes.${change}` as 'sentence.changes.TIME')

const open = (text: string, word: Word): SentencePart => ({ kind: 'open', text, word })

function statusParts(
  { eventType, newStatus, oldStatus }: DescribedDefinition,
  setup: Setup,
): SentencePart[] {
  const word: Word = { name: 'status' }
  const label = (status: string) => statusLabel(setup, eventType.objectType, status)
  return [
    ...(isStatus(newStatus)
      ? [plain(t('sentence.becomes')), { kind: 'chosen' as const, text: label(newStatus), word }]
      : [{ kind: 'plain' as const, text: t('sentence.leaves'), word }]),
    ...(isStatus(oldStatus)
      ? [plain(t('sentence.from')), { kind: 'chosen' as const, text: label(oldStatus), word }]
      : []),
  ]
}

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
  const parts: SentencePart[] = []
  const isPlaced = PLACED.has(eventType.objectType)
  const add = (name: WordName, joining: string, names: string[], none?: string) => {
    const word: Word = { name }
    const start = plain(isEditor ? `, ${joining}` : joining)
    if (names.length > 0) parts.push(start, { kind: 'chosen', text: listed(names), word })
    else if (isEditor && isPlaced && none) parts.push(start, open(none, word))
  }
  const locations = locationIdList.map((id) => nameOf.location(setup, id))
  const staff = professionalIdList.map((id) => nameOf.professional(setup, id))
  const services = reasonIdList.map((id) => nameOf.service(setup, id))
  add('locations', t('sentence.at'), locations, t('sentence.anyLocation'))
  add('staff', t('sentence.with'), staff, t('sentence.anyStaff'))
  add('services', t('sentence.for'), services, t('sentence.anyService'))
  for (const [tag, values] of Object.entries(readTags(definition.filterTagMapJson))) {
    add('tags', t('sentence.tagged', { tag }), values)
  }
  return parts
}

const nameOf = {
  location: (setup: Setup, id: number) =>
    setup.locations.find((one) => one.locationId === id)?.name ?? `#${id}`,
  professional: (setup: Setup, id: number) => {
    const found = setup.professionals.find((one) => one.professionalId === id)
    return found ? `${found.firstName} ${found.lastName}` : `#${id}`
  },
  service: (setup: Setup, id: number) =>
    setup.services.find((one) => one.reasonId === id)?.name ?? `#${id}`,
}

/** The tags that an object or its client must have. */
export const readTags = (filterTagMapJson: string | null): Record<string, string[]> =>
  filterTagMapJson ? JSON.parse(filterTagMapJson) : {}

function mailParts(mails: DescribedMail[], setup: Setup): SentencePart[] {
  if (mails.length === 0) return [plain(t('sentence.nothingYet'))]
  return mails.flatMap(({ emailTemplateId, recipient }, mail): SentencePart[] => [
    plain(t(mail === 0 ? 'sentence.mail' : 'sentence.andMail')),
    {
      kind: 'chosen',
      text: t(`sentence.recipients.${recipient.value}`),
      word: { name: 'recipient', mail },
    },
    emailTemplateId === null
      ? open(t('sentence.chooseMail'), { name: 'template', mail })
      : {
          kind: 'template',
          text: templateName(setup, emailTemplateId),
          word: { name: 'template', mail },
        },
  ])
}

const templateName = (setup: Setup, id: number) =>
  setup.templates.find((one) => one.emailTemplateId === id)?.templateName ?? `#${id}`

const listed = (names: string[]) =>
  new Intl.ListFormat(i18next.language, { type: 'disjunction' }).format(names)
