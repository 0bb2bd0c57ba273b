import { PassThrough } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Caller } from '../../auth/caller.ts'
import type { SecurityFunction } from '../../auth/permissions.ts'
import { monotonicMs } from '../../clock.ts'
import { CHANGE_KINDS, type Change, type ChangeKind } from '../../contract/change.ts'
import { objectKind } from '../../contract/objects.ts'
import { RequestError } from '../../errors.ts'
import {
  hintChanges,
  hintManyChangedTriggers,
  listChanges,
  type AuditChange,
} from '../../store/changes.ts'
import { listTriggersById } from '../../store/event-triggers.ts'
import type { StoredObject } from '../../store/objects.ts'
import { findHidingProperty } from '../../store/visibility.ts'
import { rereadCaller } from '../server/authenticate.ts'
import { ChangeFeed, MAX_NAMED_CHANGES, type ChangeBatch } from './change-feed.ts'
import type { Routes } from '../server/services.ts'

const MAX_STREAMS_PER_CREDENTIAL = 20
const HEARTBEAT_MS = 15_000
/** A stream that is revoked ends within this time. */
const TRUSTED_MS = 1_000
/** A client that reads no more is disconnected; it resumes where it was. */
const MAX_UNREAD_BYTES = 262_144
/** When a browser connects again after the connection was lost. */
const RETRY_MS = 3_000

/** See docs/decisions/0188-live-updates.md. */
export const changes: Routes = async (app, services) => {
  const { database, log } = services
  const feed = new ChangeFeed(database, (err) => log.warn({ err }, 'reading changes failed'))
  const streams = new Set<ChangeStream>()
  app.addHook('preClose', async () => {
    for (const stream of streams) stream.end()
    await feed.close()
  })

  app.get(
    '/changes',
    {
      exposeHeadRoute: false,
      config: { scope: 'scheduling:read', function: 'VIEW_SCHEDULE', quiet: true },
      schema: {
        tags: ['changes'],
        summary: 'Live updates: what has changed, as server-sent events',
        description: `A stream that stays open. Each event is one change: its kind and its id, and nothing else; read the object if you want to know more. \`id: null\` means that any number of this kind may have changed. The caller is told of what it may read.

A change is told at least once, mostly within a second. After a lost connection send the last \`id:\` as \`Last-Event-ID\`, as browsers do, and the stream goes on from there. Every 15 s a comment shows that the connection lives. It ends when the credential does. A credential may hold ${MAX_STREAMS_PER_CREDENTIAL} streams; another one is 429.`,
        headers: Type.Object({
          'last-event-id': Type.Optional(
            Type.String({
              pattern: '^\\d{1,15}$',
              description: 'The last `id:` that was received.',
            }),
          ),
        }),
        response: {
          200: {
            description: 'Events without a name, each with a JSON object as its data.',
            content: {
              'text/event-stream': {
                schema: Type.String({
                  examples: ['id: 4711\ndata: {"kind":"calendar","id":17}\n\n'],
                }),
              },
            },
          },
        },
      },
    },
    async (request, reply) => {
      const { credential } = request.caller
      const held = [...streams].filter((stream) => stream.credential === credential).length
      if (held >= MAX_STREAMS_PER_CREDENTIAL) {
        const detail = `This credential holds ${held} streams of changes already; close one first.`
        throw new RequestError(429, detail, undefined, { 'retry-after': '60' })
      }
      const stream = new ChangeStream(request.caller, () => rereadCaller(request, services))
      streams.add(stream)
      stream.body.once('close', () => streams.delete(stream))
      await stream.start(feed, lastEventIdOf(request))
      return reply
        .type('text/event-stream')
        .header('x-accel-buffering', 'no') // a proxy must not hold events back
        .send(stream.body as never)
    },
  )
}

function lastEventIdOf({ headers }: FastifyRequest) {
  const id = headers['last-event-id']
  return typeof id === 'string' ? Number(id) : undefined
}

/** Every change over HTTP wakes the streams of its business, on all nodes. */
export function hintAfterChanges(app: FastifyInstance) {
  app.addHook('onResponse', async ({ method, caller, routeOptions }, { statusCode }) => {
    if (!caller || method === 'GET' || statusCode >= 300) return
    // Triggers and mails are in no audit.
    const isByHand = /^\/(eventTriggers|emails)\b/.test(routeOptions.url ?? '')
    const hint = isByHand ? hintManyChangedTriggers : hintChanges
    hint(caller.db, caller.businessId)
  })
}

/** What a caller needs to be told of a kind. */
const FUNCTION_OF_KIND: Partial<Record<ChangeKind, SecurityFunction>> = {
  business: 'VIEW_BUSINESS',
  eventDefinition: 'VIEW_DEFINITIONS',
  eventAction: 'VIEW_DEFINITIONS',
  emailCategory: 'VIEW_EMAILS',
  emailTemplate: 'VIEW_EMAILS',
}

/** One connection: what its caller may see, written as server-sent events. */
class ChangeStream {
  readonly body = new PassThrough()
  readonly credential: string
  readonly #reread: () => Promise<Caller | undefined>
  #caller: Caller
  #checkedAt = monotonicMs()
  #checking: NodeJS.Timeout | undefined
  /** Batches are written one after the other. */
  #writing: Promise<void> = Promise.resolve()

  constructor(caller: Caller, reread: () => Promise<Caller | undefined>) {
    this.#caller = caller
    this.credential = caller.credential
    this.#reread = reread
  }

  /** Everything after `lastEventId` is told first, if it is given. */
  async start(feed: ChangeFeed, lastEventId: number | undefined) {
    const { businessId, db } = this.#caller
    try {
      const { position, stop } = await feed.listen(businessId, (batch) => this.#tell(batch))
      this.body.once('close', stop)
      this.#write(`retry: ${RETRY_MS}\nid: ${lastEventId ?? position()}\n\n`)
      if (lastEventId !== undefined) {
        const page = { after: lastEventId, limit: MAX_NAMED_CHANGES + 1 }
        const missed = await listChanges(db, businessId, page)
        const audited = missed.length > MAX_NAMED_CHANGES ? 'many' : missed
        this.#tell({ audited, triggerIds: 'many', position: position() })
      }
      const beating = setInterval(() => this.#beat(position()), HEARTBEAT_MS)
      this.body.once('close', () => {
        clearInterval(beating)
        clearTimeout(this.#checking)
      })
    } catch (error) {
      this.body.destroy()
      throw error
    }
  }

  end() {
    this.body.end()
  }

  #tell(batch: ChangeBatch) {
    this.#inTurn(async () => {
      const changes = await this.#visible(batch)
      // The id comes with the last one: a client that gets only a part resumes before it.
      const last = changes.length - 1
      const events = changes.map((change, place) => {
        const id = place === last ? `id: ${batch.position}\n` : ''
        return `${id}data: ${JSON.stringify(change)}\n\n`
      })
      this.#write(events.join(''))
    })
  }

  #beat(position: number) {
    this.#inTurn(async () => this.#write(`: heartbeat\nid: ${position}\n\n`))
  }

  /** Writes if the caller still may read it, else the stream ends. */
  #inTurn(write: () => Promise<void>) {
    this.#writing = this.#writing
      .then(async () => {
        if (await this.#isStillAllowed()) await write()
        else this.end()
      })
      // The client resumes from the last id that it got.
      .catch(() => this.end())
  }

  /** A sign-out and a revocation wake the streams too: this is where they end. */
  async #isStillAllowed() {
    const age = monotonicMs() - this.#checkedAt
    if (age < TRUSTED_MS) {
      this.#checking ??= setTimeout(() => {
        this.#checking = undefined
        this.#inTurn(async () => {})
      }, TRUSTED_MS - age)
      return true
    }
    const caller = await this.#reread()
    if (!caller) return false
    this.#caller = caller
    this.#checkedAt = monotonicMs()
    return true
  }

  async #visible({ audited, triggerIds }: ChangeBatch): Promise<Change[]> {
    const objects =
      audited === 'many'
        ? this.#kinds().map((kind) => ({ kind, id: null }))
        : audited
            .filter((change) => this.#sees(change))
            .map(({ kind, id }) => ({ kind, id: idOf(id) }))
    const triggers = triggerIds === 'many' ? [null] : await this.#seenTriggers(triggerIds)
    return [...objects, ...triggers.map((id) => ({ kind: 'eventTrigger' as const, id }))]
  }

  #mayKnowOf(kind: ChangeKind) {
    return this.#caller.functions.has(FUNCTION_OF_KIND[kind] ?? 'VIEW_SCHEDULE')
  }

  #kinds() {
    return CHANGE_KINDS.filter((kind) => kind !== 'eventTrigger' && this.#mayKnowOf(kind))
  }

  /** Also who saw an object before the change is told, so that it goes from their lists. */
  #sees({ kind, isNew, ...change }: AuditChange) {
    if (!this.#mayKnowOf(kind)) return false
    const objects = objectKind(kind)
    if (!objects) return true
    const { scope } = this.#caller
    const isSeen = (locationId: number | null, professionalId: number | null) =>
      !findHidingProperty(objects, { locationId, professionalId } as unknown as StoredObject, scope)
    return (
      isSeen(change.locationId, change.professionalId) ||
      (!isNew && isSeen(change.oldLocationId, change.oldProfessionalId))
    )
  }

  async #seenTriggers(ids: number[]) {
    const { db, businessId, scope } = this.#caller
    if (ids.length === 0 || scope === null) return ids
    const seen = await listTriggersById(db, businessId, ids, scope)
    return seen.map((trigger) => trigger.eventTriggerId)
  }

  #write(text: string) {
    if (text === '' || this.body.writableEnded || this.body.destroyed) return
    this.body.write(text)
    if (this.body.readableLength + this.body.writableLength > MAX_UNREAD_BYTES) this.body.destroy()
  }
}

const idOf = (id: string) => (/^\d{1,15}$/.test(id) ? Number(id) : id)
