import i18next from 'i18next'
import type { ObjectType } from '../../src/contract/event-type.ts'
import type { Automation } from '../api/automations.ts'
import type { Template } from '../api/setup.ts'
import type { TemplateBody } from '../api/templates.ts'
import type { Difference } from '../components/difference.ts'
import { languageName } from './languages.ts'

/** The fields of a template that the page edits, in its order. */
const FIELDS = [
  'templateName',
  'language',
  'emailCategoryId',
  'fromName',
  'fromAddress',
  'toName',
  'toAddress',
  'ccAddress',
  'bccAddress',
  'replyToAddress',
  'subject',
  'emailBody',
  'emailBodyText',
  'emailBecause',
  'noHeader',
] as const
type Field = (typeof FIELDS)[number]

export type Draft = Pick<Template, Field>

/** The fields that are one line of text with tokens. */
export type LineName = Exclude<
  Field,
  'templateName' | 'language' | 'emailCategoryId' | 'emailBody' | 'emailBodyText' | 'noHeader'
>

export const draftOf = (template: Template): Draft =>
  Object.fromEntries(FIELDS.map((field) => [field, template[field]])) as Draft

/** The changed fields, as the body of a save or of a preview. */
export const changesOf = (base: Draft, draft: Draft): TemplateBody =>
  Object.fromEntries(
    FIELDS.filter((field) => draft[field] !== base[field]).map((field) => [field, draft[field]]),
  )

/** Keeps my changes; everything else is as the other user saved it. */
export const mergeDrafts = (base: Draft, mine: Draft, theirs: Draft): Draft => ({
  ...theirs,
  ...(changesOf(base, mine) as Partial<Draft>),
})

/** The differences in the order of the page, in words. */
export function differences(
  from: Draft,
  to: Draft,
  categories: { emailCategoryId: number; name: string }[],
): Difference[] {
  const wordsOf = (draft: Draft, field: Field) => {
    if (field === 'language') {
      return draft.language ? languageName(draft.language) : i18next.t('template.everyLanguage')
    }
    if (field === 'emailCategoryId') {
      const id = draft.emailCategoryId
      return categories.find((category) => category.emailCategoryId === id)?.name ?? '–'
    }
    if (field === 'noHeader') return i18next.t(draft.noHeader ? 'template.yes' : 'template.no')
    return draft[field] ?? '–'
  }
  return FIELDS.filter((field) => from[field] !== to[field]).map((field) => ({
    key: field,
    label: i18next.t(`template.fields.${field}`),
    from: wordsOf(from, field),
    to: wordsOf(to, field),
  }))
}

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
