import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { RequestError } from '../errors.ts'
import { wireText } from './wire.ts'

/** Answers of routes with `config: { etag: true }` carry an `ETag`: the digest of what is sent. */
export function tagAnswers(app: FastifyInstance) {
  app.addHook('onSend', async (request, reply, payload) => {
    if (!request.routeOptions.config?.etag || typeof payload !== 'string') return payload
    if (reply.statusCode !== 200 && reply.statusCode !== 201) return payload
    const { untagged } = request.routeOptions.config
    const tag = tagOf(untagged ? without(payload, untagged) : payload)
    reply.header('etag', tag)
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead || !names(request.headers['if-none-match'], tag)) return payload
    reply.code(304)
    return ''
  })
}

/**
 * Refuses a change by a caller who has not seen the object as it is. `current` is what a GET would
 * answer, read under a lock in the transaction of the change; `undefined` where there is none yet.
 */
export function requireMatch(request: FastifyRequest, current: object | undefined) {
  const wanted = request.headers['if-match']
  if (wanted === undefined) return
  if (current && names(wanted, tagOf(wireText(current)))) return
  throw new RequestError(412, 'The object is not, or no longer, as If-Match says.')
}

const tagOf = (text: string) => `"${hash('sha1', text, 'base64url')}"`

function without(payload: string, property: string) {
  const { [property]: _left, ...object } = JSON.parse(payload) as Record<string, unknown>
  return JSON.stringify(object)
}

const names = (header: string | undefined, tag: string) =>
  header !== undefined &&
  header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === tag)
