import { Command } from 'commander'
import { replaceOperatorKey } from '../auth/api-keys.ts'
import { readConfig } from '../config.ts'
import { StartError } from '../errors.ts'
import { withDatabase } from './with-database.ts'

export const command = new Command()
  .addHelpText(
    'after',
    '\nPrints the key. Store it now: only its hash is kept. The key before it stops working within a second.',
  )
  .action(async () => {
    if (readConfig(process.env).adminApiKey !== undefined) {
      throw new StartError(
        "ADMIN_API_KEY is set, and it is the operator's key: change it there and restart every node.",
      )
    }
    const key = await withDatabase(({ database }) => replaceOperatorKey(database.operator))
    console.error("The operator's key. Store it now, it is not shown again:")
    console.log(key)
  })
