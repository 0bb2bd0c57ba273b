import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Db } from '../../database/database.ts'
import { exportBusiness } from '../../scheduling/export.ts'
import { abortOnDisconnect } from '../server/connections.ts'
import { operation, type Routes } from '../server/services.ts'

/** A business takes its data with it, without the operator. */
export const dataExport: Routes = async (app, { clock, database, queues }) => {
  app.get(
    '/export',
    {
      ...operation('exportBusiness', 'Export the business as JSON lines that can be imported', {
        config: { scope: 'admin' },
        tags: ['import'],
        description:
          'One snapshot: settings, files, clients, appointments and all other objects, automations, templates and suppressions. Without API keys, people and sent mails. The answer is streamed; the connection breaks if the export fails.',
        response: {
          200: {
            description: 'One JSON object per line.',
            content: {
              'application/x-ndjson': {
                schema: Type.String({
                  examples: ['{"kind":"business","name":"Praxis am See"}\n{"kind":"client"}\n'],
                }),
              },
            },
          },
        },
      }),
      exposeHeadRoute: false,
    },
    async ({ caller: { db, businessId } }, reply: FastifyReply) => {
      const signal = abortOnDisconnect(reply)
      const slot = queues.background.reserve({ businessId, signal })
      await slot.granted.catch((error: unknown) => {
        slot.release()
        throw error
      })
      const body = new PassThrough()
      const from = database.replicaOr(businessId, db)
      void writeExport(body, { db: from, businessId, signal }).finally(() => slot.release())
      const day = clock.now().toString().slice(0, 10)
      return reply
        .type('application/x-ndjson')
        .header('content-disposition', `attachment; filename="bellwether-${day}.ndjson"`)
        .send(body)
    },
  )
}

/** A reader that takes nothing for so long is disconnected: the snapshot keeps old rows from being removed. */
const MAX_PAUSE_MS = 60_000

type Export = { db: Db; businessId: number; signal: AbortSignal }

/** Waits while the client reads more slowly than the database writes. */
async function writeExport(body: PassThrough, { db, businessId, signal }: Export) {
  try {
    let hasSent = false
    await exportBusiness(db, businessId, async () => {
      if (hasSent) throw new Error('the replica cancelled an export of which lines were sent')
      return async (lines) => {
        hasSent = true
        const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
        signal.throwIfAborted()
        if (body.write(text)) return
        const pause = AbortSignal.timeout(MAX_PAUSE_MS)
        await once(body, 'drain', { signal: AbortSignal.any([signal, pause]) })
      }
    })
    body.end()
  } catch (error) {
    body.destroy(error as Error)
  }
}
