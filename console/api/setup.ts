import { queryOptions } from '@tanstack/react-query'
import { request, requestAll } from './request.ts'

export type Location = { locationId: number; name: string; timeZone: string | null }
export type Professional = {
  professionalId: number
  firstName: string
  lastName: string
  locationIdList: number[] | null
  workingHours: { weekday: string; from: string; to: string }[] | null
}
export type Service = { reasonId: number; name: string; durationMinutes: number | null }
export type Template = { emailTemplateId: number; templateName: string; subject: string }
export type StatusName = { objectType: string; status: string; label: string; live: boolean }

/** What automations and appointments refer to by id. */
export type Setup = {
  locations: Location[]
  professionals: Professional[]
  services: Service[]
  templates: Template[]
  statuses: StatusName[]
}

export const setupQuery = queryOptions({
  queryKey: ['setup'],
  staleTime: 60_000,
  queryFn: async ({ signal }): Promise<Setup> => {
    const [locations, professionals, services, templates, statuses] = await Promise.all([
      requestAll<Location>('/location', signal),
      requestAll<Professional>('/professional', signal),
      requestAll<Service>('/reason', signal),
      requestAll<Template>('/emailTemplate', signal),
      request<StatusName[]>('/status', { signal }),
    ])
    return { locations, professionals, services, templates, statuses }
  },
})
