#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import path from 'node:path'
import { Command, CommanderError } from 'commander'
import { StartError } from './errors.ts'

/** Each command is the file of its name in cli/, which exports it as `command`. */
const COMMANDS: Record<string, string> = {
  serve: 'run the service: API, engine and console',
  migrate: 'bring the schema of the database up to date',
  'create-business': 'make a business',
  'create-key': 'make a key of a business',
  'create-user': 'make a person of a business, such as its first',
  seed: 'make a demo business, or fill one',
  import: 'import objects from NDJSON or CSV',
  export: 'write everything of a business as NDJSON, which import takes back',
  'erase-client': 'overwrite everything personal of a client, wherever it is kept',
  'print-report': 'print a report to a file',
  doctor: 'look at the settings, the database and the clocks, and say what to do',
}

async function main(words: string[]) {
  const name = words[0] ?? '--help'
  if (!Object.hasOwn(COMMANDS, name)) {
    if (!name.startsWith('-')) {
      throw new StartError(`There is no command '${name}'; bellwether --help lists them.`)
    }
    return allCommands().parseAsync(words, { from: 'user' })
  }
  const { command }: { command: Command } = await import(`./cli/${name}.ts`)
  return throwing(command.name(`bellwether ${name}`).description(COMMANDS[name]!)).parseAsync(
    words.slice(1),
    { from: 'user' },
  )
}

function allCommands() {
  const program = throwing(new Command('bellwether'))
  program.description('Appointment automations and reports.').helpCommand(false)
  for (const [name, summary] of Object.entries(COMMANDS)) program.command(name).summary(summary)
  return program.action(() => program.help({ error: true }))
}

const throwing = (command: Command) =>
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

// A third of a start is parsing; kept beside the code, where only who installed it can write.
enableCompileCache(path.join(import.meta.dirname, '../node_modules/.cache/bellwether'))
try {
  await main(process.argv.slice(2))
} catch (error) {
  process.exitCode = exitCodeFor(error)
}
