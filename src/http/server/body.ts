import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { escapePointer } from '../../contract/json.ts'
import { invalid, RequestError, type Fault } from '../../errors.ts'
import { findJsonFault } from './json-fault.ts'
import { MOST_FAULTS } from './validate.ts'

export const LARGEST_BODY = 1_048_576
const BODY_SECONDS = 20
const DEEPEST = 64
const MOST_KEYS = 10_000
const MOST_VALUES = 50_000

/** JSON in UTF-8 is all that is read; a client that dawdles is cut off. */
export function readJsonBodies(
  app: FastifyInstance,
  { bodySeconds = BODY_SECONDS }: { bodySeconds?: number },
) {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: LARGEST_BODY },
    async (_request: unknown, body: Buffer) => parseJson(body),
  )

  // Whoever asks before sending a body is told to go on once the request is good so far.
  app.server.on('checkContinue', (request, response) => {
    app.server.emit('request', request, response)
  })
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response)
  })

  app.addHook('preParsing', async (request, reply, payload) => {
    const { headers, routeOptions } = request
    if (headers.expect && !/^100-continue$/i.test(headers.expect)) {
      throw new RequestError(417, 'Of expectations only 100-continue is met.')
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
      throw new RequestError(415, `JSON is read as UTF-8, not as ${charset.slice(0, 40)}.`)
    }
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
      throw new RequestError(415, 'A body is read as it is: no Content-Encoding.')
    }

    const late = setTimeout(() => {
      // Where nothing is sent, nobody reads: an error that nobody hears would end the process.
      if (payload.listenerCount('error') === 0) return
      payload.emit('error', new RequestError(408, `The body took longer than ${bodySeconds} s.`))
    }, bodySeconds * 1000).unref()
    const arrived = () => clearTimeout(late)
    payload.once('end', arrived).once('close', arrived)
    // Answered before all of it came: nobody waits for the rest.
    reply.raw.once('finish', arrived).once('close', arrived)
    return payload
  })
}

/**
 * The pieces of a body of any length, as they arrive. Only the time that the client lets pass between
 * two pieces is limited, not the time that the caller takes to process one.
 */
export async function* readPieces(payload: Readable, idleSeconds = BODY_SECONDS) {
  // Destroying the request would close the connection before the answer is sent.
  const pieces = payload.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
  for (;;) {
    const { promise: idle, reject } = Promise.withResolvers<never>()
    const late = new RequestError(408, `Nothing more of the body came for ${idleSeconds} s.`)
    const timer = setTimeout(() => reject(late), idleSeconds * 1000).unref()
    const piece = await Promise.race([pieces.next(), idle]).finally(() => clearTimeout(timer))
    if (piece.done) return
    yield piece.value
  }
}

/** The value of a body, or `undefined` where it is empty. Throws what the caller did wrong. */
export function parseJson(body: Buffer): unknown {
  if (body.length === 0) return undefined
  if (!isUtf8(body)) throw notUtf8()
  refuseMonsters(body)
  let value: unknown
  try {
    value = JSON.parse(body.toString('utf8'))
  } catch {
    const { line, column } = findJsonFault(body.toString('utf8'))
    const place = `line ${line}, column ${column}`
    throw new RequestError(400, `The body is not JSON: ${place}.`, undefined, {}, 'invalid-json')
  }
  return holdsTrickery(body) ? withoutTrickery(value) : value
}

const notUtf8 = () => new RequestError(400, 'The body is not UTF-8.', undefined, {}, 'invalid-json')

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * One pass over the bytes, before anything is built from them. It leaves at the first limit, so
 * the worst body costs about a millisecond. Whether it is JSON at all is the parser's question.
 */
function refuseMonsters(body: Buffer) {
  let depth = 0
  let keys = 0
  let values = 0
  for (let i = 0; i < body.length; i += 1) {
    switch (body[i]) {
      case QUOTE:
        i = endOfString(body, i)
        break
      case 0x5b: // [
      case 0x7b: // {
        depth += 1
        values += 1
        if (depth > DEEPEST) throw tooMuch(`more than ${DEEPEST} levels`)
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1
        break
      case 0x3a: // :
        keys += 1
        if (keys > MOST_KEYS) throw tooMuch(`more than ${MOST_KEYS} properties`)
        break
      case 0x2c: // ,
        values += 1
        break
    }
    if (values > MOST_VALUES) throw tooMuch(`more than ${MOST_VALUES} values`)
  }
}

const tooMuch = (what: string) =>
  new RequestError(422, `The body has ${what}.`, [{ pointer: '', detail: `has ${what}` }])

/** The place of the closing quote: what follows a backslash is not it. */
function endOfString(body: Buffer, start: number) {
  let end = start + 1
  while (end < body.length && body[end] !== QUOTE) end += body[end] === BACKSLASH ? 2 : 1
  return end
}

/** Keys that reach for the prototype, and texts that no database keeps, written as escapes. */
const holdsTrickery = (body: Buffer) =>
  body.includes('__proto__') || body.includes('constructor') || body.includes('\\u')

function withoutTrickery(value: unknown) {
  const faults: Fault[] = []
  clean(value, [], faults)
  if (faults.length > 0) throw invalid(faults)
  return value
}

function clean(value: unknown, path: (string | number)[], faults: Fault[]) {
  if (faults.length >= MOST_FAULTS) return
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
        clean(key, path, faults)
        inside(object[key], key)
      }
    }
  }

  function inside(inner: unknown, step: string | number) {
    path.push(step)
    clean(inner, path, faults)
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
