import { Type } from 'typebox'
import { explain as explainObject } from '../../automation/explain.ts'
import { monthsBefore } from '../../clock.ts'
import { OBJECT_TYPES } from '../../contract/event-type.ts'
import { Explanation } from '../../contract/explanation.ts'
import { kindOfObjectType } from '../../contract/objects.ts'
import { notFound, RequestError } from '../../errors.ts'
import { listTriggerStates } from '../../store/event-triggers.ts'
import { findObject } from '../../store/objects.ts'
import { toWire } from '../server/serialize.ts'
import { operation, type Routes } from '../server/services.ts'

export const explain: Routes = async (app, { clock, config }) => {
  app.get(
    '/explain/:objectType/:objectId',
    operation(
      'explainObject',
      'Explain why each active definition did, will or will not fire for an object',
      {
        config: { scope: 'definitions:read', function: 'VIEW_SCHEDULE' },
        tags: ['event trigger'],
        params: Type.Object({
          objectType: Type.String({ description: OBJECT_TYPES.join(', ') }),
          objectId: Type.String({
            description: 'The id of the object; for an invitation its UUID.',
          }),
        }),
        response: { 200: Type.Array(Explanation) },
      },
    ),
    async ({ caller, params }) => {
      const { db, businessId, visibility } = caller
      const objectType = OBJECT_TYPES.find((each) => each === params.objectType.toUpperCase())
      if (!objectType) {
        const detail = `There is no such object type. Use one of ${OBJECT_TYPES.join(', ')}.`
        throw new RequestError(404, detail)
      }
      const kind = kindOfObjectType(objectType)
      const id = readId(params.objectId, objectType)
      const now = clock.now()
      const { retentionMonths } = config
      const deletedBefore = retentionMonths ? monthsBefore(now, retentionMonths) : undefined
      const found =
        id !== undefined &&
        (await findObject(db, businessId, kind, id, visibility)) &&
        (await explainObject(db, businessId, objectType, id, { now, deletedBefore }))
      if (!found) throw notFound(kind.title, params.objectId)
      const states = await listTriggerStates(db, businessId, objectType, id)
      const statusOf = new Map(states.map((state) => [state.eventTriggerId, state.status]))
      return toWire(
        found.map((explanation) => ({
          ...explanation,
          status: (explanation.eventTriggerId && statusOf.get(explanation.eventTriggerId)) || null,
        })),
      )
    },
  )
}

function readId(text: string, objectType: string) {
  if (objectType === 'INVITATION') return text
  const id = Number(text)
  return /^\d+$/.test(text) && Number.isSafeInteger(id) ? id : undefined
}
