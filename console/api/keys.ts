import { queryOptions } from '@tanstack/react-query'
import type { ApiKey } from '../../src/contract/credentials.ts'
import type { KeyScope } from '../../src/contract/roles.ts'
import { all, client, MAX_PAGE } from './client.ts'
import { queryClient } from './query-client.ts'

export type NewKey = ApiKey & { key: string }

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => all(client.listApiKeys({ limit: MAX_PAGE }, { signal })),
})

const changed = () => queryClient.invalidateQueries({ queryKey: keysQuery.queryKey })

export async function makeKey(wanted: { name: string; scopes: KeyScope[] }) {
  const key = (await client.createApiKey(wanted)) as NewKey
  await changed()
  return key
}

export async function revokeKey({ apiKeyId }: Pick<ApiKey, 'apiKeyId'>) {
  await client.revokeApiKey({ apiKeyId })
  await changed()
}
