import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { RequestError } from '../../errors.ts'
import { toJson } from './serialize.ts'

/**
 * Adds an `ETag`, the digest of the answer, to routes with `config: { etag: true }`. A route whose
 * version covers more than its answer sets the header itself, with `versionOf`.
 */
export function tagAnswers(app: FastifyInstance) {
  app.addHook('onSend', async (request, reply, payload) => {
    if (!request.routeOptions.config?.etag || typeof payload !== 'string') return payload
    if (reply.statusCode !== 200 && reply.statusCode !== 201) return payload
    const { untagged } = request.routeOptions.config
    const given = reply.getHeader('etag')
    const tag =
      typeof given === 'string' ? given : tagOf(untagged ? without(payload, untagged) : payload)
    reply.header('etag', tag)
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead || !namesWeakly(request.headers['if-none-match'], tag)) return payload
    reply.code(304)
    return ''
  })
}

/**
 * Refuses a change if `If-Match` names another version. `current` is what a GET would answer, read under
 * a lock in the transaction of the change; `undefined` if the object does not exist yet. `parts`: see
 * `versionOf`.
 */
export function requireMatch(
  request: FastifyRequest,
  current: object | undefined,
  parts: object[] = [],
) {
  const wanted = request.headers['if-match']
  if (wanted === undefined) return
  if (current && namesStrongly(wanted, versionOf(current, parts))) return
  throw new RequestError(
    412,
    'The object has changed since the ETag in If-Match. Read it again, then repeat the change.',
  )
}

/** The `ETag` of an object, with the parts that belong to it and that its answer leaves out. */
export const versionOf = (object: object, parts: object[] = []) =>
  tagOf([object, ...parts].map(toJson).join('\n'))

const tagOf = (text: string) => `"${hash('sha1', text, 'base64url')}"`

function without(payload: string, property: string) {
  const { [property]: _left, ...object } = JSON.parse(payload) as Record<string, unknown>
  return JSON.stringify(object)
}

/** RFC 9110, 13.1.1: `If-Match` compares strongly, so a weak tag matches nothing. */
const namesStrongly = (header: string, tag: string) =>
  tagsIn(header).some((one) => one === '*' || one === tag)

/** RFC 9110, 13.1.2: `If-None-Match` compares weakly. */
const namesWeakly = (header: string | undefined, tag: string) =>
  header !== undefined && tagsIn(header).some((one) => one === '*' || one.replace('W/', '') === tag)

const tagsIn = (header: string) => header.split(',').map((one) => one.trim())
