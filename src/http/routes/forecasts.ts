import { Type } from 'typebox'
import { backtest, type Days } from '../../automation/backtest.ts'
import { forecast } from '../../automation/forecast.ts'
import { monotonicMs } from '../../clock.ts'
import { EventDefinitionBody } from '../../contract/event-definition.ts'
import { Backtest, Forecast, SampleQuery } from '../../contract/forecast.ts'
import { isPlainObject } from '../../contract/json.ts'
import { unknownProperties } from '../../contract/unknown-properties.ts'
import { invalid, RequestError, type Fault } from '../../errors.ts'
import { clientGone } from '../server/client-gone.ts'
import type { Routes } from '../server/services.ts'

const tags = ['event definition']
const range = {
  startDate: Type.String({ format: 'date', examples: ['2026-03-01'] }),
  endDate: Type.String({ format: 'date', examples: ['2026-03-31'] }),
}
/** The reader of definitions checks what is inside. */
const BacktestNames = Type.Object({ definition: Type.Unknown(), ...range })
/** Nothing is written, so those who may read may ask. */
const config = { scope: 'definitions:read' } as const

export const forecasts: Routes = async (app, { clock, queues }) => {
  const validate = app.validatorCompiler!
  /** The contract itself reads the body, as it does when a definition is saved. */
  const validatorCompiler: typeof validate = (part) =>
    part.httpPart === 'body' ? (value: unknown) => ({ value }) : validate(part)

  app.post(
    '/eventDefinition/plan',
    {
      config,
      validatorCompiler,
      schema: {
        tags,
        summary: 'What saving a definition would do; nothing is saved',
        querystring: SampleQuery(SAMPLES_OF_PLAN, ' of each kind of change'),
        body: EventDefinitionBody,
        response: { 200: Forecast },
      },
    },
    async ({ caller, body, query }, reply) => {
      const { db, businessId, scope: visibility } = caller
      const { limit = SAMPLES_OF_PLAN } = query
      const gone = clientGone(reply)
      const hasTimeLeft = withPatience(gone)
      const planned = await queues.interactive.run({ businessId, signal: gone }, () =>
        forecast(db, body, { businessId, now: clock.now(), hasTimeLeft, visibility, limit }),
      )
      return planned as unknown as Forecast
    },
  )

  app.post(
    '/eventDefinition/backtest',
    {
      config,
      validatorCompiler,
      schema: {
        tags,
        summary: 'What a definition would have sent between two days, on the data there is',
        querystring: SampleQuery(SAMPLES_OF_BACKTEST, ''),
        body: Type.Object({ definition: EventDefinitionBody, ...range }),
        response: { 200: Backtest },
      },
    },
    async ({ caller, body, query }, reply) => {
      const { db, businessId, scope: visibility } = caller
      const { limit = SAMPLES_OF_BACKTEST } = query
      const { definition, days, faults } = readBacktest(body)
      const asked = days ?? { startDate: SOME_DAY, endDate: SOME_DAY }
      const gone = clientGone(reply)
      const run = () =>
        backtest(db, definition, asked, {
          businessId,
          now: clock.now(),
          hasTimeLeft: withPatience(gone),
          visibility,
          limit,
        })
      const result = await queues.interactive
        .run({ businessId, signal: gone }, run)
        .catch((error: unknown) => {
          throw inside(error, faults)
        })
      if (faults.length > 0) throw invalid(faults)
      return result as unknown as Backtest
    },
  )
}

const SAMPLES_OF_PLAN = 10
const SAMPLES_OF_BACKTEST = 20

/** After this the answer covers what was counted so far, and is marked as partial. */
const MAX_RUN_MS = 20_000

/** Also stops if the client has closed the connection. */
function withPatience(gone: AbortSignal) {
  const until = monotonicMs() + MAX_RUN_MS
  return () => monotonicMs() < until && !gone.aborted
}

const SOME_DAY = Temporal.PlainDate.from('1970-01-01')

function readBacktest(body: unknown) {
  if (!isPlainObject(body)) throw invalid([{ pointer: '', detail: 'must be a JSON object' }])
  const faults: Fault[] = unknownProperties(BacktestNames, body)
  const day = (name: 'startDate' | 'endDate') => {
    const value = body[name]
    const read = readDay(value)
    const detail = value == null ? 'is required' : 'must be a day: YYYY-MM-DD'
    if (!read) faults.push({ pointer: `/${name}`, detail })
    return read
  }
  const startDate = day('startDate')
  const endDate = day('endDate')
  if (startDate && endDate && Temporal.PlainDate.compare(startDate, endDate) > 0) {
    faults.push({ pointer: '/endDate', detail: 'must not be before startDate' })
  }
  const days: Days | undefined =
    startDate && endDate && faults.length === 0 ? { startDate, endDate } : undefined
  return { definition: body.definition, days, faults }
}

function readDay(value: unknown) {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value)) return undefined
  try {
    return Temporal.PlainDate.from(value)
  } catch {
    return undefined
  }
}

/** The definition's own faults, where they stand in this body, beside those of the days. */
function inside(error: unknown, faults: Fault[]) {
  if (!(error instanceof RequestError) || !error.errors) return error
  const own = error.errors.map(({ pointer, detail }) => ({
    pointer: `/definition${pointer}`,
    detail,
  }))
  return invalid([...own, ...faults])
}
