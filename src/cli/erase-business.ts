import { Command } from 'commander'
import { eraseBusiness } from '../scheduling/erase-business.ts'
import { wholeNumber } from './named-business.ts'
import { withProgress } from './progress.ts'
import { withDatabase } from './with-database.ts'

type Options = { name: string }

export const command = new Command()
  .argument('<businessId>', 'business to delete, which must be deactivated', wholeNumber)
  .requiredOption('--name <name>', 'its exact name, so that a wrong id deletes nothing')
  .addHelpText(
    'after',
    '\nDeletes the business with everything that is stored about it. This cannot be undone.\nIf it is interrupted, run it again: it continues.',
  )
  .action((businessId: number, { name }: Options) =>
    withDatabase(async ({ database }) => {
      const rows = await withProgress(`Deleting business ${businessId}`, 'rows', (report) =>
        eraseBusiness(database, { businessId, name }, (done) => report({ share: 0, done })),
      )
      console.log(`Deleted business ${businessId}: ${rows} rows.`)
    }),
  )
