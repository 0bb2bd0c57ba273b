import { Type } from 'typebox'
import { RequestError } from '../../errors.ts'
import type { Routes } from '../server/services.ts'

/** A node whose engine has not finished a turn for this long is not to be relied on. */
const OLDEST_TURN = Temporal.Duration.from({ seconds: 15 })

const Health = Type.Object({ status: Type.Literal('ok') }, { examples: [{ status: 'ok' }] })

export const health: Routes = async (app, { database, clock, lastClaimTime }) => {
  const config = { open: true, unlimited: true, quiet: true } as const

  app.get(
    '/healthz',
    {
      config,
      schema: {
        tags: ['Operation'],
        summary: 'Does the process live?',
        response: { 200: Health },
      },
    },
    async () => ({ status: 'ok' as const }),
  )

  app.get(
    '/readyz',
    {
      config,
      schema: {
        tags: ['Operation'],
        summary: 'Can this node do its work?',
        description:
          'The database must accept writes. If this node runs an engine, its last turn must be younger than 15 s.',
        response: { 200: Health },
      },
    },
    async () => {
      await database.checkWritable()
      if (lastClaimTime) {
        const turn = lastClaimTime()
        const oldest = clock.now().subtract(OLDEST_TURN)
        if (!turn) throw new RequestError(503, 'The engine has not finished its first turn yet.')
        if (Temporal.Instant.compare(turn, oldest) < 0) {
          throw new RequestError(503, 'The engine has not finished a turn for 15 s.')
        }
      }
      return { status: 'ok' as const }
    },
  )
}
