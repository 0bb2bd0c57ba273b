import type { Found } from '../api/search.ts'

/** The page that shows a search result. */
export function pagePathOf({ kind, id }: Pick<Found, 'kind' | 'id'>) {
  switch (kind) {
    case 'client':
      return `/clients/${id}`
    case 'calendar':
      return `/calendar?appointment=${id}`
    case 'eventTrigger':
      return `/activity/${id}`
    case 'eventDefinition':
      return `/automations/${id}`
    case 'emailTemplate':
      return `/templates/${id}`
  }
}

export const NEW_APPOINTMENT = '/calendar?book=1'
export const NEW_AUTOMATION = '/automations/new'
