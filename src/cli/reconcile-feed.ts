import { Command } from 'commander'
import { wholeNumber } from './named-business.ts'
import { pullNow, show, withFeed } from './with-feed.ts'

export const command = new Command()
  .argument('<feedId>', 'feed to compare with its source', wholeNumber)
  .addHelpText(
    'after',
    '\nApplies what no pull saw, and prints the sums and all differences as JSON.\nExits with 1 if the sum is not right, or a difference is left that a person must solve.',
  )
  .action((feedId: number) =>
    withFeed(feedId, async (feed, parts) => {
      const pulled = await pullNow(feed, parts, { isReconciling: true })
      if (!pulled?.reconciled) return
      const { result, error } = pulled.reconciled
      show({ ...result, error })
      const isLeft = result.differences.some(({ kind }) => !kind.startsWith('MISSED_'))
      if (error !== null || isLeft) process.exitCode = 1
    }),
  )
