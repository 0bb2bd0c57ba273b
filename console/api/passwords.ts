import { queryOptions } from '@tanstack/react-query'
import type { PasswordLink } from '../../src/contract/credentials.ts'
import { request } from './request.ts'

export const askForPasswordLink = (emailAddress: string) =>
  request('/user/password/forgotten', { method: 'POST', body: { emailAddress } })

/** Whose password a link sets. */
export const passwordLinkQuery = (token: string) =>
  queryOptions({
    queryKey: ['password-link', token],
    retry: false,
    staleTime: Infinity,
    queryFn: ({ signal }) =>
      request<PasswordLink>('/user/password/link', { method: 'POST', body: { token }, signal }),
  })

export const setPassword = (token: string, newPassword: string) =>
  request<{ username: string }>('/user/password/set', {
    method: 'POST',
    body: { token, newPassword },
  })

export const changePassword = (change: { currentPassword: string; newPassword: string }) =>
  request('/user/password', { method: 'POST', body: change })
