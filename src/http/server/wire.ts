import type { FastifyInstance } from 'fastify'
import { Compile } from 'typebox/compile'
import type { TSchema } from 'typebox'

/** Answers leave as JSON in which every moment is a number of milliseconds. */
export function answerInMilliseconds(app: FastifyInstance, { checked }: { checked: boolean }) {
  app.setReplySerializer((payload) => wireText(payload))
  // Response schemas describe; they do not filter. That what we send is what they describe is
  // checked in tests, where a difference is an error.
  app.setSerializerCompiler(() => wireText)
  if (checked) checkAnswers(app)
}

/** An answer as the text that is sent. */
export const wireText = (value: unknown) => JSON.stringify(onWire(value)) ?? 'null'

/** Copies as it goes: a row may be shared, and JSON.stringify is fastest on plain objects. */
function onWire(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Temporal.Instant) return value.epochMilliseconds
  if (Array.isArray(value)) return value.map(onWire)
  if (isTemporal(value) || value instanceof Date) return value
  const copy: Record<string, unknown> = {}
  for (const key in value) copy[key] = onWire((value as Record<string, unknown>)[key])
  return copy
}

/** A day and its kin know their own text. */
const isTemporal = (value: object) =>
  value instanceof Temporal.PlainDate ||
  value instanceof Temporal.PlainTime ||
  value instanceof Temporal.Duration

/** A body that was accepted, and the answer, must both be what the description says. */
function checkAnswers(app: FastifyInstance) {
  app.addHook('onRoute', (route) => {
    const responses = (route.schema?.response ?? {}) as Record<string, TSchema>
    const accepts = route.schema?.body as TSchema | undefined
    const check = async (
      request: { body?: unknown },
      reply: { statusCode: number },
      payload: unknown,
    ) => {
      const { statusCode } = reply
      if (accepts && statusCode < 300 && request.body !== undefined) {
        const body = validatorOf(accepts)
        if (!body.Check(request.body)) {
          const faults = body.Errors(request.body).map((e) => `${e.instancePath} ${e.message}`)
          throw new Error(
            `${route.method} ${route.url} accepted what it does not describe: ${faults.join('; ')}`,
          )
        }
      }
      const schema = responses[statusCode] ?? responses[`${Math.floor(statusCode / 100)}xx`]
      if (!schema || 'content' in schema) return payload
      const validator = validatorOf(schema)
      const answer: unknown = JSON.parse(wireText(payload))
      if (!validator.Check(answer)) {
        const faults = validator.Errors(answer).map((e) => `${e.instancePath} ${e.message}`)
        throw new Error(
          `${route.method} ${route.url} answered what it does not describe: ${faults.join('; ')}`,
        )
      }
      return payload
    }
    route.preSerialization = [route.preSerialization ?? []].flat().concat(check as never)
  })
}

const validators = new WeakMap<TSchema, ReturnType<typeof Compile>>()

function validatorOf(schema: TSchema) {
  const validator = validators.get(schema) ?? Compile(schema)
  validators.set(schema, validator)
  return validator
}
