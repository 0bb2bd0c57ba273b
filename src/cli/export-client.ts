import { writeFileSync } from 'node:fs'
import { Command } from 'commander'
import { StartError } from '../errors.ts'
import { toWire } from '../http/server/serialize.ts'
import { readClientData } from '../scheduling/client-data.ts'
import { chooseBusiness, wholeNumber } from './named-business.ts'
import { withDatabase } from './with-database.ts'

type Options = { business?: number; out?: string }

export const command = new Command()
  .argument('<clientId>', 'client whose data is wanted', wholeNumber)
  .option(
    '--business <businessId>',
    'business of the client; required if there are several',
    wholeNumber,
  )
  .option('--out <file>', 'output file, which only you can read (default: standard output)')
  .addHelpText('after', '\nWrites everything that is stored about the client as JSON.')
  .action((clientId: number, options: Options) =>
    withDatabase(async ({ database }) => {
      const businessId = await chooseBusiness(database, options.business)
      const db = database.forBusiness(businessId, 'SYSTEM')
      const data = await readClientData(db, { businessId, clientId })
      if (!data) throw new StartError(`There is no client ${clientId}.`)
      const text = `${JSON.stringify(toWire(data), null, 2)}\n`
      if (options.out === undefined) process.stdout.write(text)
      else write(options.out, text)
    }),
  )

function write(file: string, text: string) {
  try {
    writeFileSync(file, text, { mode: 0o600 })
  } catch (error) {
    throw new StartError(`${file} cannot be written (${(error as NodeJS.ErrnoException).code}).`)
  }
}
