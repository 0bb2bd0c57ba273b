import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { escapePointer } from '../../contract/json.ts'
import { findExcess } from '../../contract/json-excess.ts'
import { invalid, MAX_FAULTS, RequestError, type Fault } from '../../errors.ts'
import { findJsonFault } from './json-fault.ts'

export const MAX_BODY_BYTES = 1_048_576
const BODY_SECONDS = 20
const MAX_KEYS = 10_000
const MAX_VALUES = 50_000

/** Reads bodies as JSON in UTF-8, within a time limit. */
export function readJsonBodies(
  app: FastifyInstance,
  { bodySeconds = BODY_SECONDS }: { bodySeconds?: number },
) {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES },
    async (request: FastifyRequest, body: Buffer) =>
      parseJson(body, request.routeOptions.config.maxKeys),
  )

  // `Expect: 100-continue` is answered in preParsing, after authentication.
  app.server.on('checkContinue', (request, response) => {
    app.server.emit('request', request, response)
  })
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response)
  })

  // Clients name a type even for an empty body: that of `curl -d ''` is a form.
  app.addHook('onRequest', async ({ headers }) => {
    const isEmpty = (headers['content-length'] ?? '0') === '0' && !headers['transfer-encoding']
    if (isEmpty) delete headers['content-type']
  })

  app.addHook('preParsing', async (request, reply, payload) => {
    const { headers, routeOptions } = request
    if (headers.expect && !/^100-continue$/i.test(headers.expect)) {
      throw new RequestError(417, 'The only supported Expect header is 100-continue.')
    }
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
      throw new RequestError(415, 'Content-Encoding is not supported: send the body uncompressed.')
    }
    const streams = routeOptions.config.streams ?? false
    if (
      headers.expect &&
      (streams || Number(headers['content-length'] ?? 0) <= routeOptions.bodyLimit)
    ) {
      reply.raw.writeContinue()
    }
    if (streams) return payload
    const charset = /;\s*charset="?([^";\s]+)/i.exec(headers['content-type'] ?? '')?.[1]
    if (charset && !/^(utf-?8|us-ascii)$/i.test(charset)) {
      throw new RequestError(415, `The body must be UTF-8, not ${charset.slice(0, 40)}.`)
    }

    const seconds = routeOptions.config.bodySeconds ?? bodySeconds
    const deadline = setTimeout(() => {
      // Without a listener, the error event would end the process.
      if (payload.listenerCount('error') === 0) return
      payload.emit('error', new RequestError(408, `The body took longer than ${seconds} s.`))
    }, seconds * 1000).unref()
    const stop = () => clearTimeout(deadline)
    payload.once('end', stop).once('close', stop)
    reply.raw.once('finish', stop).once('close', stop)
    return payload
  })
}

/**
 * Yields the chunks of a body of any length as they arrive. The time limit applies to the pause between
 * two chunks, not to the time that the caller takes to process one.
 */
export async function* readChunks(payload: Readable, idleSeconds = BODY_SECONDS) {
  // Destroying the request would close the connection before the answer is sent.
  const chunks = payload.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
  for (;;) {
    const { promise: idle, reject } = Promise.withResolvers<never>()
    const late = new RequestError(408, `No data arrived for ${idleSeconds} s; send the body again.`)
    const timer = setTimeout(() => reject(late), idleSeconds * 1000).unref()
    const chunk = await Promise.race([chunks.next(), idle]).finally(() => clearTimeout(timer))
    if (chunk.done) return
    yield chunk.value
  }
}

/** The value of a body; `undefined` if it is empty. Throws a RequestError if it is not valid. */
export function parseJson(body: Buffer, maxKeys = MAX_KEYS): unknown {
  if (body.length === 0) return undefined
  if (!isUtf8(body)) throw notUtf8()
  const excess = findExcess(body, { maxKeys, maxValues: MAX_VALUES })
  if (excess) throw tooMuch(excess)
  let value: unknown
  try {
    value = JSON.parse(body.toString('utf8'))
  } catch {
    const { line, column } = findJsonFault(body.toString('utf8'))
    const place = `line ${line}, column ${column}`
    throw new RequestError(400, `The body is not JSON: ${place}.`, undefined, {}, 'invalid-json')
  }
  if (mayHoldUnsafeText(body)) refuseUnsafeText(value)
  return value
}

const notUtf8 = () => new RequestError(400, 'The body is not UTF-8.', undefined, {}, 'invalid-json')

const tooMuch = (what: string) =>
  new RequestError(422, `The body has ${what}.`, [{ pointer: '', detail: `has ${what}` }])

/** A fast check. Escapes can hide NUL characters and lone surrogates, which PostgreSQL refuses. */
const mayHoldUnsafeText = (body: Buffer) =>
  body.includes('__proto__') || body.includes('constructor') || body.includes('\\u')

function refuseUnsafeText(value: unknown) {
  const faults: Fault[] = []
  findUnsafeText(value, [], faults)
  if (faults.length > 0) throw invalid(faults)
}

function findUnsafeText(value: unknown, path: (string | number)[], faults: Fault[]) {
  if (faults.length >= MAX_FAULTS) return
  if (typeof value === 'string') {
    if (value.includes('\0')) faults.push(faultAt(path, 'holds a NUL character'))
    else if (!value.isWellFormed()) faults.push(faultAt(path, 'holds half a character'))
  } else if (Array.isArray(value)) {
    value.forEach((item, i) => inside(item, i))
  } else if (typeof value === 'object' && value !== null) {
    const object = value as Record<string, unknown>
    for (const key of Object.keys(object)) {
      if (key === '__proto__' || reachesPrototype(key, object[key])) {
        faults.push(faultAt([...path, key], 'unknown property'))
      } else {
        findUnsafeText(key, path, faults)
        inside(object[key], key)
      }
    }
  }

  function inside(inner: unknown, step: string | number) {
    path.push(step)
    findUnsafeText(inner, path, faults)
    path.pop()
  }
}

const faultAt = (path: (string | number)[], detail: string): Fault => ({
  pointer: path.map((step) => `/${escapePointer(String(step))}`).join(''),
  detail,
})

const reachesPrototype = (key: string, value: unknown) =>
  key === 'constructor' &&
  typeof value === 'object' &&
  value !== null &&
  Object.hasOwn(value, 'prototype')
