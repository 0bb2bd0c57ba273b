import { queryOptions } from '@tanstack/react-query'
import { client } from './client.ts'

export const askForPasswordLink = (emailAddress: string) =>
  client.requestPasswordLink({ emailAddress })

/** The user whose password a link sets. */
export const passwordLinkQuery = (token: string) =>
  queryOptions({
    queryKey: ['password-link', token],
    retry: false,
    staleTime: Infinity,
    queryFn: ({ signal }) => client.readPasswordLink({ token }, { signal }),
  })

export const setPassword = (token: string, newPassword: string) =>
  client.setPasswordByLink({ token, newPassword })

export const changePassword = (change: { currentPassword: string; newPassword: string }) =>
  client.changePassword(change)
