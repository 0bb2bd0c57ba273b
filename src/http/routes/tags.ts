import { Type } from 'typebox'
import { TagChangeResult, TagChangeWrite, TagValue } from '../../contract/tag.ts'
import { invalid } from '../../errors.ts'
import { planTagChange, replaceTag } from '../../scheduling/replace-tag.ts'
import { listTagValues } from '../../store/tags.ts'
import { abortOnDisconnect } from '../server/connections.ts'
import { answerLongOnce, ok } from '../server/idempotency.ts'
import { inOrder, operation, type Routes } from '../server/services.ts'

const MAX_LISTED = 1_000

/** The tags of clients, appointments and other objects, seen from the whole business. */
export const tagValues: Routes = inOrder(() => [getTags, postChange(true), postChange(false)])

const getTags: Routes = async (app, { queues }) => {
  app.get(
    '/tag',
    operation('listTagValues', 'List the tags of the business with their values', {
      config: { scope: 'scheduling:read', function: 'EDIT_SETUP' },
      tags: ['Tag'],
      description: 'By name and value, at most 1,000.',
      response: { 200: Type.Array(TagValue) },
    }),
    ({ caller: { db, businessId } }, reply) =>
      queues.interactive.run({ businessId, signal: abortOnDisconnect(reply) }, () =>
        listTagValues(db, businessId, MAX_LISTED),
      ),
  )
}

const postChange =
  (isPlan: boolean): Routes =>
  async (app, { clock, queues, settings }) => {
    app.post(
      isPlan ? '/tag/plan' : '/tag',
      operation(
        isPlan ? 'planTagChange' : 'changeTag',
        isPlan
          ? 'Show what renaming or deleting a value of a tag would do'
          : 'Rename or delete a value of a tag in all objects',
        {
          config: {
            scope: 'scheduling:write',
            function: 'EDIT_SETUP',
            ...(!isPlan && { idempotent: true }),
          },
          tags: ['Tag'],
          description: isPlan
            ? 'Writes nothing.'
            : 'Changes up to 1,000 objects; definitions stay as they are. Reminders are planned again as after any save, but none is sent late. A repeated request without its `Idempotency-Key` continues.',
          body: TagChangeWrite,
          response: { 200: TagChangeResult },
        },
      ),
      (request, reply) => {
        const { caller, body } = request
        if (body.newValue === body.value) {
          throw invalid([{ pointer: '/newValue', detail: 'must differ from value' }])
        }
        const { db, businessId, user, visibility } = caller
        // Like history: an object that gets the tag of a late reminder does not send it.
        const saving = { businessId, user, now: clock.now(), settings, visibility, history: true }
        const replacing = { change: body, saving }
        return queues.interactive.run({ businessId, signal: abortOnDisconnect(reply) }, () =>
          isPlan
            ? planTagChange(db, replacing)
            : answerLongOnce(db, request, reply, clock, async () =>
                ok(await replaceTag(db, replacing)),
              ),
        )
      },
    )
  }
