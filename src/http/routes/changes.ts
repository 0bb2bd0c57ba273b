import { PassThrough } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Caller } from '../../auth/caller.ts'
import type { SecurityFunction } from '../../auth/permissions.ts'
import { monotonicMs } from '../../clock.ts'
import { CHANGE_KINDS, type Change, type ChangeKind } from '../../contract/change.ts'
import { objectKind } from '../../contract/objects.ts'
import { ChangePosition, ChangedSince } from '../../contract/page.ts'
import { RequestError } from '../../errors.ts'
import {
  hintChanges,
  hintManyChangedTriggers,
  listUnseenChanges,
  type AuditChange,
  type SeenChanges,
} from '../../store/changes.ts'
import { readHorizon } from '../../store/change-positions.ts'
import { listTriggersById } from '../../store/event-triggers.ts'
import { findHidingProperty } from '../../store/visibility.ts'
import { readSeenUntil, writePosition } from '../server/change-list.ts'
import { rereadCaller } from '../server/authenticate.ts'
import { ChangeFeed, MAX_NAMED_CHANGES, type ChangeBatch } from './change-feed.ts'
import { isBelow, isSeen, readSeen, SEEN_PATTERN, unite, writeSeen } from './seen-changes.ts'
import { operation, type Routes } from '../server/services.ts'
import { Named } from '../../contract/schema.ts'

const MAX_STREAMS_PER_CREDENTIAL = 20
const HEARTBEAT_MS = 15_000
/** A stream that is revoked ends within this time. */
const TRUSTED_MS = 1_000
/** A client that stops reading is disconnected; it can resume from its last event. */
const MAX_UNREAD_BYTES = 262_144
/** How long a browser waits before it reconnects. */
const RETRY_MS = 3_000

const DESCRIPTION = `The connection stays open. Each event holds the kind and the id of a changed object, nothing else; read the object for its values. \`id: null\` means that any number of objects of this kind may have changed. Only changes that the caller may read are sent.

Each change is sent when its transaction has committed, usually within a second. After a lost connection send the last \`id:\` as \`Last-Event-ID\`, as browsers do, to resume there. With \`changedSince\` it begins after a position. A comment every 15 s keeps the connection alive. The stream ends when the credential is revoked. A credential can open ${MAX_STREAMS_PER_CREDENTIAL} streams; one more is 429.`

const CurrentPosition = Named('CurrentPosition', {
  position: ChangePosition('Send it as `changedSince` to list what is changed from now on.'),
  nextPosition: ChangePosition('The same, under the name that it has in the pages of lists.'),
})

/** See docs/decisions/0009-change-stream.md. */
export const changes: Routes = async (app, services) => {
  const { database, log } = services
  const feed = new ChangeFeed(database, (err) =>
    log.warn({ err }, 'reading the change feed failed'),
  )
  const streams = new Set<ChangeStream>()
  app.addHook('preClose', async () => {
    for (const stream of streams) stream.end()
    await feed.close()
  })

  app.get(
    '/changes/position',
    operation('getChangePosition', 'Read the position that lists of later changes begin at', {
      config: { scope: 'scheduling:read', function: 'VIEW_SCHEDULE' },
      tags: ['changes'],
      description:
        'Take it before you read everything, then send it as `changedSince` to any list. It is behind transactions that are still open, so a list may repeat objects that you have read.',
      response: { 200: CurrentPosition },
    }),
    async ({ caller }) => {
      const position = writePosition(caller, await readHorizon(caller.db))
      return { position, nextPosition: position }
    },
  )

  app.get(
    '/changes',
    {
      ...operation('streamChanges', 'Stream changes as server-sent events', {
        config: { scope: 'scheduling:read', function: 'VIEW_SCHEDULE', quiet: true },
        tags: ['changes'],
        description: DESCRIPTION,
        querystring: Type.Object({
          changedSince: ChangedSince(
            'A position: `nextPosition` of a list, or the answer of `GET /changes/position`. The changes after it are sent first. `Last-Event-ID` counts more.',
          ),
        }),
        headers: Type.Object({
          'last-event-id': Type.Optional(
            Type.String({
              pattern: SEEN_PATTERN,
              description: 'The last `id:` that was received.',
            }),
          ),
        }),
        response: {
          200: {
            description: 'Unnamed events, each with a JSON object as data.',
            content: {
              'text/event-stream': {
                schema: Type.String({
                  examples: [
                    'id: 9f86d081884c7d659a2feaa0c55ad015-8127-8125\ndata: {"kind":"calendar","id":17}\n\n',
                  ],
                }),
              },
            },
          },
        },
      }),
      exposeHeadRoute: false,
    },
    async (request: FastifyRequest<{ Querystring: Start }>, reply: FastifyReply) => {
      const since = lastEventIdOf(request) ?? (await readStart(request))
      refuseTooManyStreams(streams, request.caller)
      const stream = new ChangeStream(request.caller, () => rereadCaller(request, services))
      streams.add(stream)
      stream.body.once('close', () => streams.delete(stream))
      await stream.start(feed, since)
      return reply
        .type('text/event-stream')
        .header('x-accel-buffering', 'no') // a proxy must not buffer events
        .send(stream.body)
    },
  )
}

function refuseTooManyStreams(streams: Set<ChangeStream>, { credential }: Caller) {
  const open = [...streams].filter((stream) => stream.credential === credential).length
  if (open < MAX_STREAMS_PER_CREDENTIAL) return
  const detail = `This credential has ${open} open streams of changes. Close one first.`
  throw new RequestError(429, detail, undefined, { 'retry-after': '60' })
}

function lastEventIdOf({ headers }: Pick<FastifyRequest, 'headers'>) {
  const id = headers['last-event-id']
  return typeof id === 'string' ? id : undefined
}

type Start = { changedSince?: string }

/** The id that an event at the given position would have. */
async function readStart({ caller, query }: FastifyRequest<{ Querystring: Start }>) {
  if (query.changedSince === undefined) return undefined
  return writeSeen(await readSeenUntil(caller.db, caller, query.changedSince))
}

/** Notifies the streams of the business, on all nodes, after every change over HTTP. */
export function hintAfterChanges(app: FastifyInstance) {
  app.addHook('onResponse', async ({ method, caller, routeOptions }, { statusCode }) => {
    if (!caller || method === 'GET' || statusCode >= 300) return
    // Triggers and emails are not audited, so the hint has to name them.
    const isByHand = /^\/(eventTriggers|emails)\b/.test(routeOptions.url ?? '')
    const hint = isByHand ? hintManyChangedTriggers : hintChanges
    hint(caller.db, caller.businessId)
  })
}

/** The function that a caller needs to receive changes of a kind. */
const FUNCTION_OF_KIND: Partial<Record<ChangeKind, SecurityFunction>> = {
  business: 'VIEW_BUSINESS',
  eventDefinition: 'VIEW_DEFINITIONS',
  eventAction: 'VIEW_DEFINITIONS',
  emailCategory: 'VIEW_EMAILS',
  emailTemplate: 'VIEW_EMAILS',
}

/** One connection. Writes the changes that its caller may read as server-sent events. */
class ChangeStream {
  readonly body = new PassThrough()
  readonly credential: string
  readonly #reread: () => Promise<Caller | undefined>
  #caller: Caller
  #checkedAt = monotonicMs()
  #checking: NodeJS.Timeout | undefined
  /** What the client has seen. Another node, or the feed, may have seen less. */
  #seen: SeenChanges | undefined
  /** Batches are written one after the other. */
  #writing: Promise<void> = Promise.resolve()

  constructor(caller: Caller, reread: () => Promise<Caller | undefined>) {
    this.#caller = caller
    this.credential = caller.credential
    this.#reread = reread
  }

  /** If `lastEventId` is given, sends the changes that were not seen with it first. */
  async start(feed: ChangeFeed, lastEventId: string | undefined) {
    const started = Promise.withResolvers<void>()
    this.#writing = started.promise
    try {
      const { businessId } = this.#caller
      const { seen, stop } = await feed.listen(businessId, (batch) => this.#send(batch))
      this.body.once('close', stop)
      this.#seen = lastEventId === undefined ? seen() : readSeen(lastEventId)
      this.#write(`retry: ${RETRY_MS}\nid: ${lastEventId ?? writeSeen(this.#seen)}\n\n`)
      if (lastEventId !== undefined) await this.#writeChanges(await this.#readMissed(this.#seen))
      started.resolve()
      const heartbeat = setInterval(() => this.#sendHeartbeat(seen()), HEARTBEAT_MS)
      this.body.once('close', () => {
        clearInterval(heartbeat)
        clearTimeout(this.#checking)
      })
    } catch (error) {
      this.body.destroy()
      throw error
    }
  }

  async #readMissed(seen: SeenChanges): Promise<ChangeBatch> {
    const { businessId, db } = this.#caller
    const limit = MAX_NAMED_CHANGES + 1
    const { changes, now } = await listUnseenChanges(db, businessId, { seen, limit })
    const isOfAnotherHistory = seen.epoch !== now.epoch || isBelow(now.next, seen.next)
    const isMany = isOfAnotherHistory || changes.length > MAX_NAMED_CHANGES
    return { audited: isMany ? 'many' : changes, triggerIds: 'many', seen: now }
  }

  end() {
    this.body.end()
  }

  #send(batch: ChangeBatch) {
    this.#enqueue(() => this.#writeChanges(batch))
  }

  async #writeChanges({ audited, triggerIds, seen }: ChangeBatch) {
    const before = this.#seen!
    const unseen =
      audited === 'many' ? audited : audited.filter(({ changedIn }) => !isSeen(before, changedIn))
    const changes = await this.#visible({ audited: unseen, triggerIds })
    this.#seen = unite(before, seen)
    // Only the last event has the id: a client that receives a part resumes before the batch.
    const last = changes.length - 1
    const events = changes.map((change, index) => {
      const id = index === last ? `id: ${writeSeen(this.#seen!)}\n` : ''
      return `${id}data: ${JSON.stringify(change)}\n\n`
    })
    this.#write(events.join(''))
  }

  #sendHeartbeat(seen: SeenChanges) {
    this.#enqueue(async () => {
      this.#seen = unite(this.#seen!, seen)
      this.#write(`: heartbeat\nid: ${writeSeen(this.#seen)}\n\n`)
    })
  }

  /** Writes after the previous batch. Ends the stream if the caller has lost its permission. */
  #enqueue(write: () => Promise<void>) {
    this.#writing = this.#writing
      .then(async () => {
        if (await this.#isStillAllowed()) await write()
        else this.end()
      })
      // The client resumes from the last id that it received.
      .catch(() => this.end())
  }

  /** A sign-out or a revocation also causes a batch, which ends the stream here. */
  async #isStillAllowed() {
    const age = monotonicMs() - this.#checkedAt
    if (age < TRUSTED_MS) {
      this.#checking ??= setTimeout(() => {
        this.#checking = undefined
        this.#enqueue(async () => {})
      }, TRUSTED_MS - age)
      return true
    }
    const caller = await this.#reread()
    if (!caller) return false
    this.#caller = caller
    this.#checkedAt = monotonicMs()
    return true
  }

  async #visible({ audited, triggerIds }: Omit<ChangeBatch, 'seen'>): Promise<Change[]> {
    const objects =
      audited === 'many'
        ? this.#kinds().map((kind) => ({ kind, id: null }))
        : audited
            .filter((change) => this.#isVisible(change))
            .map(({ kind, id }) => ({ kind, id: idOf(id) }))
    const triggers = triggerIds === 'many' ? [null] : await this.#visibleTriggers(triggerIds)
    return [...objects, ...triggers.map((id) => ({ kind: 'eventTrigger' as const, id }))]
  }

  #mayReadKind(kind: ChangeKind) {
    return this.#caller.functions.has(FUNCTION_OF_KIND[kind] ?? 'VIEW_SCHEDULE')
  }

  #kinds() {
    return CHANGE_KINDS.filter((kind) => kind !== 'eventTrigger' && this.#mayReadKind(kind))
  }

  /** A change after which the caller no longer sees the object is sent too, so that clients remove it. */
  #isVisible({ kind, isNew, ...change }: AuditChange) {
    if (!this.#mayReadKind(kind)) return false
    const objects = objectKind(kind)
    if (!objects) return true
    const { visibility } = this.#caller
    const isSeen = (locationId: number | null, professionalId: number | null) =>
      !findHidingProperty(objects, { locationId, professionalId }, visibility)
    return (
      isSeen(change.locationId, change.professionalId) ||
      (!isNew && isSeen(change.oldLocationId, change.oldProfessionalId))
    )
  }

  async #visibleTriggers(ids: number[]) {
    const { db, businessId, visibility } = this.#caller
    if (ids.length === 0 || visibility === null) return ids
    const seen = await listTriggersById(db, businessId, ids, visibility)
    return seen.map((trigger) => trigger.eventTriggerId)
  }

  #write(text: string) {
    if (text === '' || this.body.writableEnded || this.body.destroyed) return
    this.body.write(text)
    if (this.body.readableLength + this.body.writableLength > MAX_UNREAD_BYTES) this.body.destroy()
  }
}

const idOf = (id: string) => (/^\d{1,15}$/.test(id) ? Number(id) : id)
