import { queryOptions } from '@tanstack/react-query'
import type { AnswerOf, InputOf } from '../../src/client/client.ts'
import type { ObjectType } from '../../src/contract/event-type.ts'
import type { AboutObject } from './automation.ts'
import { all, client, MAX_PAGE } from './client.ts'
import { queryClient } from './query-client.ts'
import { setupQuery, type Template } from './setup.ts'

export type TemplateBody = InputOf<'createEmailTemplate'>
export type TokenGroup = AnswerOf<'listTokens'>[number]
export type Preview = AnswerOf<'previewEmailTemplate'>

export const templatesQuery = queryOptions({
  queryKey: ['templates', 'list'],
  queryFn: ({ signal }): Promise<Template[]> =>
    all(client.listEmailTemplates({ limit: MAX_PAGE }, { signal })),
})

export const categoriesQuery = queryOptions({
  queryKey: ['templates', 'categories'],
  staleTime: 60_000,
  queryFn: ({ signal }) => all(client.listEmailCategories({ limit: MAX_PAGE }, { signal })),
})

/** One template with its version, for `If-Match`. */
export type StoredTemplate = { template: Template; etag: string | null }

export const templateQuery = (emailTemplateId: number) =>
  queryOptions({
    queryKey: ['template', emailTemplateId],
    // The editor's copy must not change while the user edits; saving detects conflicts.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: ({ signal }) => readTemplate(emailTemplateId, signal),
  })

export async function readTemplate(
  emailTemplateId: number,
  signal?: AbortSignal,
): Promise<StoredTemplate> {
  const { body, response } = await client
    .getEmailTemplate({ emailTemplateId }, { signal })
    .withResponse()
  return { template: body, etag: response.headers.get('etag') }
}

async function refreshLists() {
  await Promise.all(
    [templatesQuery.queryKey, setupQuery.queryKey, ['preview']].map((queryKey) =>
      queryClient.invalidateQueries({ queryKey }),
    ),
  )
}

/** Saves a template. A stale `etag` is answered with 412. */
export async function saveTemplate(
  body: TemplateBody,
  etag: string | null = null,
): Promise<StoredTemplate> {
  const saved = await client.createEmailTemplate(body, { ifMatch: etag })
  const stored = await readTemplate(saved.emailTemplateId)
  queryClient.setQueryData(templateQuery(saved.emailTemplateId).queryKey, stored)
  void refreshLists()
  return stored
}

/** "Reminder", "Reminder (2)". Templates of the same name are variants of one. */
export function freeName(name: string, taken: ReadonlySet<string>) {
  for (let count = 1; ; count += 1) {
    const candidate = count === 1 ? name : `${name} (${count})`
    if (!taken.has(candidate)) return candidate
  }
}

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
