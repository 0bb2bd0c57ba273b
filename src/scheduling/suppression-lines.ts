import { Type } from 'typebox'
import { SUPPRESSION_REASONS, type SuppressionReason } from '../contract/email.ts'
import {
  address,
  bodyProperties,
  oneOf,
  optional,
  reference,
  required,
  text,
} from '../contract/fields.ts'
import { readFields } from '../contract/read-fields.ts'
import { serverOwned, ServerOwned } from '../contract/schema.ts'
import type { Db } from '../database/database.ts'
import { invalid, type Fault } from '../errors.ts'
import { suppress } from '../store/suppressions.ts'
import { nameResolver } from './definition-lines.ts'
import type { LineRefs } from './line-refs.ts'
import type { Saving } from './saving.ts'

const FIELDS = {
  emailAddress: required(address()),
  reason: required(oneOf(SUPPRESSION_REASONS, 'SuppressionReason')),
  detail: optional(text(2_000)),
  emailCategoryId: optional(reference('emailCategory')),
}

const SuppressionLine = Type.Object({
  ...bodyProperties(FIELDS),
  businessId: ServerOwned,
  ...serverOwned,
})

type Suppressed = {
  emailAddress: string
  reason: SuppressionReason
  detail: string | null
  emailCategoryId: number | null
}

/** A suppressed address in an import. */
export async function saveSuppressionLine(
  tx: Db,
  line: Record<string, unknown>,
  saving: Saving,
  refs: LineRefs,
) {
  const unknownNames: Fault[] = []
  const resolve = nameResolver(tx, saving.businessId, refs, unknownNames)
  const body = await resolve(line, { emailCategoryId: 'emailCategory' }, '')
  if (unknownNames.length > 0) throw invalid(unknownNames)
  const shape = { schema: SuppressionLine, fields: FIELDS }
  const { values, faults } = readFields<Suppressed>(shape, body)
  if (faults.length > 0) throw invalid(faults)
  const { businessId, user, recordedAt, now } = saving
  const since = recordedAt?.(body) ?? now
  await suppress(tx, [{ businessId, ...values }], { user, now: since })
}
