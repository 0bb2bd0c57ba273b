import type { AuditEntry } from '../api/audit.ts'
import type { Setup } from '../api/setup.ts'
import { insideSentence, textOr, type Translate } from '../texts/translate.ts'
import type { TimeFormat } from '../components/time.ts'

/** A property that the change set; `from` is absent for a new object. */
type ChangedField = { name: string; from?: unknown; to: unknown }

/** Kept by the service, or said by the sentence. */
const HIDDEN = new Set([
  'businessId',
  'version',
  'active',
  'createdDate',
  'createdUser',
  'modifiedDate',
  'modifiedUser',
])

export function changedFields({ id, change, before, after }: AuditEntry): ChangedField[] {
  const isShown = (name: string) =>
    !HIDDEN.has(name) && !(/(Id|UUI[Dd])$/.test(name) && String(after[name]) === String(id))
  const fields = Object.entries(after).filter(([name]) => isShown(name))
  if (change === 'CREATED') {
    return fields.filter(([, value]) => !isEmpty(value)).map(([name, to]) => ({ name, to }))
  }
  return (
    fields
      // A property that the state before lacks was added to the product later, not by this change.
      .filter(([name, to]) => before && name in before && !isSame(before[name], to))
      .map(([name, to]) => ({ name, from: before?.[name], to }))
  )
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

const isEmpty = (value: unknown) =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)

/** "startTime" → "start", "changeNote" → "change note" */
export function fieldInWords(name: string) {
  const known = FIELDS.map((section) => textOr(`${section}.${name}`, '')).find((text) => text)
  if (known) return insideSentence(known)
  return name.replaceAll(/[A-Z]+/g, (capitals) => ` ${capitals.toLowerCase()}`)
}

/** Where the fields of records have their names; the first one that has it decides. */
const FIELDS = [
  'settings.audit.fields',
  'objects.fields',
  'template.fields',
  'settings.setup.fields',
  'settings.business',
  'reports.mail.fields',
  'reports.targets.fields',
  'settings.feeds.fields',
]

export type Words = {
  t: Translate
  format: TimeFormat
  /** With the locations and staff that are not active any more. */
  setup: Setup | undefined
  /** Those whom a shown field names. */
  clients?: NamedClient[]
}

type NamedClient = { clientId: number; name: string | undefined }

/** The clients whom the fields name by their id. */
export const clientsOf = (fields: ChangedField[]) => [
  ...new Set(
    fields
      .filter(({ name }) => name === 'clientId')
      .flatMap(({ from, to }) => [from, to])
      .filter((id) => typeof id === 'number'),
  ),
]

const OBJECT_TYPES: Partial<Record<string, string>> = {
  calendar: 'CALENDAR',
  classSchedule: 'CLASS_SCHEDULE',
  invitation: 'INVITATION',
  recall: 'RECALL',
  disclaimer: 'DISCLAIMER',
}

type Valued = { object: string; name: string; value: unknown }

export function valueInWords({ object, name, value }: Valued, words: Words): string {
  const { t, format, setup } = words
  if (isEmpty(value)) return '–'
  if (typeof value === 'boolean') return t(value ? 'words.yesInSentence' : 'words.noInSentence')
  if (typeof value === 'number' && /(Date|Time)$/.test(name)) return format.moment(value)
  if (/status$/i.test(name)) {
    const isThis = (one: Setup['statuses'][number]) =>
      (OBJECT_TYPES[object] ?? one.objectType) === one.objectType && one.status === value
    return setup?.statuses.find(isThis)?.label ?? String(value)
  }
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) {
    return value.map((one) => nameOfId(name, one, words)).join(', ')
  }
  return typeof value === 'object' ? JSON.stringify(value) : nameOfId(name, value, words)
}

/** Names instead of ids of clients, locations, staff, services and templates. */
function nameOfId(property: string, value: unknown, { t, setup, clients = [] }: Words): string {
  const kind = property.replace(/List$/, '')
  if (!setup || !(kind in NAME_OF_ID)) return String(value)
  return NAME_OF_ID[kind]!({ ...setup, clients }, Number(value)) ?? t('words.noLongerActive')
}

type Named = Setup & { clients: NamedClient[] }

const NAME_OF_ID: Partial<Record<string, (setup: Named, id: number) => string | undefined>> = {
  clientId: ({ clients }, id) => clients.find(({ clientId }) => clientId === id)?.name,
  locationId: ({ locations }, id) => locations.find(({ locationId }) => locationId === id)?.name,
  professionalId({ professionals }, id) {
    const found = professionals.find(({ professionalId }) => professionalId === id)
    return found && `${found.firstName} ${found.lastName}`
  },
  reasonId: ({ services }, id) => services.find(({ reasonId }) => reasonId === id)?.name,
  emailTemplateId: ({ templates }, id) =>
    templates.find(({ emailTemplateId }) => emailTemplateId === id)?.templateName,
}

const MAX_LENGTH = 240
const CONTEXT = 60

/** Long texts are cut to the place where they begin to differ. */
export function cutTexts(from: string, to: string) {
  if (Math.max(from.length, to.length) <= MAX_LENGTH) return { from, to }
  let same = 0
  while (same < from.length && from[same] === to[same]) same += 1
  const start = Math.max(0, same - CONTEXT)
  const cut = (text: string) =>
    `${start > 0 ? '… ' : ''}${text.slice(start, start + MAX_LENGTH)}${text.length > start + MAX_LENGTH ? ' …' : ''}`
  return { from: cut(from), to: cut(to) }
}
