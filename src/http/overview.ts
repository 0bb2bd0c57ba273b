import { Type } from 'typebox'
import { Moment, OrNull } from '../contract/schema.ts'
import { findBusiness } from '../store/businesses.ts'
import { readOverview } from '../store/overview.ts'
import type { Routes } from './services.ts'

const Counts = Type.Record(Type.String(), Type.Integer(), {
  examples: [{ COMPLETED: 41, SKIPPED: 2 }],
})

const Overview = Type.Object({
  time: Moment,
  timeZone: Type.String(),
  appointmentsToday: Type.Integer({ description: 'On the business’s calendar day.' }),
  classesToday: Type.Integer(),
  activeDefinitions: Type.Integer(),
  triggersWaiting: Type.Integer(),
  triggersDueToday: Type.Integer(),
  nextTriggerTime: OrNull(Moment),
  triggersOfLastDay: Counts,
  emailsOfLastDay: Counts,
})

/** What one looks at first in the morning. */
export const overview: Routes = async (app, { clock }) => {
  app.get(
    '/overview',
    {
      config: { scope: 'definitions:read', function: 'VIEW_SCHEDULE' },
      schema: {
        tags: ['overview'],
        summary: 'The day and the automations at a glance',
        response: { 200: Overview },
      },
    },
    async ({ caller }) => {
      const now = clock.now()
      const { timeZone } = (await findBusiness(caller.db, caller.businessId))!
      const day = now.toZonedDateTimeISO(timeZone).startOfDay()
      const read = await readOverview(caller.db, caller.businessId, {
        now,
        dayStart: day.toInstant(),
        dayEnd: day.add({ days: 1 }).toInstant(),
        sight: caller.scope,
      })
      return { time: now, timeZone, ...read } as never
    },
  )
}
