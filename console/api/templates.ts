import { queryOptions } from '@tanstack/react-query'
import type { AnswerOf, InputOf } from '../../src/client/client.ts'
import type { ObjectType } from '../../src/contract/event-type.ts'
import { pickFields, storedOf, type RecordKind } from '../records/kind.ts'
import type { AboutObject } from './automation.ts'
import { all, client, MAX_PAGE } from './client.ts'
import { queryClient } from './query-client.ts'
import { setupQuery, type Template } from './setup.ts'

export type TemplateBody = InputOf<'createEmailTemplate'>
export type TokenGroup = AnswerOf<'listTokens'>[number]
export type Preview = AnswerOf<'previewEmailTemplate'>

/** All templates, also those that are off. */
export const templatesQuery = queryOptions({
  queryKey: ['templates', 'list'],
  queryFn: ({ signal }): Promise<Template[]> =>
    all(client.listEmailTemplates({ limit: MAX_PAGE, active: 'all' }, { signal })),
})

export const categoriesQuery = queryOptions({
  queryKey: ['templates', 'categories'],
  staleTime: 60_000,
  queryFn: ({ signal }) => all(client.listEmailCategories({ limit: MAX_PAGE }, { signal })),
})

/** The files that templates can attach. */
export const filesQuery = queryOptions({
  queryKey: ['templates', 'files'],
  staleTime: 60_000,
  queryFn: ({ signal }) => all(client.listFiles({ limit: MAX_PAGE }, { signal })),
})

/** The fields of a template that its page edits or restores, in its order. */
const FIELDS = {
  templateName: '',
  language: null,
  reasonIdList: [],
  level: null,
  location: null,
  emailCategoryId: null,
  fromName: null,
  fromAddress: null,
  toName: null,
  toAddress: null,
  ccAddress: null,
  bccAddress: null,
  replyToAddress: null,
  subject: '',
  emailBody: '',
  emailBodyText: null,
  emailBecause: null,
  noHeader: false,
  attachFileLibraryUUids: [],
}

export type TemplateFields = Pick<Template, keyof typeof FIELDS>

/** The fields of a template, also as the audit has them. */
export const templateFields = pickFields<TemplateFields>(FIELDS)

export const templateKind: RecordKind<Template, TemplateFields> = {
  queryKey: ['template'],
  idOf: ({ emailTemplateId }) => emailTemplateId,
  draftOf: templateFields,
  settings: [['level', 'location']],
  read: (id, signal) =>
    storedOf(client.getEmailTemplate({ emailTemplateId: Number(id) }, { signal })),
  save: async ({ id, base, changes, options }) => {
    const emailTemplateId = id === undefined ? undefined : Number(id)
    const saved = await storedOf(
      client.createEmailTemplate({ ...changes, emailTemplateId }, options),
    )
    if (changes.templateName !== undefined) await renameVariants(base.templateName, saved.item)
    void refreshLists()
    return saved
  },
}

/** Variants have the same name: they are renamed together. */
async function renameVariants(before: string, { templateName }: Template) {
  for (const variant of await queryClient.ensureQueryData(templatesQuery)) {
    if (variant.templateName !== before) continue
    await client.createEmailTemplate({ emailTemplateId: variant.emailTemplateId, templateName })
  }
}

async function refreshLists() {
  await Promise.all(
    [templatesQuery.queryKey, setupQuery.queryKey, ['preview'], ['audit']].map((queryKey) =>
      queryClient.invalidateQueries({ queryKey }),
    ),
  )
}

/** Saves properties of a template outside of its page, or a new template. */
export async function saveTemplate(body: TemplateBody): Promise<Template> {
  const saved = await client.createEmailTemplate(body)
  await refreshLists()
  return saved
}

/** "Reminder", "Reminder (2)". Templates of the same name are variants of one. */
export function freeName(name: string, taken: ReadonlySet<string>) {
  for (let count = 1; ; count += 1) {
    const candidate = count === 1 ? name : `${name} (${count})`
    if (!taken.has(candidate)) return candidate
  }
}

/** What setting it inactive would do to messages. */
export const deactivationPlanQuery = (emailTemplateId: number) =>
  queryOptions({
    queryKey: ['templates', 'plan', emailTemplateId],
    staleTime: 0,
    queryFn: ({ signal }) =>
      client.planEmailTemplate({ emailTemplateId, active: false }, { signal }),
  })

/** Sets it inactive: automations that use it send nothing. */
export async function deactivateTemplate(emailTemplateId: number) {
  await client.deleteEmailTemplate({ emailTemplateId })
  await refreshLists()
}

/** All tokens; with an object also their values in a mail about it. */
export const tokensQuery = (about?: AboutObject, language?: string | null) =>
  queryOptions({
    queryKey: ['templates', 'tokens', about, language],
    staleTime: 60_000,
    queryFn: ({ signal }): Promise<TokenGroup[]> =>
      client.listTokens({ ...about, ...(language && about ? { language } : {}) }, { signal }),
  })

/** The mail that a template with unsaved changes makes about an object. */
export const unsavedPreviewQuery = (
  emailTemplateId: number,
  about: AboutObject,
  template: TemplateBody,
) =>
  queryOptions({
    queryKey: ['templates', 'preview', emailTemplateId, about, template],
    retry: false,
    queryFn: ({ signal }) =>
      client.previewEmailTemplate({ emailTemplateId, ...about, template }, { signal }),
  })

/** Tokens without a value for some of the latest objects. */
export const checkQuery = (emailTemplateId: number, template: TemplateBody) =>
  queryOptions({
    queryKey: ['templates', 'check', emailTemplateId, template],
    retry: false,
    queryFn: ({ signal }) => client.checkEmailTemplate({ emailTemplateId, template }, { signal }),
  })

export type Test = AboutObject & { emailTemplateId: number; to: string[]; template?: TemplateBody }

export const sendTest = (test: Test) => client.testEmailTemplate(test)

export const clientLanguagesQuery = queryOptions({
  queryKey: ['clients', 'languages'],
  staleTime: 300_000,
  queryFn: ({ signal }) => client.countClientsByLanguage({}, { signal }),
})

/** An object to show a mail about. */
export type Example = AboutObject & { key: string; name: string; time: number | null }

const EXAMPLES = 25

/** Objects of a kind: appointments from now on, else the latest ones. */
export const examplesQuery = (objectType: ObjectType) =>
  queryOptions({
    queryKey: ['calendar', 'examples', objectType],
    staleTime: 300_000,
    queryFn: ({ signal }) => listExamples(objectType, signal),
  })

async function listExamples(objectType: ObjectType, signal: AbortSignal): Promise<Example[]> {
  const query = { expand: 'names', limit: EXAMPLES } as const
  const exampleOf = (objectId: number | string, name?: string | null, time?: number | null) => ({
    objectType,
    objectId,
    key: String(objectId),
    name: name ?? String(objectId),
    time: time ?? null,
  })
  switch (objectType) {
    case 'CALENDAR': {
      const next = await client.listAppointments({ ...query, from: Date.now() }, { signal })
      const { items } =
        next.items.length > 0 ? next : await client.listAppointments(query, { signal })
      return items.map((one) => exampleOf(one.calendarId, one.clientName, one.startTime))
    }
    case 'CLASS_SCHEDULE': {
      const next = await client.listClasses({ ...query, from: Date.now() }, { signal })
      const { items } = next.items.length > 0 ? next : await client.listClasses(query, { signal })
      return items.map((one) => exampleOf(one.classScheduleId, one.name, one.startTime))
    }
    case 'INVITATION': {
      const { items } = await client.listInvitations(query, { signal })
      return items.map((one) => exampleOf(one.invitationUUID, one.clientName, one.expiresTime))
    }
    case 'RECALL': {
      const { items } = await client.listRecalls(query, { signal })
      return items.map((one) => exampleOf(one.recallId, one.clientName, one.dueTime))
    }
    case 'DISCLAIMER': {
      const { items } = await client.listDisclaimers(query, { signal })
      return items.map((one) => exampleOf(one.disclaimerId, one.clientName))
    }
  }
}
