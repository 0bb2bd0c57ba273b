import { queryOptions } from '@tanstack/react-query'
import type { Overview } from '../../src/contract/overview.ts'
import { client } from './client.ts'
import { queryClient } from './query-client.ts'

/** The data of the page Today: the messages of some days, failures, and the service's health. */
export const overviewQuery = (day?: string, days?: number) =>
  queryOptions({
    queryKey: ['overview', day ?? 'today', days ?? 1],
    refetchInterval: 30_000,
    queryFn: ({ signal }) => client.getOverview({ day, days }, { signal }),
  })

/** `stopped`: the business sends no mail, except about accounts. `outage`: the mail server takes none. */
export type MailState = 'works' | 'captured' | 'outage' | 'stopped'

/** What happens to a mail that was just made. Its own status is QUEUED in any case. */
export async function readMailState(): Promise<MailState> {
  const overview = { ...overviewQuery(), staleTime: 0 }
  // The mail was made: a failure here is not a failure of that.
  const read = await queryClient.fetchQuery(overview).catch(() => undefined)
  return read ? mailStateOf(read.mail) : 'works'
}

export function mailStateOf({ captured, failingSince, problem }: Overview['mail']): MailState {
  if (captured) return 'captured'
  if (failingSince !== null) return 'outage'
  return problem === null ? 'works' : 'stopped'
}
