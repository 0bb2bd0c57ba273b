import type { ObjectType } from '../../src/contract/event-type.ts'
import type { Automation } from '../api/automations.ts'
import type { TemplateFields as Draft } from '../api/templates.ts'

export type { Draft }

/** The fields that are one line of text with tokens. */
export type LineName = Exclude<
  keyof Draft,
  | 'templateName'
  | 'language'
  | 'reasonIdList'
  | 'level'
  | 'location'
  | 'emailCategoryId'
  | 'emailBody'
  | 'emailBodyText'
  | 'noHeader'
  | 'attachFileLibraryUUids'
>

/** The automations that send a template, or one of the same name, of which it is a variant. */
export const automationsOf = (ids: ReadonlySet<number>, automations: Automation[]) =>
  automations.filter(({ eventActions }) =>
    eventActions?.some(({ active, emailTemplateId }) => active && ids.has(emailTemplateId)),
  )

const TOKENS_OF_TYPE: [RegExp, ObjectType][] = [
  [/%(?:IF:)?CLASS_/, 'CLASS_SCHEDULE'],
  [/%(?:IF:)?INVITATION_/, 'INVITATION'],
  [/%(?:IF:)?RECALL_/, 'RECALL'],
  [/%(?:IF:)?DISCLAIMER_/, 'DISCLAIMER'],
]

/** The object type of the mails of a template, from its automations, else from its tokens. */
export function objectTypeOf(automations: Automation[], { subject, emailBody }: Draft): ObjectType {
  const [automation] = automations
  if (automation) return automation.eventType.objectType
  const text = `${subject}\n${emailBody}`
  return TOKENS_OF_TYPE.find(([token]) => token.test(text))?.[1] ?? 'CALENDAR'
}
