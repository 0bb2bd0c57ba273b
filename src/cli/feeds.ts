import { Command } from 'commander'
import { todoOf } from '../feeds/health.ts'
import { listFeedHealth } from '../store/feed-health.ts'
import { formatDuration, secondsSince } from './durations.ts'
import { findNamedBusiness, wholeNumber } from './named-business.ts'
import { withDatabase } from './with-database.ts'

export const command = new Command()
  .option('--business <businessId>', 'only the feeds of this business', wholeNumber)
  .addHelpText('after', '\nExits with 1 if a feed that is not paused is not OK.')
  .action(({ business }: { business?: number }) =>
    withDatabase(async ({ database, now }) => {
      if (business !== undefined) await findNamedBusiness(database, business)
      const feeds = await listFeedHealth(database.engine, business)
      if (feeds.length === 0) console.log('There are no feeds.')
      for (const feed of feeds) {
        console.log(lineOf(feed, now))
        if (feed.health !== 'OK' && feed.mode !== 'PAUSED') process.exitCode = 1
      }
    }),
  )

type Feed = Awaited<ReturnType<typeof listFeedHealth>>[number]

function lineOf({ feedId, businessId, source, mode, name, ...state }: Feed, now: Temporal.Instant) {
  const { health, since, cause, successTime } = state
  const read = successTime
    ? `read ${formatDuration(secondsSince(successTime, now))} ago`
    : 'not read yet'
  const place = `feed ${feedId} of business ${businessId} “${name}”`
  const line = `${health.padEnd(14)} ${place}, ${source}, ${mode}, ${read}`
  if (health === 'OK') return line
  const indent = ' '.repeat(15)
  const problem = `${indent}for ${formatDuration(secondsSince(since, now))}: ${cause ?? ''}`
  return [line, problem, `${indent}→ ${todoOf(health)}`].join('\n')
}
