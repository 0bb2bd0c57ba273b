import { Type } from 'typebox'
import { Found } from '../../contract/search.ts'
import { SearchQuery } from '../../contract/queries.ts'
import { searchWordsOf } from '../../store/client-words.ts'
import {
  findAppointments,
  findClients,
  findDefinitions,
  findMessages,
  findTemplates,
} from '../../store/search.ts'
import { toWire } from '../server/serialize.ts'
import { operation, type Routes } from '../server/services.ts'

export const search: Routes = async (app, { clock }) => {
  app.get(
    '/search',
    operation('search', 'Search clients, appointments, messages, automations and templates', {
      config: { scope: 'scheduling:read', function: 'VIEW_SCHEDULE' },
      tags: ['search'],
      description: `Every word of \`text\` must be the prefix of a word in the result. Case, accents and apostrophes are ignored: \`obrien\` finds \`O'Brien\`, \`muller\` and \`mueller\` find \`Müller\`. Appointments and triggers that sent mail are found by their client. The answer holds only what the caller may read.`,
      querystring: SearchQuery,
      response: {
        200: Type.Array(Found, {
          examples: [
            [
              {
                kind: 'client',
                id: 17,
                title: "Olivia O'Brien",
                detail: 'olivia@example.com',
                time: 1_800_000_000_000,
              },
              {
                kind: 'calendar',
                id: 4711,
                title: "Olivia O'Brien, Sports massage",
                detail: 'Zürich Altstadt',
                time: 1_800_000_000_000,
              },
            ],
          ],
        }),
      },
    }),
    async ({ caller, query }) => {
      const { db, businessId, functions, visibility } = caller
      const words = searchWordsOf(query.text)
      if (words.length === 0) return []
      const asked = { words, limit: query.limit ?? 5, now: clock.now(), visibility }
      // One connection and one packet.
      const found = await db.snapshot((tx) =>
        Promise.all([
          findClients(tx, businessId, asked),
          findAppointments(tx, businessId, asked),
          functions.has('VIEW_EMAILS') ? findMessages(tx, businessId, asked) : [],
          functions.has('VIEW_DEFINITIONS') ? findDefinitions(tx, businessId, asked) : [],
          functions.has('VIEW_EMAILS') ? findTemplates(tx, businessId, asked) : [],
        ]),
      )
      return toWire(found.flat())
    },
  )
}
