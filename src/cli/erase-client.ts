import { Command } from 'commander'
import { StartError } from '../errors.ts'
import { eraseClient } from '../scheduling/erase-client.ts'
import { chooseBusiness, wholeNumber } from './named-business.ts'
import { withProgress } from './progress.ts'
import { withDatabase } from './with-database.ts'

type Options = { business?: number }

export const command = new Command()
  .argument('<clientId>', 'who is to be forgotten', wholeNumber)
  .option('--business <businessId>', 'whose client; needed where there are several', wholeNumber)
  .addHelpText(
    'after',
    '\nOverwrites names, addresses, notes and tags wherever they are kept, the audit and mails included.\nAppointments stay, so that every count is what it was. Nothing brings the values back.\nIf it is interrupted, run it again: it continues with what is left.',
  )
  .action((clientId: number, options: Options) =>
    withDatabase(async ({ database, now }) => {
      const businessId = await chooseBusiness(database, options.business)
      const counts = await withProgress(
        `Erasing client ${clientId}`,
        'rows of mails and audit',
        (report) =>
          eraseClient(database, { businessId, clientId }, now, (done) =>
            report({ share: 0, done }),
          ),
      )
      if (!counts) throw new StartError(`There is no client ${clientId}.`)
      const rows = Object.entries(counts).map(([table, count]) => `${count} ${table}`)
      console.log(`Client ${clientId} is erased; overwritten beside it: ${rows.join(', ')}.`)
    }),
  )
