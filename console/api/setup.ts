import { queryOptions } from '@tanstack/react-query'
import type { AnswerOf } from '../../src/client/client.ts'
import { all, client, MAX_PAGE } from './client.ts'
import { withOwnWords } from './status-labels.ts'

export type Location = AnswerOf<'getLocation'>
export type Professional = AnswerOf<'getMemberOfStaff'>
export type Service = AnswerOf<'getService'>
export type Template = AnswerOf<'getEmailTemplate'>
export type StatusName = AnswerOf<'getStatus'>

/** The objects that automations and appointments refer to by id. */
export type Setup = {
  locations: Location[]
  professionals: Professional[]
  services: Service[]
  templates: Template[]
  statuses: StatusName[]
}

/** The deactivated locations and staff, who may still have appointments. */
export const formerSetupQuery = queryOptions({
  queryKey: ['setup', 'former'],
  staleTime: 60_000,
  queryFn: async ({ signal }): Promise<Pick<Setup, 'locations' | 'professionals'>> => {
    const page = { limit: MAX_PAGE, active: 'false' } as const
    const [locations, professionals] = await Promise.all([
      all(client.listLocations(page, { signal })),
      all(client.listMembersOfStaff(page, { signal })),
    ])
    return { locations, professionals }
  },
})

export const setupQuery = queryOptions({
  queryKey: ['setup'],
  staleTime: 60_000,
  queryFn: async ({ signal }): Promise<Setup> => {
    const page = { limit: MAX_PAGE }
    const [locations, professionals, services, templates, statuses] = await Promise.all([
      all(client.listLocations(page, { signal })),
      all(client.listMembersOfStaff(page, { signal })),
      all(client.listServices(page, { signal })),
      all(client.listEmailTemplates(page, { signal })),
      client.listStatuses({}, { signal }),
    ])
    return { locations, professionals, services, templates, statuses: statuses.map(withOwnWords) }
  },
})
