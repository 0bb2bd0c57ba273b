import { Type } from 'typebox'
import { backtest, type Days } from '../../automation/backtest.ts'
import { forecast } from '../../automation/forecast.ts'
import { monotonicMs } from '../../clock.ts'
import { EventDefinitionBody } from '../../contract/event-definition.ts'
import { Backtest, Forecast, SampleQuery } from '../../contract/forecast.ts'
import { findFaults } from '../../contract/find-faults.ts'
import { isPlainObject } from '../../contract/json.ts'
import { about, Day, Named, readDay } from '../../contract/schema.ts'
import { invalid, RequestError, type Fault } from '../../errors.ts'
import { abortOnDisconnect } from '../server/connections.ts'
import { toWire } from '../server/serialize.ts'
import { inOrder, operation, type Routes } from '../server/services.ts'

const tags = ['event definition']
const range = {
  startDate: Day({ examples: ['2026-03-01'] }),
  endDate: Day({ examples: ['2026-03-31'] }),
}
/** `backtest` checks the definition itself. */
const BacktestRange = Type.Object({ definition: Type.Optional(Type.Unknown()), ...range })
/** Nothing is written, so the scope for reading is enough. */
const config = { scope: 'definitions:read' } as const

export const forecasts: Routes = inOrder(() => [postPlan, postBacktest])

const postPlan: Routes = async (app, { clock, queues }) => {
  app.post(
    '/eventDefinition/plan',
    operation('planEventDefinition', 'Show what saving a definition would change', {
      config: { ...config, readsBody: true },
      tags,
      description: 'Nothing is saved.',
      querystring: SampleQuery(SAMPLES_OF_PLAN, ' for each kind of change'),
      body: EventDefinitionBody,
      response: { 200: Forecast },
    }),
    async ({ caller, body, query }, reply) => {
      const { db, businessId, visibility } = caller
      const { limit = SAMPLES_OF_PLAN, offset = 0 } = query
      const disconnected = abortOnDisconnect(reply)
      const hasTimeLeft = untilTimeLimit(disconnected)
      const planned = await queues.interactive.run({ businessId, signal: disconnected }, () =>
        forecast(db, body, {
          businessId,
          now: clock.now(),
          hasTimeLeft,
          visibility,
          limit,
          offset,
        }),
      )
      return toWire(planned)
    },
  )
}

const postBacktest: Routes = async (app, { database, clock, queues }) => {
  app.post(
    '/eventDefinition/backtest',
    operation(
      'backtestEventDefinition',
      'Show what a definition would have sent in a range of days',
      {
        config: { ...config, readsBody: true },
        tags,
        description: 'Uses the stored objects as they are now. Nothing is saved or sent.',
        querystring: SampleQuery(SAMPLES_OF_BACKTEST, ''),
        body: Named('BacktestBody', {
          definition: about(EventDefinitionBody, 'The definition to test, as it is saved.'),
          ...range,
        }),
        response: { 200: Backtest },
      },
    ),
    async ({ caller, body, query }, reply) => {
      const { businessId, visibility } = caller
      const db = database.replicaOr(businessId, caller.db)
      const { limit = SAMPLES_OF_BACKTEST, offset = 0 } = query
      const { definition, days, faults } = readBacktest(body)
      const asked = days ?? { startDate: ANY_DAY, endDate: ANY_DAY }
      const disconnected = abortOnDisconnect(reply)
      const run = () =>
        backtest(db, definition, asked, {
          businessId,
          now: clock.now(),
          hasTimeLeft: untilTimeLimit(disconnected),
          visibility,
          limit,
          offset,
        })
      const result = await queues.interactive
        .run({ businessId, signal: disconnected }, run)
        .catch((error: unknown) => {
          throw withFaultsOfDefinition(error, faults)
        })
      if (faults.length > 0) throw invalid(faults)
      return toWire(result)
    },
  )
}

const SAMPLES_OF_PLAN = 10
const SAMPLES_OF_BACKTEST = 20

/** After this time the answer has the counts so far and is marked as partial. */
const MAX_RUN_MS = 20_000

/** Stops counting at the time limit, or when the client has closed the connection. */
export function untilTimeLimit(disconnected: AbortSignal, limitMs = MAX_RUN_MS) {
  const deadline = monotonicMs() + limitMs
  return () => monotonicMs() < deadline && !disconnected.aborted
}

/** Used if the days are invalid: the definition is still read, so that the answer lists its faults too. */
const ANY_DAY = Temporal.PlainDate.from('2000-01-01')

function readBacktest(body: unknown) {
  const faults = findFaults(BacktestRange, body)
  if (!isPlainObject(body)) throw invalid(faults)
  const [startDate, endDate] = [readDay(body.startDate), readDay(body.endDate)]
  if (startDate && endDate && Temporal.PlainDate.compare(startDate, endDate) > 0) {
    faults.push({ pointer: '/endDate', detail: 'must not be before startDate' })
  }
  const days: Days | undefined =
    startDate && endDate && faults.length === 0 ? { startDate, endDate } : undefined
  return { definition: body.definition, days, faults }
}

/** Adds the faults of the definition, with pointers into this body. */
function withFaultsOfDefinition(error: unknown, faults: Fault[]) {
  if (!(error instanceof RequestError) || !error.errors) return error
  const own = error.errors.map(({ pointer, detail }) => ({
    pointer: `/definition${pointer}`,
    detail,
  }))
  return invalid([...own, ...faults])
}
