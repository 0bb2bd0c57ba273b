import { eventTypeById, type ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import type { MailContext } from '../contract/mail-context.ts'
import { emptyTokensOf, mergeMail, readersOf, type MergedMail } from '../email/merge.ts'
import { tokensIn } from '../email/token-syntax.ts'
import { findToken, listTokens, type TokenKind } from '../email/tokens.ts'
import { listEventTypesOfTemplate } from '../store/email-templates.ts'
import { listMailContexts, type ContextRow } from '../store/mail-contexts.ts'
import { listRecentObjects } from '../store/subjects.ts'
import { compiled, variantFor } from './compose.ts'
import type { RenderedTemplate } from './templates.ts'
import { isSliceOver, nextSlice } from '../time-slice.ts'

export type Preview = { mail: MergedMail; row: ContextRow; template: RenderedTemplate }

/**
 * The mail about an object; about a class, the mail to its first student. Of several versions it is
 * made from the one that the client gets.
 */
export async function previewMail(
  db: Db,
  versions: [RenderedTemplate, ...RenderedTemplate[]],
  object: MailSubject,
  links: ExampleLinks,
): Promise<Preview | undefined> {
  const row = await findMailContext(db, versions[0].businessId, object)
  if (!row) return undefined
  const template = versions.length === 1 ? versions[0] : variantFor(row, 'client', versions)
  const shown = { ...links, unsubscribe: template.transactional ? null : links.unsubscribe }
  return { mail: mergeMail(compiled(template), withLinks(row.context, shown)), row, template }
}

/** Links of a mail that is only shown. */
type ExampleLinks = { unsubscribe: string | null; answer: string; calendar: string }

const withLinks = (context: MailContext, links: ExampleLinks): MailContext => ({
  ...context,
  unsubscribeLink: links.unsubscribe,
  calendarLink: links.calendar,
  ...(asksClients(context) && {
    answerLinks: { confirm: links.answer, cancel: links.answer, sign: links.answer },
  }),
})

/** Clients can answer about appointments and classes, and sign forms. */
const asksClients = ({ calendar, classSchedule, disclaimer }: MailContext) =>
  calendar !== null || classSchedule !== null || disclaimer !== null

/** For counting tokens without a value. */
export const EXAMPLE_ANSWERS = {
  confirm: 'https://example.org/answer/confirm',
  cancel: 'https://example.org/answer/cancel',
  sign: 'https://example.org/answer/sign',
}

type MailSubject = { objectType: ObjectType; objectId: number | string }

/** The data of a mail about an object; about a class, of the mail to its first student. */
async function findMailContext(
  db: Db,
  businessId: number,
  { objectType, objectId: id }: MailSubject,
): Promise<ContextRow | undefined> {
  const key =
    typeof id === 'string' ? { objectId: null, objectUUId: id } : { objectId: id, objectUUId: null }
  const rows = await listMailContexts(db, objectType, [{ businessId, ...key }])
  return rows.toSorted((a, b) => (a.clientId ?? 0) - (b.clientId ?? 0))[0]
}

/** All tokens, each with its value in a mail about an object, in the language of a template. */
export async function listTokenValues(
  db: Db,
  businessId: number,
  object: MailSubject,
  { language, links }: { language: string | null; links: ExampleLinks },
) {
  const row = await findMailContext(db, businessId, object)
  if (!row) return undefined
  const context = withLinks(row.context, links)
  const readers = readersOf(context, language)
  const valueOf = (token: string) =>
    findToken(token.slice(1, -1))?.value(context, readers)?.slice(0, MAX_VALUE_LENGTH) || null
  return listTokens().map(({ objectType, tokens }) => ({
    objectType,
    tokens: tokens.map((token) => ({ ...token, value: valueOf(token.token) })),
  }))
}

/** A form's text can be long; a list needs its beginning. */
const MAX_VALUE_LENGTH = 200

/** A token that has no value for some recent objects. */
type EmptyToken = {
  token: string
  /** For how many of the objects it is empty. */
  objects: number
  of: number
  example: MailSubject
}

const MAX_OBJECTS = 50

/**
 * The tokens of a template that are empty for recent objects: those of the kinds that the tokens
 * describe, and of the kinds that use the template.
 */
export async function findEmptyTokens(db: Db, template: RenderedTemplate): Promise<EmptyToken[]> {
  const names = tokensIn(writtenIn(template))
  if (names.length === 0) return []
  const types = await objectTypesOf(db, template, names)
  const found = new Map<string, EmptyToken>()
  let objects = 0
  for (const objectType of types) {
    const keys = await listRecentObjects(db, template.businessId, objectType, MAX_OBJECTS)
    const rows = await listMailContexts(db, objectType, keys)
    objects += keys.length
    for (const [objectId, ofObject] of Map.groupBy(
      rows,
      (row) => row.objectUUId ?? row.objectId!,
    )) {
      if (isSliceOver()) await nextSlice()
      const empty = new Set<string>(ofObject.flatMap((row) => emptyIn(template, row.context)))
      for (const token of empty) {
        const known = found.get(token)
        if (known) known.objects++
        else found.set(token, { token, objects: 1, of: 0, example: { objectType, objectId } })
      }
    }
  }
  return names
    .flatMap((name) => found.get(`%${name}%`) ?? [])
    .map((warning) => ({ ...warning, of: objects }))
}

function emptyIn(template: RenderedTemplate, context: MailContext) {
  const unsubscribeLink = template.transactional ? null : 'https://example.org/'
  const answers = asksClients(context) && { answerLinks: EXAMPLE_ANSWERS }
  return emptyTokensOf(compiled(template), { ...context, unsubscribeLink, ...answers }).map(
    (name) => `%${name}%`,
  )
}

/** The fields that can contain tokens. */
const writtenIn = (template: RenderedTemplate) =>
  [
    template.subject,
    template.emailBody,
    template.emailBodyText,
    template.emailBecause,
    template.fromName,
    template.fromAddress,
    template.toName,
    template.toAddress,
    template.ccAddress,
    template.bccAddress,
    template.replyToAddress,
  ].join('\n')

async function objectTypesOf(db: Db, template: RenderedTemplate, names: string[]) {
  const used = await listEventTypesOfTemplate(db, template.businessId, template.emailTemplateId)
  const types = new Set<ObjectType>(used.flatMap((id) => eventTypeById(id)?.objectType ?? []))
  for (const name of names) {
    const type = OBJECT_TYPE_OF[findToken(name)!.kind]
    if (type) types.add(type)
  }
  return types.size > 0 ? types : new Set<ObjectType>(['CALENDAR'])
}

const OBJECT_TYPE_OF: Partial<Record<TokenKind, ObjectType>> = {
  appointment: 'CALENDAR',
  class: 'CLASS_SCHEDULE',
  invitation: 'INVITATION',
  recall: 'RECALL',
  disclaimer: 'DISCLAIMER',
}
