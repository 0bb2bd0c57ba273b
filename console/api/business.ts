import type { Business } from '../../src/contract/business.ts'
import { client } from './client.ts'
import { queryClient } from './query-client.ts'
import { sessionQuery } from './session.ts'

export type BusinessFields = Pick<
  Business,
  'businessId' | 'name' | 'timeZone' | 'emailAddress' | 'phone' | 'language'
>

export async function saveBusiness(business: BusinessFields) {
  await client.createBusiness(business)
  await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
}

/** While mail is paused, nothing of the business is sent. */
export async function pauseMail(businessId: number, reason: string | null) {
  await savePause({ businessId, mailPaused: true, mailPausedReason: reason })
}

export async function resumeMail(businessId: number) {
  await savePause({ businessId, mailPaused: false })
}

async function savePause(
  pause: Pick<Business, 'businessId' | 'mailPaused'> & Partial<Pick<Business, 'mailPausedReason'>>,
) {
  await client.createBusiness(pause)
  await Promise.all(
    [sessionQuery.queryKey, ['overview']].map((queryKey) =>
      queryClient.invalidateQueries({ queryKey }),
    ),
  )
}
