import type { Described } from './directory.ts'
import { NO_LAST_NAME } from './people.ts'

/** A person with the parts of their name. Empty texts are unknown. */
export type DescribedPerson = Described & { firstName: string; lastName: string; phone: string }

/** The body that creates what another system describes. */
export function bodyOfDescribed(described: Described | DescribedPerson): Record<string, unknown> {
  const { kind, name, emailAddress, externalId } = described
  const id = externalId ? { externalId } : {}
  if (kind === 'reason' || kind === 'location') return { name, ...id }
  const { firstName, lastName, phone } =
    'firstName' in described ? described : { firstName: name, lastName: '', phone: '' }
  const [local = ''] = emailAddress.split('@')
  return {
    firstName: firstName || local,
    lastName: lastName || NO_LAST_NAME,
    ...(emailAddress && { emailAddress }),
    ...(phone && kind === 'client' && { phone }),
    ...id,
  }
}
