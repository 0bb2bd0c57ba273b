import { Command } from 'commander'
import { holdByHand } from '../automation/restored.ts'
import { withDatabase } from './with-database.ts'

export const command = new Command()
  .addHelpText(
    'after',
    '\nFor a restore that the service cannot notice, such as that of a whole machine. See docs/backup.md.',
  )
  .action(() =>
    withDatabase(async ({ database, now }) => {
      const isHeld = await holdByHand(database.operator, now)
      console.log(isHeld ? 'Held: nothing is sent.' : 'The database is held already.')
      console.log('Run bellwether release to see what waits, and to let the service send again.')
    }),
  )
