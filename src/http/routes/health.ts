import { Type } from 'typebox'
import { ConnectionError } from '../../database/postgres-errors.ts'
import { RequestError } from '../../errors.ts'
import { findHold, type RestoreHold } from '../../store/installation.ts'
import type { MailOutage } from '../../store/mail-servers.ts'
import { listOperatorProblems } from '../../store/operator-problems.ts'
import { operation, type Routes } from '../server/services.ts'
import { readMailServer } from './waiting-emails.ts'
import { Named } from '../../contract/schema.ts'

/** A node is not ready if its engine has not finished an iteration for this long. */
const MAX_ITERATION_AGE = Temporal.Duration.from({ seconds: 15 })

const Health = Named('Health', { status: Type.Literal('ok') }, { status: 'ok' })

const Readiness = Named(
  'Readiness',
  {
    status: Type.Literal('ok'),
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        examples: [['MAIL_FROM has the domain localhost: many servers refuse such mail']],
        description: 'What the operator must fix although this node works. Absent if nothing.',
      }),
    ),
  },
  { status: 'ok' },
)

export const health: Routes = async (app, { config: settings, database, clock, lastClaimTime }) => {
  const config = { open: true, unlimited: true, quiet: true } as const

  app.get(
    '/healthz',
    operation('getHealth', 'Check that the process is running', {
      config,
      tags: ['Operation'],
      response: { 200: Health },
    }),
    async () => ({ status: 'ok' as const }),
  )

  app.get(
    '/readyz',
    operation('getReadiness', 'Check that this node can work', {
      config,
      tags: ['Operation'],
      description:
        'The database must answer within 1.5 s, accept writes and have disk space for them. If this node runs an engine, its last iteration must be at most 15 s old. A mail server that takes no mail is a warning.',
      response: { 200: Readiness },
    }),
    () => ready.within(MAX_ANSWER_MS),
  )

  /** One check at a time: probes of a silent database must not queue for its connections. */
  const ready = new SharedCheck(async () => {
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
    const [problem] = await listOperatorProblems(database.engine)
    const hold = await findHold(database.engine)
    const warnings = [
      ...(hold ? [describeHold(hold)] : []),
      ...(outage ? [describeOutage(outage)] : []),
      ...(problem ? [describeProblem(problem)] : []),
    ]
    return { status: 'ok' as const, ...(warnings.length > 0 && { warnings }) }
  })
}

/** Shorter than the timeout of common probes. */
const MAX_ANSWER_MS = 1_500

/** Callers share the running check, and stop waiting for it after a while. */
class SharedCheck<T> {
  readonly #check: () => Promise<T>
  #running: Promise<T> | undefined

  constructor(check: () => Promise<T>) {
    this.#check = check
  }

  within(ms: number): Promise<T> {
    const running = (this.#running ??= this.#check().finally(() => this.#forget(running)))
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      this.#forget(running)
      reject(new ConnectionError(new Error(`the database has not answered for ${ms} ms`)))
    }, ms)
    return Promise.race([running, late]).finally(() => clearTimeout(timer))
  }

  #forget(check: Promise<T>) {
    if (this.#running === check) this.#running = undefined
  }
}

const describeHold = ({ heldSince }: RestoreHold) =>
  `The database was restored. Since ${heldSince} no mail is sent: bellwether release shows what waits.`

/** Without the names of domains, for the same reason. */
const describeProblem = ({ since }: { since: Temporal.Instant }) =>
  `Mails wait since ${since} for something that only the operator can fix: bellwether doctor names it.`

/** Without the reply of the mail server, because the address needs no credential. */
const describeOutage = ({ since, phase }: MailOutage) =>
  `The mail server has taken no mail since ${since}: it fails at ${phase}.`
