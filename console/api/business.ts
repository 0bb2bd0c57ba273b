import { queryClient } from './query-client.ts'
import { request } from './request.ts'
import { sessionQuery } from './session.ts'

export type BusinessFields = {
  businessId: number
  name: string
  timeZone: string
  emailAddress: string | null
  phone: string | null
  language: string | null
}

export async function saveBusiness(business: BusinessFields) {
  await request('/business', { method: 'POST', body: business })
  await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
}
