import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { schemaFaults } from '../../contract/find-faults.ts'
import { readReasons, type Reason } from '../../contract/reasons.ts'

/** A value in JSON: a `Temporal.Instant` is a number of milliseconds; `statusReason` is also there as codes. */
type OnWire<T> = T extends Temporal.Instant
  ? number
  : T extends readonly (infer Item)[]
    ? OnWire<Item>[]
    : T extends object
      ? { [Name in keyof T]: OnWire<T[Name]> } & ('statusReason' extends keyof T
          ? { statusReasons: Reason[] }
          : unknown)
      : T

/** Sends every answer as JSON in which each moment is a number of milliseconds. */
export function serializeAnswers(app: FastifyInstance, { checked }: { checked: boolean }) {
  app.setReplySerializer((payload) => toJson(payload))
  // Response schemas only describe. Filtering by them would hide differences, which tests check for.
  app.setSerializerCompiler(() => toJson)
  if (checked) checkAgainstSchemas(app)
}

/** The text of an answer. */
export const toJson = (value: unknown) => JSON.stringify(toWire(value)) ?? 'null'

/** Reads a moment of a query parameter, which may be absent. */
export const toInstant = (ms: number | undefined) =>
  ms === undefined ? undefined : Temporal.Instant.fromEpochMilliseconds(ms)

/**
 * The one conversion between our rows and the answers that the API describes. Copies, as rows may be shared.
 * Adds `statusReasons`, so that no answer has a reason that cannot be said in another language.
 */
export function toWire<T>(value: T): OnWire<T>
export function toWire(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Temporal.Instant) return value.epochMilliseconds
  if (Array.isArray(value)) return value.map((item: unknown) => toWire(item))
  if (hasOwnJson(value)) return value
  const copy: Record<string, unknown> = {}
  for (const key in value) copy[key] = toWire((value as Record<string, unknown>)[key])
  if (typeof copy.statusReason === 'string' || copy.statusReason === null) {
    copy.statusReasons = readReasons(copy.statusReason)
  }
  return copy
}

const hasOwnJson = (value: object) =>
  value instanceof Temporal.PlainDate ||
  value instanceof Temporal.PlainTime ||
  value instanceof Temporal.Duration ||
  value instanceof Date

/** Fails a request if its accepted body or its answer does not match the schema. */
function checkAgainstSchemas(app: FastifyInstance) {
  app.addHook('onRoute', (route) => {
    const { method, url, schema } = route
    const answers = (schema?.response ?? {}) as Record<string, TSchema>
    const accepted = schema?.body as TSchema | undefined
    // Also called for files and pages, whose bodies are described like all others.
    const checkBody = async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
      if (accepted && reply.statusCode < 300 && request.body !== undefined) {
        refuseDifference(accepted, request.body, `${method} ${url} accepted`)
      }
      return payload
    }
    const checkAnswer = async (_request: unknown, reply: FastifyReply, payload: unknown) => {
      const { statusCode } = reply
      const answer = answers[statusCode] ?? answers[`${Math.floor(statusCode / 100)}xx`]
      if (answer && !('content' in answer)) {
        refuseDifference(answer, JSON.parse(toJson(payload)), `${method} ${url} answered`)
      }
      return payload
    }
    route.onSend = [...[route.onSend ?? []].flat(), checkBody]
    route.preSerialization = [...[route.preSerialization ?? []].flat(), checkAnswer]
  })
}

function refuseDifference(schema: TSchema, value: unknown, whatHappened: string) {
  const faults = schemaFaults(schema, value).map(({ pointer, detail }) => `${pointer} ${detail}`)
  if (faults.length === 0) return
  throw new Error(`${whatHappened} what it does not describe: ${faults.join('; ')}`)
}
