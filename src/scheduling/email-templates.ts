import { keptHtml } from '../email/html.ts'
import type { StoredObject } from '../store/objects.ts'
import { isSame } from './events.ts'
import { isPlainObject } from '../contract/json.ts'

/** The interface's templates carry their category whole; we keep its id. */
export function readTemplateBody(body: unknown): unknown {
  if (!isPlainObject(body) || body.emailCategoryId != null) return body
  const { emailCategory } = body
  return isPlainObject(emailCategory)
    ? { ...body, emailCategoryId: emailCategory.emailCategoryId ?? null }
    : body
}

/** A template as it is kept; the one there is where that is the same. */
export function keptTemplate(object: StoredObject, before: StoredObject | undefined): StoredObject {
  if (object === before) return object
  const kept = { ...object, emailBody: keptHtml(String(object.emailBody)) }
  if (!before) return kept
  const { version, modifiedDate, modifiedUser } = before
  return isSame(before, { ...kept, version, modifiedDate, modifiedUser }) ? before : kept
}
