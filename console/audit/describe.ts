import { linkOptions } from '@tanstack/react-router'
import type { AuditEntry } from '../api/audit.ts'
import type { Automation } from '../api/automations.ts'
import { textOr } from '../texts/translate.ts'
import { fieldInWords, type Words } from './changes.ts'

/** The kinds of objects whose changes are recorded, in the order of the filter. */
export const KINDS = [
  'calendar',
  'client',
  'classSchedule',
  'invitation',
  'recall',
  'disclaimer',
  'eventDefinition',
  'eventAction',
  'emailTemplate',
  'emailCategory',
  'fileLibrary',
  'location',
  'professional',
  'reason',
  'status',
  'invitationCampaign',
  'disclaimerForm',
  'business',
  'user',
  'apiKey',
  'suppression',
  'reportSchedule',
  'reportScheduleRun',
  'reportLink',
  'reportView',
  'reportTarget',
  'feed',
] as const

type Verb =
  | 'created'
  | 'changed'
  | 'removed'
  | 'deleted'
  | 'deactivated'
  | 'activated'
  | 'switchedOff'
  | 'switchedOn'
  | 'revoked'

/** The audit calls it DELETED if an object becomes inactive. */
const INACTIVE: Partial<Record<string, Verb>> = {
  eventDefinition: 'switchedOff',
  apiKey: 'revoked',
  reportLink: 'revoked',
  location: 'deactivated',
  professional: 'deactivated',
  reason: 'deactivated',
  emailTemplate: 'deactivated',
  user: 'deactivated',
}

export function verbOf({ object, change, before, after }: AuditEntry): Verb {
  if (change === 'CREATED') return 'created'
  if (after.deletedDate && !before?.deletedDate) return 'deleted'
  if (change === 'DELETED') return INACTIVE[object] ?? 'removed'
  if (before?.active === false && after.active === true) {
    return object === 'eventDefinition' ? 'switchedOn' : 'activated'
  }
  return 'changed'
}

const TIME_OF: Partial<Record<string, string>> = { calendar: 'startTime', recall: 'dueTime' }
const NAMES = ['label', 'name', 'username', 'templateName', 'description']

export const kindInWords = (object: string) =>
  textOr(`settings.audit.kinds.${object}`, fieldInWords(object))

export type EntryWords = Words & {
  automations: Automation[]
  reportNameOf: (reportId: number) => string
}

/** How the sentence calls the object; undefined if it has no name. */
export function nameOf(
  { object, after }: AuditEntry,
  { t, format, automations, reportNameOf }: EntryWords,
): string | undefined {
  const time = after[TIME_OF[object] ?? '']
  if (typeof time === 'number') return format.moment(time)
  if (object === 'eventAction') {
    const automation = automations.find(({ eventDefnId }) => eventDefnId === after.eventDefnId)
    return automation?.description ?? t('editor.unnamed')
  }
  const textOf = (property: string) => {
    const value = after[property]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const person = [textOf('firstName'), textOf('lastName')].filter(Boolean).join(' ')
  const name = person || NAMES.map(textOf).find(Boolean)
  if (name !== undefined) return name
  if (object === 'eventDefinition') return t('editor.unnamed')
  return typeof after.reportId === 'number' ? reportNameOf(after.reportId) : undefined
}

/** The page of the console that shows the object. */
export function pageOf({ object, id, after }: AuditEntry) {
  switch (object) {
    case 'client':
      return linkOptions({ to: '/clients/$clientId', params: { clientId: String(id) } })
    case 'calendar':
      return linkOptions({ to: '/calendar', search: { appointment: Number(id) } })
    case 'eventDefinition':
      return after.deletedDate ? undefined : automationPage(id)
    case 'eventAction':
      return automationPage(after.eventDefnId)
    case 'emailTemplate':
      return linkOptions({
        to: '/templates/$emailTemplateId',
        params: { emailTemplateId: String(id) },
      })
    default:
      return isSetting(object) ? linkOptions({ to: SETTINGS_PAGES[object] }) : undefined
  }
}

const automationPage = (id: unknown) =>
  linkOptions({ to: '/automations/$eventDefnId', params: { eventDefnId: String(id) } })

const SETTINGS_PAGES = {
  business: '/settings/business',
  location: '/settings/locations',
  professional: '/settings/staff',
  reason: '/settings/services',
  status: '/settings/statuses',
  user: '/settings/people',
  apiKey: '/settings/keys',
} as const

const isSetting = (object: string): object is keyof typeof SETTINGS_PAGES =>
  Object.hasOwn(SETTINGS_PAGES, object)
