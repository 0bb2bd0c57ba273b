import { Command } from 'commander'
import { StartError } from '../errors.ts'
import { eraseClient } from '../scheduling/erase-client.ts'
import { chooseBusiness, wholeNumber } from './named-business.ts'
import { withProgress } from './progress.ts'
import { withDatabase } from './with-database.ts'

type Options = { business?: number }

export const command = new Command()
  .argument('<clientId>', 'client to erase', wholeNumber)
  .option(
    '--business <businessId>',
    'business of the client; required if there are several',
    wholeNumber,
  )
  .addHelpText(
    'after',
    '\nOverwrites names, addresses, notes and tags everywhere, including the audit and emails.\nAppointments stay, so that reports do not change. This cannot be undone.\nIf it is interrupted, run it again: it continues.',
  )
  .action((clientId: number, options: Options) =>
    withDatabase(async ({ database, now }) => {
      const businessId = await chooseBusiness(database, options.business)
      const counts = await withProgress(
        `Erasing client ${clientId}`,
        'rows of emails and audit',
        (report) =>
          eraseClient(database, { businessId, clientId }, now, (done) =>
            report({ share: 0, done }),
          ),
      )
      if (!counts) throw new StartError(`There is no client ${clientId}.`)
      const rows = Object.entries(counts).map(([table, count]) => `${count} ${table}`)
      console.log(`Erased client ${clientId}. Also overwritten: ${rows.join(', ')}.`)
    }),
  )
