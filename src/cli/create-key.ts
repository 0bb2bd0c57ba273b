import { Command } from 'commander'
import { createApiKey } from '../auth/api-keys.ts'
import { API_KEY_BODY } from '../contract/credentials.ts'
import { SCOPES, type KeyScope } from '../contract/roles.ts'
import { readFields } from '../contract/read-fields.ts'
import { invalid } from '../errors.ts'
import { findNamedBusiness, wholeNumber } from './named-business.ts'
import { withDatabase } from './with-database.ts'

type Options = { business: number; name: string; scopes?: string; expires?: string }

export const command = new Command()
  .requiredOption('--business <businessId>', 'business of the key', wholeNumber)
  .requiredOption('--name <name>', 'name of the key; the author of its changes is key:<name>')
  .option('--scopes <list>', `separated by commas: ${SCOPES.join(', ')} (default: all)`)
  .option('--expires <time>', 'expiry, such as 2027-01-31T00:00:00Z (default: never)')
  .addHelpText('after', '\nPrints the key. Store it now: only its hash is kept.')
  .action((options: Options) =>
    withDatabase(async ({ database, now }) => {
      const businessId = await findNamedBusiness(database, options.business)
      const { name, scopes, expires } = options
      const body = {
        name,
        scopes: scopes?.split(',').map((scope) => scope.trim()),
        expiresTime: expires === undefined ? undefined : readTime(expires, now),
      }
      const { values, faults } = readFields<Wanted>(API_KEY_BODY, body)
      if (faults.length > 0) throw invalid(faults)
      const by = { user: 'OPERATOR', now }
      const db = database.forBusiness(businessId, by.user)
      const { key, apiKeyId } = await createApiKey(db, businessId, values, by, null)
      console.error(
        `Key ${apiKeyId} of business ${businessId}. Store it now, it is not shown again:`,
      )
      console.log(key)
    }),
  )

type Wanted = { name: string; scopes: KeyScope[]; expiresTime: Temporal.Instant | null }

function readTime(text: string, now: Temporal.Instant) {
  try {
    const moment = Temporal.Instant.from(text)
    if (Temporal.Instant.compare(moment, now) > 0) return moment.epochMilliseconds
  } catch {
    // reported below
  }
  throw invalid([
    { pointer: '--expires', detail: 'must be a time in the future, such as 2027-01-31T00:00:00Z' },
  ])
}
