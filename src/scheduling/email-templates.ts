import { isPlainObject } from '../contract/fields.ts'

/** The interface's templates carry their category whole; we keep its id. */
export function readTemplateBody(body: unknown): unknown {
  if (!isPlainObject(body) || body.emailCategoryId != null) return body
  const { emailCategory } = body
  return isPlainObject(emailCategory)
    ? { ...body, emailCategoryId: emailCategory.emailCategoryId ?? null }
    : body
}
