import { describeHold, releaseHold } from '../../automation/restored.ts'
import { ReleaseWrite, RestoreState } from '../../contract/restore.ts'
import { RequestError } from '../../errors.ts'
import { answerOnce, ok } from '../server/idempotency.ts'
import { toWire } from '../server/serialize.ts'
import { operation, type Routes } from '../server/services.ts'

/** A restored database is held until the operator releases it; see docs/backup.md. */
export const restore: Routes = async (app, { database, clock }) => {
  app.get(
    '/restore',
    operation(
      'getRestoreState',
      'See whether the database was restored, and what a release would send',
      {
        config: { operator: true, scope: 'admin', function: 'VIEW_BUSINESS' },
        tags: ['Operation'],
        description: 'The operator sees all businesses, others their own.',
        response: { 200: RestoreState },
      },
    ),
    async (request) => {
      const businessId = request.isOperator ? undefined : request.caller.businessId
      return toWire(await describeHold(database.engine, clock.now(), businessId))
    },
  )

  app.post(
    '/restore/release',
    operation('releaseRestore', 'Let a restored database send again', {
      config: { operator: true, idempotent: true },
      tags: ['Operation'],
      description: 'A database that is not held is 409.',
      body: ReleaseWrite,
      response: { 200: RestoreState },
    }),
    async (request, reply) => {
      const { past } = request.body
      const by = { user: 'OPERATOR', now: clock.now() }
      return answerOnce(database.operator, request, reply, by.now, async (tx) => {
        if (!(await releaseHold(tx, past, by))) {
          throw new RequestError(409, 'The database is not held: there is nothing to release.')
        }
        const state = { held: false, hold: null, releasedTime: by.now, releasedUser: by.user }
        return ok(state)
      })
    },
  )
}
