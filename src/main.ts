#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import path from 'node:path'
import { Command, CommanderError } from 'commander'
import { StartError } from './errors.ts'
import { VERSION } from './version.ts'

/** Each command is a file in cli/ that exports `command`. */
const COMMANDS: Record<string, string> = {
  serve: 'run the service: API, engine and console',
  migrate: 'update the database schema',
  'create-business': 'create a business',
  'create-key': 'create an API key for a business',
  'create-operator-key': "replace the operator's key, if it is lost or leaked",
  'create-user': 'create a person in a business, such as its first owner',
  seed: 'create a demo business, or fill an existing one',
  import: 'import objects from NDJSON or CSV',
  export: 'export the data of a business as NDJSON, which import reads',
  backup: 'write the whole database to a file, while the service runs',
  restore: 'restore a backup into an empty database',
  'upgrade-database': 'move the embedded database to the PostgreSQL of this version',
  'export-client': 'export everything that is stored about a client, as JSON',
  'erase-client': 'overwrite all personal data of a client',
  'erase-business': 'delete a business with everything that is stored about it',
  feeds: 'list the feeds with their health',
  'pull-feed': 'read the source of a feed now, or show what that would do',
  'reconcile-feed': 'compare a feed with its source now',
  'read-calendar': 'show what a feed reads from a calendar file',
  'print-report': 'print a report to a file',
  hold: 'send nothing until release, for example after a restore',
  release: 'show what a restored database would send, and let it send again',
  doctor: 'check the settings, the database, the clocks and the queue',
}

async function main(args: string[]) {
  const name = args[0] ?? '--help'
  if (!Object.hasOwn(COMMANDS, name)) {
    if (!name.startsWith('-')) {
      throw new StartError(`There is no command '${name}'. Run bellwether --help for a list.`)
    }
    return allCommands().parseAsync(args, { from: 'user' })
  }
  const { command }: { command: Command } = await import(`./cli/${name}.ts`)
  return throwErrors(command.name(`bellwether ${name}`).description(COMMANDS[name]!)).parseAsync(
    args.slice(1),
    { from: 'user' },
  )
}

function allCommands() {
  const program = throwErrors(new Command('bellwether'))
  program
    .description('Automated emails and reports for businesses that work by appointment.')
    .helpCommand(false)
    .version(VERSION)
  for (const [name, summary] of Object.entries(COMMANDS)) program.command(name).summary(summary)
  return program.action(() => program.help({ error: true }))
}

const throwErrors = (command: Command) =>
  command
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .showSuggestionAfterError()

function exitCodeFor(error: unknown) {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0
    if (error.code !== 'commander.help') console.error(error.message.replaceAll('\n', ' '))
    return 2
  }
  if (error instanceof StartError) {
    console.error(error.message)
    return 2
  }
  console.error(error)
  return 1
}

// Saves a third of the start time. The cache is in node_modules, which only its installer can write.
enableCompileCache(path.join(import.meta.dirname, '../node_modules/.cache/bellwether'))
try {
  await main(process.argv.slice(2))
} catch (error) {
  process.exitCode = exitCodeFor(error)
}
