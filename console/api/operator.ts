import { queryOptions } from '@tanstack/react-query'
import type { AnswerOf } from '../../src/client/client.ts'
import { all, client, MAX_PAGE } from './client.ts'
import { queryClient } from './query-client.ts'
import { asOperator } from './operator-key.ts'

export type ServiceHealth = AnswerOf<'getServiceHealth'>
export type Business = AnswerOf<'getBusiness'>

const POLL_MS = 15_000

export const serviceHealthQuery = queryOptions({
  queryKey: ['operator', 'health'],
  refetchInterval: POLL_MS,
  queryFn: (): Promise<ServiceHealth> => client.getServiceHealth({}, asOperator()),
})

/** All businesses, also those that were deactivated. */
export const businessesQuery = queryOptions({
  queryKey: ['operator', 'businesses'],
  queryFn: () => all(client.listBusinesses({ active: 'all', limit: MAX_PAGE }, asOperator())),
})

/** Has the service try a mail server that takes no mail at once. */
export async function retryMailAsOperator() {
  await client.retryMail({}, asOperator())
  await queryClient.invalidateQueries({ queryKey: serviceHealthQuery.queryKey })
}

type BusinessFields = { businessId?: number; name: string; timeZone: string }
type Owner = { username: string; emailAddress: string | null; password: string }

/** With a `businessId` it changes that business. */
export async function saveBusiness(business: BusinessFields, idempotencyKey?: string) {
  const saved = await client.createBusiness(business, {
    ...asOperator(),
    ...(idempotencyKey && { idempotencyKey }),
  })
  await queryClient.invalidateQueries({ queryKey: businessesQuery.queryKey })
  return saved
}

export async function createOwner(businessId: number, owner: Owner) {
  await client.createUserOfBusiness({ businessId, ...owner, role: 'OWNER' }, asOperator())
  await queryClient.invalidateQueries({ queryKey: businessesQuery.queryKey })
}
