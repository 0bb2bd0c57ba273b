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
