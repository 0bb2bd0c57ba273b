import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../auth/caller.ts'
import { objectKind } from '../../contract/objects.ts'
import { invalid, type Fault } from '../../errors.ts'
import { findDefinition } from '../../store/event-definitions.ts'
import { findTrigger } from '../../store/event-triggers.ts'
import { findFeed } from '../../store/feeds.ts'
import { findObject } from '../../store/objects.ts'

/** The kinds of objects that query parameters name. */
const NAMED: Record<string, string> = {
  calendarId: 'calendar',
  clientId: 'client',
  disclaimerFormId: 'disclaimerForm',
  emailTemplateId: 'emailTemplate',
  eventDefnId: 'eventDefinition',
  eventTriggerId: 'eventTrigger',
  feedId: 'feed',
  invitationCampaignId: 'invitationCampaign',
  locationId: 'location',
  professionalId: 'professional',
  reasonId: 'reason',
  templateId: 'emailTemplate',
}

/**
 * Refuses a filter by an object that the caller does not see: an empty list would hide a wrong id. An id
 * of another business gets the same answer.
 */
export function refuseUnknownIds(app: FastifyInstance) {
  app.addHook('preHandler', async ({ method, caller, query, routeOptions }) => {
    // Reports check the location together with their other parameters.
    if (method !== 'GET' || !caller || routeOptions.config.scope === 'reports:print') return
    const faults: Fault[] = []
    for (const [name, id] of Object.entries(query as Record<string, unknown>)) {
      if (!Object.hasOwn(NAMED, name) || typeof id !== 'number') continue
      const missing = await findMissing(caller, NAMED[name]!, id)
      if (missing) faults.push({ pointer: `?${name}`, detail: `there is no ${missing} ${id}` })
    }
    if (faults.length > 0) throw invalid(faults)
  })
}

/** The name of the kind if the caller does not see the object; undefined if the caller does. */
async function findMissing({ db, businessId, visibility }: Caller, name: string, id: number) {
  if (name === 'eventDefinition') {
    return (await findDefinition(db, businessId, id)) ? undefined : 'event definition'
  }
  if (name === 'eventTrigger') {
    return (await findTrigger(db, businessId, id, visibility)) ? undefined : 'event trigger'
  }
  if (name === 'feed') return (await findFeed(db, { businessId, feedId: id })) ? undefined : 'feed'
  const kind = objectKind(name)!
  return (await findObject(db, businessId, kind, id, visibility)) ? undefined : kind.title
}
