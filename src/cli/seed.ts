import { Command } from 'commander'
import type { Database } from '../database/database.ts'
import { APPOINTMENTS, DEMO_BUSINESS, loadDemo } from '../demo/demo.ts'
import { insertBusiness } from '../store/businesses.ts'
import { findNamedBusiness, wholeNumber } from './named-business.ts'
import { withProgress } from './progress.ts'
import { withDatabase } from './with-database.ts'

type Options = { business?: number; appointments: number; seed: number }

export const command = new Command()
  .option('--business <businessId>', 'business to fill (default: a new one)', wholeNumber)
  .option('--appointments <count>', 'number of appointments', wholeNumber, APPOINTMENTS)
  .option('--seed <number>', 'another seed makes other data', wholeNumber, 1)
  .addHelpText(
    'after',
    '\nThe same seed on the same day makes the same data. All people are invented. Prints the businessId.',
  )
  .action((options: Options) =>
    withDatabase(async ({ database, now }) => {
      const businessId = await chooseOrCreate(database, options.business, now)
      const { accepted } = await withProgress('Loading the demo', 'objects', (report) =>
        loadDemo(database.forBusiness(businessId, 'SYSTEM'), {
          businessId,
          user: 'SYSTEM',
          now: () => now,
          seed: options.seed,
          appointments: options.appointments,
          onProgress: (share, done) => report({ share, done }),
        }),
      )
      const counts = Object.entries(accepted).map(([kind, count]) => `${count} ${kind}`)
      console.error(`Loaded: ${counts.join(', ')}. Next: bellwether create-user, create-key.`)
      console.log(String(businessId))
    }),
  )

async function chooseOrCreate(
  database: Database,
  named: number | undefined,
  now: Temporal.Instant,
): Promise<number> {
  if (named !== undefined) return findNamedBusiness(database, named)
  const by = { user: 'OPERATOR', now }
  return (await insertBusiness(database.operator, DEMO_BUSINESS, by)).businessId
}
