import { Command } from 'commander'
import { conflict } from '../errors.ts'
import { dryRunOfSource, readSource } from '../feeds/dry-run.ts'
import { wholeNumber } from './named-business.ts'
import { pullNow, show, withFeed } from './with-feed.ts'

type Options = { full?: boolean; dryRun?: boolean }

export const command = new Command()
  .argument('<feedId>', 'feed to read', wholeNumber)
  .option('--full', 'read everything, not only what changed')
  .option('--dry-run', 'read everything and show what would happen; store nothing')
  .addHelpText(
    'after',
    '\nPrints counts, reasons and some entries as JSON. Exits with 1 if the source cannot be read.',
  )
  .action((feedId: number, { full, dryRun }: Options) =>
    withFeed(feedId, async (feed, parts) => {
      if (dryRun) {
        if (feed.source === 'INLET') throw conflict('The source INLET sends its entries.')
        return show(await dryRunOfSource(parts, feed, await readSource(parts, feed)))
      }
      const pulled = await pullNow(feed, parts, { isFull: full })
      if (pulled) show(pulled.summary.show())
    }),
  )
