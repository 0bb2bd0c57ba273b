import { eventTypeById, type ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import type { MailContext } from '../contract/mail-context.ts'
import { emptyTokensOf } from '../email/merge.ts'
import { findToken, tokensIn, type TokenKind } from '../email/tokens.ts'
import { listEventTypesOfTemplate } from '../store/email-templates.ts'
import { listMailContexts } from '../store/mail-contexts.ts'
import { listRecentObjects } from '../store/subjects.ts'
import { compiled } from './compose.ts'
import type { RenderedTemplate } from './templates.ts'
import { TimeSlice } from './time-slice.ts'

/** A token that some recent objects have no value for. */
export type EmptyToken = {
  token: string
  /** How many of the objects that were looked at leave it empty. */
  objects: number
  of: number
  example: { objectType: ObjectType; objectId: number | string }
}

const LOOKED_AT = 50

/**
 * Which tokens of a template recent real objects would leave empty: of the kinds that its tokens
 * speak of, and of those that its automations are about.
 */
export async function findEmptyTokens(db: Db, template: RenderedTemplate): Promise<EmptyToken[]> {
  const names = tokensIn(writtenIn(template))
  if (names.length === 0) return []
  const types = await objectTypesOf(db, template, names)
  const found = new Map<string, EmptyToken>()
  let looked = 0
  const slice = new TimeSlice()
  for (const objectType of types) {
    const keys = await listRecentObjects(db, template.businessId, objectType, LOOKED_AT)
    const rows = await listMailContexts(db, objectType, keys)
    looked += keys.length
    for (const [objectId, some] of Map.groupBy(rows, (row) => row.objectUUId ?? row.objectId!)) {
      if (slice.isOver()) await slice.next()
      const empty = new Set<string>(some.flatMap((row) => emptyIn(template, row.context)))
      for (const token of empty) {
        const known = found.get(token)
        if (known) known.objects++
        else found.set(token, { token, objects: 1, of: 0, example: { objectType, objectId } })
      }
    }
  }
  return names
    .flatMap((name) => found.get(`%${name}%`) ?? [])
    .map((warning) => ({ ...warning, of: looked }))
}

function emptyIn(template: RenderedTemplate, context: MailContext) {
  const unsubscribeLink = template.transactional ? null : 'https://example.org/'
  return emptyTokensOf(compiled(template), { ...context, unsubscribeLink }).map(
    (name) => `%${name}%`,
  )
}

/** What was not looked at by merging, such as an address that an action does not use, is no gap. */
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
    const type = SPOKEN_OF[findToken(name)!.kind]
    if (type) types.add(type)
  }
  return types.size > 0 ? types : new Set<ObjectType>(['CALENDAR'])
}

const SPOKEN_OF: Partial<Record<TokenKind, ObjectType>> = {
  appointment: 'CALENDAR',
  class: 'CLASS_SCHEDULE',
  invitation: 'INVITATION',
  recall: 'RECALL',
  disclaimer: 'DISCLAIMER',
}
