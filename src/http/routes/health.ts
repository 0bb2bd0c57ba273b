import { Type } from 'typebox'
import { RequestError } from '../../errors.ts'
import type { MailOutage } from '../../store/mail-servers.ts'
import type { Routes } from '../server/services.ts'
import { readMailServer } from './waiting-emails.ts'

/** A node is not ready if its engine has not finished an iteration for this long. */
const MAX_ITERATION_AGE = Temporal.Duration.from({ seconds: 15 })

const Health = Type.Object(
  { status: Type.Literal('ok') },
  { title: 'Health', examples: [{ status: 'ok' }] },
)

const Readiness = Type.Object(
  {
    status: Type.Literal('ok'),
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description: 'What the operator must fix although this node works. Absent if nothing.',
      }),
    ),
  },
  { title: 'Readiness', examples: [{ status: 'ok' }] },
)

export const health: Routes = async (app, { config: settings, database, clock, lastClaimTime }) => {
  const config = { open: true, unlimited: true, quiet: true } as const

  app.get(
    '/healthz',
    {
      config,
      schema: {
        tags: ['Operation'],
        summary: 'Check that the process is running',
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
        summary: 'Check that this node can work',
        description:
          'The database must accept writes. If this node runs an engine, its last iteration must be at most 15 s old. A mail server that takes no mail is a warning.',
        response: { 200: Readiness },
      },
    },
    async () => {
      await database.checkWritable()
      if (lastClaimTime) {
        const iteration = lastClaimTime()
        const oldest = clock.now().subtract(MAX_ITERATION_AGE)
        if (!iteration) {
          throw new RequestError(503, 'The engine has not finished its first iteration yet.')
        }
        if (Temporal.Instant.compare(iteration, oldest) < 0) {
          throw new RequestError(503, 'The engine has not finished an iteration for 15 s.')
        }
      }
      const outage = (await readMailServer({ config: settings, database }))?.outage
      const warnings = outage ? [describeOutage(outage)] : []
      return { status: 'ok' as const, ...(warnings.length > 0 && { warnings }) }
    },
  )
}

/** Without the reply of the mail server, because the address needs no credential. */
const describeOutage = ({ since, phase }: MailOutage) =>
  `The mail server has taken no mail since ${since}: it fails at ${phase}.`
