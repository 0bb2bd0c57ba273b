import i18next from 'i18next'
import type { EventAction } from '../../src/contract/event-action.ts'
import type { EventDefinition } from '../../src/contract/event-definition.ts'
import type { Setup } from '../api/setup.ts'

/**
 * A part of the sentence that an automation is. `chosen` words were decided by somebody, `template`
 * is the name of the mail, `plain` words join them.
 */
export type SentencePart = { kind: 'chosen' | 'plain' | 'template'; text: string }

type Told = Pick<
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
>

const t = i18next.t.bind(i18next)
const chosen = (text: string): SentencePart => ({ kind: 'chosen', text })
const plain = (text: string): SentencePart => ({ kind: 'plain', text })

/** "2 days before an appointment at Zürich, mail the client Reminder." */
export function sentenceOf(definition: Told, actions: EventAction[], setup: Setup): SentencePart[] {
  return [
    chosen(timingWords(definition)),
    ...occasionParts(definition, setup),
    ...filterParts(definition, setup),
    ...mailParts(actions, setup),
    plain('.'),
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

function timingWords({ triggerMonths, triggerHours, triggerMinutes }: Told): string {
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

type Unit = 'month' | 'week' | 'day' | 'hour' | 'minute'

/** What happens, or what it reminds of. */
function occasionParts(definition: Told, setup: Setup): SentencePart[] {
  const { eventType, triggerAnchor, newStatus, oldStatus } = definition
  const { eventType: name, objectType } = eventType
  const key =
    name === 'APPT_REMINDER' || name === 'CLASS_SCHEDULE_REMINDER'
      ? `${name}_${triggerAnchor}`
      : name
  const changes = name.endsWith('_CHANGED') && (isStatus(newStatus) || isStatus(oldStatus))
  if (!changes) return [plain(t(`sentence.occasions.${key}` as 'sentence.occasions.RECALL'))]
  const label = (status: string) =>
    setup.statuses.find((one) => one.objectType === objectType && one.status === status)?.label ??
    status
  return [
    plain(t(`sentence.objects.${objectType}` as 'sentence.objects.CALENDAR')),
    ...(isStatus(newStatus)
      ? [plain(t('sentence.becomes')), chosen(label(newStatus))]
      : [plain(t('sentence.leaves'))]),
    ...(isStatus(oldStatus) ? [plain(t('sentence.from')), chosen(label(oldStatus))] : []),
  ]
}

const isStatus = (status: string | null): status is string => status !== null && status !== '*'

function filterParts(definition: Told, setup: Setup): SentencePart[] {
  const { locationIdList, professionalIdList, reasonIdList, filterTagMapJson } = definition
  const parts: SentencePart[] = []
  const add = (word: string, names: string[]) => {
    if (names.length > 0) parts.push(plain(word), chosen(listed(names)))
  }
  add(
    t('sentence.at'),
    locationIdList.map(
      (id) => setup.locations.find((one) => one.locationId === id)?.name ?? `#${id}`,
    ),
  )
  add(
    t('sentence.with'),
    professionalIdList.map((id) => {
      const found = setup.professionals.find((one) => one.professionalId === id)
      return found ? `${found.firstName} ${found.lastName}` : `#${id}`
    }),
  )
  add(
    t('sentence.for'),
    reasonIdList.map((id) => setup.services.find((one) => one.reasonId === id)?.name ?? `#${id}`),
  )
  const tags: Record<string, string[]> = filterTagMapJson ? JSON.parse(filterTagMapJson) : {}
  for (const [tag, values] of Object.entries(tags)) add(t('sentence.tagged', { tag }), values)
  return parts
}

function mailParts(actions: EventAction[], setup: Setup): SentencePart[] {
  if (actions.length === 0) return [plain(t('sentence.nothingYet'))]
  return actions.flatMap(({ emailTemplateId, recipient }, i) => {
    const template = setup.templates.find((one) => one.emailTemplateId === emailTemplateId)
    return [
      plain(t(i === 0 ? 'sentence.mail' : 'sentence.andMail')),
      chosen(t(`sentence.recipients.${recipient.value}`)),
      { kind: 'template' as const, text: template?.templateName ?? `#${emailTemplateId}` },
    ]
  })
}

const listed = (names: string[]) =>
  new Intl.ListFormat(i18next.language, { type: 'disjunction' }).format(names)
