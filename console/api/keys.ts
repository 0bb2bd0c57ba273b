import { queryOptions } from '@tanstack/react-query'
import type { ApiKey, Scope } from '../../src/contract/credentials.ts'
import { queryClient } from './query-client.ts'
import { request, requestAll } from './request.ts'

export type NewKey = ApiKey & { key: string }

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => requestAll<ApiKey>('/apiKey', signal),
})

const changed = () => queryClient.invalidateQueries({ queryKey: keysQuery.queryKey })

export async function makeKey(wanted: { name: string; scopes: Scope[] }) {
  const key = await request<NewKey>('/apiKey', { method: 'POST', body: wanted })
  await changed()
  return key
}

export async function revokeKey({ apiKeyId }: Pick<ApiKey, 'apiKeyId'>) {
  await request(`/apiKey/${apiKeyId}`, { method: 'DELETE' })
  await changed()
}
