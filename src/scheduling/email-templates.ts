import { schemaFaults } from '../contract/find-faults.ts'
import { isPlainObject, isSame } from '../contract/json.ts'
import type { ObjectKind } from '../contract/objects.ts'
import { checkHtml } from '../email/html-pool.ts'
import type { CheckedHtml } from '../email/read-html.ts'
import { templateFaults, type CheckedFields } from '../email/check-template.ts'
import type { Fault } from '../errors.ts'
import type { StoredObject } from '../store/objects.ts'

/** A template of the interface contains its whole category; only the id is stored. */
export function readTemplateBody(body: unknown): unknown {
  if (!isPlainObject(body) || body.emailCategoryId != null) return body
  const { emailCategory } = body
  return isPlainObject(emailCategory)
    ? { ...body, emailCategoryId: emailCategory.emailCategoryId ?? null }
    : body
}

/** Faults of the category point at the place where the body has its id. */
export function faultsInBody(body: unknown, faults: Fault[]): Fault[] {
  if (readTemplateBody(body) === body) return faults
  const pointer = '/emailCategory/emailCategoryId'
  return faults.map((fault) =>
    fault.pointer === '/emailCategoryId' ? { ...fault, pointer } : fault,
  )
}

/** For each HTML body: its faults, the HTML to store, and what it lacks of the given one. */
export type HtmlChecks = Map<string, Pick<CheckedHtml, 'faults' | 'stored' | 'removed'>>

/**
 * Checks the HTML of templates on worker threads. The caller does this before its transaction, so
 * that no connection is held while a template waits for a thread.
 */
export async function checkHtmlOf(kind: ObjectKind, bodies: unknown[], businessId: number) {
  const checks: HtmlChecks = new Map()
  if (kind.kind !== 'emailTemplate') return checks
  for (const body of bodies) {
    const html = isPlainObject(body) ? body.emailBody : undefined
    if (typeof html !== 'string' || checks.has(html)) continue
    if (schemaFaults(kind.fields.emailBody!.schema, html).length > 0) continue
    const { faults, stored, removed } = await checkHtml(businessId, html)
    checks.set(html, { faults, stored: stored === html ? html : stored, removed })
  }
  return checks
}

/** What is not stored of the HTML of one template. */
export const removedFrom = (checks: HtmlChecks) =>
  [...checks.values()].flatMap(({ removed }) => removed)

/** The faults of a template. HTML that was stored before is not checked again. */
export const faultsOfTemplate = (template: StoredObject, given: unknown, checks: HtmlChecks) => [
  ...templateFaults(template as CheckedFields),
  ...(typeof given === 'string' ? checkOf(given, checks).faults : []),
]

/** The template to store; the stored one itself if nothing changes. */
export function storedTemplate(
  object: StoredObject,
  before: StoredObject | undefined,
  given: unknown,
  checks: HtmlChecks,
): StoredObject {
  if (object === before || typeof given !== 'string') return object
  const stored = { ...object, emailBody: checkOf(given, checks).stored }
  if (!before) return stored
  const { version, modifiedDate, modifiedUser } = before
  return isSame(before, { ...stored, version, modifiedDate, modifiedUser }) ? before : stored
}

function checkOf(html: string, checks: HtmlChecks) {
  const check = checks.get(html)
  if (!check) throw new Error('the HTML of a template was not checked before it is saved')
  return check
}
