import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { readMigrations } from '../database/migrate.ts'
import { reachDatabase } from './reach-database.ts'

export const command = new Command()
  .addHelpText('after', '\nThe service also does this when it starts.')
  .action(async () => {
    const { applied, leave } = await reachDatabase(readConfig(process.env), 'command')
    await leave()
    for (const name of applied) console.log(`applied ${name}`)
    const version = (await readMigrations()).at(-1)?.version
    console.log(`The schema is up to date: version ${version}.`)
  })
