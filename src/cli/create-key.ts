import { Command } from 'commander'
import { createApiKey } from '../auth/api-keys.ts'
import { API_KEY_FIELDS, SCOPES, type Scope } from '../contract/credentials.ts'
import { readFields } from '../contract/read-fields.ts'
import { invalid } from '../errors.ts'
import { findNamedBusiness, wholeNumber } from './named-business.ts'
import { withDatabase } from './with-database.ts'

type Options = { business: number; name: string; scopes?: string; expires?: string }

export const command = new Command()
  .requiredOption('--business <businessId>', 'whose key it is', wholeNumber)
  .requiredOption('--name <name>', 'what uses it; changes made with it are by key:<name>')
  .option('--scopes <list>', `separated by commas, of ${SCOPES.join(', ')}; all unless given`)
  .option('--expires <moment>', 'such as 2027-01-31T00:00:00Z; never unless given')
  .addHelpText('after', '\nPrints the key, this once: only its hash is kept.')
  .action((options: Options) =>
    withDatabase(async ({ database, now }) => {
      const businessId = await findNamedBusiness(database, options.business)
      const { name, scopes, expires } = options
      const body = {
        name,
        scopes: scopes?.split(',').map((scope) => scope.trim()),
        expiresTime: expires === undefined ? undefined : readMoment(expires, now),
      }
      const { values, faults } = readFields<Wanted>(API_KEY_FIELDS, body)
      if (faults.length > 0) throw invalid(faults)
      const by = { user: 'OPERATOR', now }
      const db = database.forBusiness(businessId, by.user)
      const { key, apiKeyId } = await createApiKey(db, businessId, values, by, null)
      console.error(`Key ${apiKeyId} of business ${businessId}; it is shown this once:`)
      console.log(key)
    }),
  )

type Wanted = { name: string; scopes: Scope[]; expiresTime: Temporal.Instant | null }

function readMoment(text: string, now: Temporal.Instant) {
  try {
    const moment = Temporal.Instant.from(text)
    if (Temporal.Instant.compare(moment, now) > 0) return moment.epochMilliseconds
  } catch {
    // told below, in the same words
  }
  throw invalid([{ pointer: '--expires', detail: 'must be a moment ahead, 2027-01-31T00:00:00Z' }])
}
