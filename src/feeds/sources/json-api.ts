import { createHash } from 'node:crypto'
import { findExcess } from '../../contract/json-excess.ts'
import { Fetcher, unusableStatus, type SourceAnswer } from '../fetch.ts'
import {
  MAX_RESOURCES,
  SourceError,
  type Entry,
  type Resource,
  type SourceAccount,
} from '../source.ts'
import { makeStorable } from '../stored-entry.ts'

/** Sources that answer in pages of JSON. What they send is not trusted: each value is read by its type. */

/** A page has at most some hundred bookings. It is parsed on the event loop. */
const MAX_ANSWER_BYTES = 8 * 1_048_576
const MAX_VALUES = 1_000_000

export type JsonObject = Record<string, unknown>
type Query = Record<string, string | number>

type ApiSettings = {
  /** The address that paths are added to. */
  base: string
  headers?: Record<string, string>
  privateHosts: readonly string[]
  requestsPerMinute: number
}

/** The address that a person entered, without a slash at its end. */
export function sourceUrlOf({ connection: { url } }: SourceAccount) {
  if (!url) throw new SourceError('ANSWER', 'The feed has no address.')
  return url.replace(/\/+$/, '')
}

/** The requests of one pull. Close it at the end. */
export class JsonApi {
  readonly account: SourceAccount
  readonly #fetcher: Fetcher
  readonly #settings: ApiSettings

  constructor(account: SourceAccount, settings: ApiSettings) {
    const { connection, secret, signal } = account
    const { base, privateHosts, requestsPerMinute } = settings
    // No header can carry other characters.
    if (/[^\x20-\x7e]/.test(secret ?? '')) {
      throw new SourceError(
        'LOGIN',
        'The key has a strange character or a line break. Enter it again.',
      )
    }
    this.account = account
    this.#settings = settings
    this.#fetcher = new Fetcher({
      url: base,
      hosts: connection.hosts ?? [],
      ...(secret !== null && { authorization: `Bearer ${secret}` }),
      privateHosts,
      signal,
      requestsPerMinute,
      limits: { bytes: MAX_ANSWER_BYTES },
    })
  }

  get host() {
    return new URL(this.#settings.base).host
  }

  get acceptance() {
    return `${this.host} accepts the key.`
  }

  close() {
    this.#fetcher.close()
  }

  async get(path: string, query: Query = {}): Promise<unknown> {
    return this.#parse(await this.#send(path, query))
  }

  /** Undefined if the source does not know it (404). */
  async find(path: string, query: Query = {}): Promise<unknown> {
    const answer = await this.#send(path, query)
    return answer.status === 404 ? undefined : this.#parse(answer)
  }

  unreadable() {
    return new SourceError('ANSWER', `${this.host} sends an answer that cannot be read.`)
  }

  /** Throws if an account has more than can be mirrored. */
  checkCount(count: number) {
    if (count <= MAX_RESOURCES) return
    throw new SourceError('LIMIT', `${this.host} has more than ${MAX_RESOURCES} appointments.`)
  }

  #send(path: string, query: Query) {
    const url = new URL(`${this.#settings.base}${path}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value))
    const headers = { accept: 'application/json', ...this.#settings.headers }
    return this.#fetcher.fetch({ url: url.href, headers })
  }

  #parse(answer: SourceAnswer): unknown {
    if (answer.status !== 200) throw unusableStatus(answer)
    const excess = findExcess(answer.body, { maxValues: MAX_VALUES })
    if (excess) throw new SourceError('LIMIT', `${this.host} answers with ${excess}.`)
    try {
      return JSON.parse(answer.body.toString('utf8'))
    } catch {
      throw this.unreadable()
    }
  }
}

/** A booking, as a resource with one entry. `version` is what the source says about its age, if it does. */
export function resourceOfEntry(key: string, entry: Entry, version = ''): Resource {
  const digest = createHash('sha256').update(JSON.stringify(entry)).digest('base64url').slice(0, 22)
  return makeStorable({
    key,
    calendar: null,
    version: version === '' ? digest : `${version} ${digest}`,
    entries: [entry],
    readAgainAt: null,
  })
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The objects of a list; empty if it is none. */
export const objectsIn = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : []

const MAX_TEXT = 300

/** The text, or the number as text; undefined if there is none. */
export function textIn(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string') return undefined
  // Not half of the last character.
  return (
    value
      .trim()
      .slice(0, MAX_TEXT)
      .replace(/[\ud800-\udbff]$/, '') || undefined
  )
}

/** The texts that are known, under these names. */
export const textsIn = (texts: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(texts).flatMap(([name, value]) => {
      const text = textIn(value)
      return text === undefined ? [] : [[name, text]]
    }),
  )

export function momentIn(value: unknown): Temporal.Instant | null {
  try {
    return typeof value === 'string' ? Temporal.Instant.from(value) : null
  } catch {
    return null
  }
}
