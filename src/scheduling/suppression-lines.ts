import { Type } from 'typebox'
import { SUPPRESSION_REASONS, type SuppressionReason } from '../contract/email.ts'
import { address, optional, required, text } from '../contract/fields.ts'
import { readFields } from '../contract/read-fields.ts'
import { serverOwned, ServerOwned } from '../contract/schema.ts'
import { unknownProperties } from '../contract/unknown-properties.ts'
import type { Db } from '../database/database.ts'
import { invalid } from '../errors.ts'
import { suppress } from '../store/suppressions.ts'
import type { Saving } from './saving.ts'

const FIELDS = {
  emailAddress: required(address()),
  reason: required({
    schema: Type.Enum([...SUPPRESSION_REASONS]),
    sqlType: 'text',
    faults: (value) =>
      SUPPRESSION_REASONS.some((reason) => reason === value)
        ? []
        : [{ detail: `must be one of ${SUPPRESSION_REASONS.join(', ')}` }],
  }),
  detail: optional(text(2_000)),
}

const SuppressionLine = Type.Object({
  ...Object.fromEntries(Object.entries(FIELDS).map(([name, { schema }]) => [name, schema])),
  businessId: ServerOwned,
  ...serverOwned,
})

type Suppressed = { emailAddress: string; reason: SuppressionReason; detail: string | null }

/** A suppressed address in an import. */
export async function saveSuppressionLine(tx: Db, body: unknown, saving: Saving) {
  const { values, faults } = readFields<Suppressed>(FIELDS, body)
  faults.push(...unknownProperties(SuppressionLine, body))
  if (faults.length > 0) throw invalid(faults)
  const { businessId, user, recordedAt, now } = saving
  const since = recordedAt?.(body as Record<string, unknown>) ?? now
  await suppress(tx, [{ businessId, ...values }], { user, now: since })
}
