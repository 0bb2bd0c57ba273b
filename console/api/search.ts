import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Found } from '../../src/contract/search.ts'
import { client } from './client.ts'

export type { Found }

/** Clients, appointments, messages, automations and templates that contain these words. */
export const searchQuery = (text: string) =>
  queryOptions({
    queryKey: ['search', text],
    enabled: text !== '',
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => client.search({ text }, { signal }),
  })
