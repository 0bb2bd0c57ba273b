import { Type } from 'typebox'
import { SUPPRESSION_REASONS, type SuppressionReason } from '../contract/email.ts'
import { address, bodyProperties, oneOf, optional, required, text } from '../contract/fields.ts'
import { readFields } from '../contract/read-fields.ts'
import { serverOwned, ServerOwned } from '../contract/schema.ts'
import type { Db } from '../database/database.ts'
import { invalid } from '../errors.ts'
import { suppress } from '../store/suppressions.ts'
import type { Saving } from './saving.ts'

const FIELDS = {
  emailAddress: required(address()),
  reason: required(oneOf(SUPPRESSION_REASONS, 'SuppressionReason')),
  detail: optional(text(2_000)),
}

const SuppressionLine = Type.Object({
  ...bodyProperties(FIELDS),
  businessId: ServerOwned,
  ...serverOwned,
})

type Suppressed = { emailAddress: string; reason: SuppressionReason; detail: string | null }

/** A suppressed address in an import. */
export async function saveSuppressionLine(tx: Db, body: unknown, saving: Saving) {
  const shape = { schema: SuppressionLine, fields: FIELDS }
  const { values, faults } = readFields<Suppressed>(shape, body)
  if (faults.length > 0) throw invalid(faults)
  const { businessId, user, recordedAt, now } = saving
  const since = recordedAt?.(body as Record<string, unknown>) ?? now
  await suppress(tx, [{ businessId, ...values }], { user, now: since })
}
