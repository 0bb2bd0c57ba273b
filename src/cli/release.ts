import { Command, Option } from 'commander'
import { describeHold, releaseHold, type DescribedHold } from '../automation/restored.ts'
import { PAST_CHOICES, type PastChoice } from '../contract/restore.ts'
import type { LostChange } from '../store/installation.ts'
import { collectFiles, describeNewerState, takeNewerState } from './newer-state.ts'
import { withDatabase } from './with-database.ts'

type Options = { past?: PastChoice; since?: string[] }

export const command = new Command()
  .addOption(
    new Option(
      '--past <choice>',
      'what was due before the restore, and may have been sent: send it if it is still of use, or expire it',
    )
      .choices(PAST_CHOICES.map((choice) => choice.toLowerCase()))
      .argParser((text) => text.toUpperCase()),
  )
  .option(
    '--since <file>',
    'a newer backup, an export, or the log of the mail server; can be repeated: take its cancellations, erasures, suppressions and sent mails first',
    collectFiles,
  )
  .addHelpText(
    'after',
    '\nWithout --past it shows what would be sent, and changes nothing. See docs/backup.md.',
  )
  .action(({ past, since }: Options) =>
    withDatabase(async ({ database, url, now }) => {
      for (const file of since ?? []) await takeNewerState(url, database, file, now)
      const state = await describeHold(database.engine, now)
      for (const line of linesOf(state)) console.log(line)
      if (!state.held) return
      if (past === undefined) {
        console.log('\nNothing was released. Release it with --past send or --past expire.')
        return
      }
      const by = { user: 'OPERATOR', now }
      await database.operator.transaction((tx) => releaseHold(tx, past, by))
      console.log(`\nReleased: the service sends again. Past triggers: ${past.toLowerCase()}.`)
    }),
  )

const WORDS: Record<LostChange, string> = {
  cancellations: 'cancellations',
  erasures: 'erasures',
  suppressions: 'suppressions',
  sentMails: 'sent mails',
}

function linesOf({ hold }: DescribedHold): string[] {
  if (!hold) return ['The database is not held: mails are sent.']
  const { heldSince, heldReason, lostFrom, lostUntil, unknown, newerState, automations, emails } =
    hold
  return [
    `The database was restored: ${heldReason}.`,
    `Held since ${heldSince}. Lost: changes from ${lostFrom} until ${lostUntil ?? 'a time that is not known'}.`,
    ...(newerState ? [describeNewerState(newerState)] : []),
    ...(unknown.length > 0
      ? [
          `Not known: ${unknown.map((change) => WORDS[change]).join(', ')} of that time. ` +
            'Mails may go to clients who want none, or twice.',
        ]
      : []),
    '',
    ...automations.map(
      ({ business, eventDefnId, description, past, useless, due, sentBefore }) =>
        `${business}, automation ${eventDefnId}${description ? ` (${description})` : ''}: ` +
        `${past} past, of which ${useless} are no longer of use; ${due} due since; ${sentBefore} sent before`,
    ),
    ...emails.map(({ business, emails }) => `${business}: ${emails} mails in the queue`),
    ...(automations.length + emails.length === 0 ? ['Nothing is due.'] : []),
  ]
}
