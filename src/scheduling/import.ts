import { BulkCall } from '../automation/approvals.ts'
import { OBJECT_KINDS, type ObjectKind } from '../contract/objects.ts'
import { isPlainObject } from '../contract/json.ts'
import type { Db } from '../database/database.ts'
import { RequestError } from '../errors.ts'
import {
  brokenConstraint,
  isDeadlock,
  isRefusedValue,
  isTooSlow,
} from '../database/postgres-errors.ts'
import { SettingsCache } from '../store/settings.ts'
import { saveBusinessLine } from './business-lines.ts'
import { checkHtmlOf } from './email-templates.ts'
import { saveDefinitionLine } from './definition-lines.ts'
import { saveFileLine } from './files.ts'
import { LineRefs } from './line-refs.ts'
import { saveObjects } from './save.ts'
import type { Saving } from './saving.ts'
import { saveStatusOf } from './statuses.ts'
import { saveSuppressionLine } from './suppression-lines.ts'

/** One line of an import: its object and its length in the file, or why it could not be read. */
export type Line =
  | { number: number; body: unknown; bytes?: number }
  | { number: number; fault: string }

export type Importing = {
  businessId: number
  user: string
  now: () => Temporal.Instant
  visibility?: Saving['visibility']
  /** The import is history, and causes no `…_CREATED` and `…_CHANGED` events. */
  history?: boolean
  /** When a line's object was really created, if that is known and trusted. */
  recordedAt?: Saving['recordedAt']
  /** Returns why the caller may not write this kind; undefined if it may. */
  refusalOf?: (kind: string) => string | undefined
  onRefused?: (line: number, reason: string) => void
  /** Called after every window with the number of lines that are done. */
  onProgress?: (lines: number) => void
}

export type Imported = {
  accepted: Record<string, number>
  refusedCount: number
  /** Its mails wait for this approval. */
  approvalId?: number
}

/** How many lines are saved together. A line may refer to another one of its window. */
export const WINDOW = 1_000

/**
 * The work for one window blocks the event loop, and its values go to the database in one message.
 * A usual line has about 250 bytes.
 */
const MAX_WINDOW_BYTES = 262_144

/** How often an import renews its approval. After a minute without renewal, the engine ends its count. */
const RENEW_EVERY_MS = 15_000

/** A line can have thousands of faults; a thousand such reasons would not fit into memory. */
const MAX_REASON_LENGTH = 2_000

/**
 * Saves the lines in windows, each kind of a window in one transaction, in the order in which they
 * refer to each other. A faulty line does not affect the others. The next window is read meanwhile.
 */
export async function importLines(
  db: Db,
  lines: AsyncIterable<Line[]> | Iterable<Line[]>,
  importing: Importing,
): Promise<Imported> {
  const bulkCall = new BulkCall(importing)
  const run = new Run({ ...importing, bulkCall }, (work) => db.transaction(work))
  let saving: Promise<void> = Promise.resolve()
  // Uses a timer, because the caller may pause between two windows for longer than the engine waits.
  const renewing = setInterval(() => void bulkCall.renew(db, importing.now()), RENEW_EVERY_MS)
  renewing.unref()
  try {
    for await (const window of windowsOf(lines)) {
      await saving
      saving = run.save(window)
      // Awaited above or after the loop; without this, a failure in between would be unhandled.
      saving.catch(() => {})
    }
    await saving
  } catch (error) {
    // Ends the count of what was saved so far. If this fails too, the engine does it.
    await saving.catch(() => {})
    await bulkCall.end(db, importing.now()).catch(() => {})
    throw error
  } finally {
    clearInterval(renewing)
  }
  const approvalId = await bulkCall.end(db, importing.now())
  return approvalId === undefined ? run.imported : { ...run.imported, approvalId }
}

/**
 * A dry run: saves in one transaction and rolls it back. It is not run again after a deadlock, because
 * the lines can be read only once.
 */
export async function tryLines(
  db: Db,
  lines: AsyncIterable<Line[]> | Iterable<Line[]>,
  importing: Importing,
): Promise<Imported> {
  class Tried extends Error {}
  let imported: Imported | undefined
  const everything = async (tx: Db) => {
    const run = new Run(importing, (work) => tx.attempt(work))
    try {
      for await (const window of windowsOf(lines)) await run.save(window)
    } catch (error) {
      throw isDeadlock(error) ? deadlocked() : error
    }
    imported = run.imported
    throw new Tried()
  }
  await db.transaction(everything).catch((error) => {
    if (!(error instanceof Tried)) throw error
  })
  return imported!
}

const deadlocked = () =>
  new RequestError(
    503,
    'The dry run ended in a deadlock with another change. Try again.',
    undefined,
    { 'retry-after': '1' },
  )

async function* windowsOf(lines: AsyncIterable<Line[]> | Iterable<Line[]>) {
  let window: Line[] = []
  let bytes = 0
  for await (const chunk of lines) {
    for (const line of chunk) {
      window.push(line)
      if ('body' in line) bytes += line.bytes ?? 0
      if (window.length < WINDOW && bytes < MAX_WINDOW_BYTES) continue
      yield window
      window = []
      bytes = 0
    }
  }
  if (window.length > 0) yield window
}

type Read = { number: number; body: Record<string, unknown> }
type Transact = <T>(work: (tx: Db) => Promise<T>) => Promise<T>

/** A dry run sends nothing, so it has no `bulkCall`. */
type Running = Importing & { bulkCall?: BulkCall }

class Run {
  readonly imported: Imported = { accepted: {}, refusedCount: 0 }
  readonly #importing: Running
  readonly #transact: Transact
  readonly #refs = new LineRefs()
  readonly #settings = new SettingsCache()
  #lines = 0

  constructor(importing: Running, transact: Transact) {
    this.#importing = importing
    this.#transact = transact
  }

  async save(window: Line[]) {
    const byKind = this.#sort(window)
    for (const kind of KINDS) {
      const lines = byKind.get(kind)
      if (lines) await this.#saveKind(kind, lines)
    }
    this.#lines += window.length
    this.#importing.onProgress?.(this.#lines)
  }

  #sort(window: Line[]) {
    const byKind = new Map<string, Read[]>()
    for (const line of window) {
      const fault = 'fault' in line ? line.fault : this.#faultOf(line.body)
      if (fault !== undefined) {
        this.#refuse(line.number, fault)
        continue
      }
      const { number, body } = line as Read
      const kind = body.kind as string
      const lines = byKind.get(kind)
      if (lines) lines.push({ number, body })
      else byKind.set(kind, [{ number, body }])
    }
    return byKind
  }

  #faultOf(body: unknown): string | undefined {
    if (!isPlainObject(body)) return 'must be a JSON object'
    const { kind } = body
    if (typeof kind !== 'string' || !KNOWN.has(kind))
      return `/kind: must be one of ${KINDS.join(', ')}`
    const { businessId = null } = body
    if (businessId !== null && businessId !== this.#importing.businessId)
      return '/businessId: must be your own business'
    return this.#importing.refusalOf?.(kind)
  }

  async #saveKind(kind: string, lines: Read[]) {
    const declared = OBJECT_KINDS.find((one) => one.kind === kind)
    if (!declared) {
      for (const line of lines) await this.#saveOther(kind, line)
      return
    }
    const ready = lines.filter((line) => {
      const fault = this.#refs.fill(declared, line.body)
      if (fault) this.#refuse(line.number, fault)
      return fault === undefined
    })
    if (ready.length > 0) await this.#saveBatch(declared, ready)
  }

  /** A batch that the database refuses, or that takes too long, is saved in halves. */
  async #saveBatch(kind: ObjectKind, batch: Read[]): Promise<void> {
    const bodies = batch.map((line) => line.body)
    const html = await checkHtmlOf(kind, bodies, this.#importing.businessId)
    try {
      const outcomes = await this.#transact((tx) =>
        saveObjects(tx, kind, bodies, { ...this.#saving(), html }),
      )
      outcomes.forEach((outcome, i) => {
        const { number, body } = batch[i]!
        if (outcome.refused) return this.#refuse(number, outcome.refused.message)
        this.#refs.keep(kind, body, outcome.object[kind.id] as number)
        this.#accept(kind.kind)
      })
    } catch (error) {
      const reason = reasonOf(error)
      if (batch.length === 1) {
        if (!reason) throw error
        return this.#refuse(batch[0]!.number, reason)
      }
      if (!reason && !isTooSlow(error)) throw error
      const middle = Math.ceil(batch.length / 2)
      await this.#saveBatch(kind, batch.slice(0, middle))
      await this.#saveBatch(kind, batch.slice(middle))
    }
  }

  async #saveOther(kind: string, { number, body }: Read) {
    try {
      const { kind: _kind, ...given } = body
      await this.#transact((tx) => OTHERS[kind]!(tx, given, this.#saving(), this.#refs))
      this.#accept(kind)
    } catch (error) {
      const reason = reasonOf(error)
      if (!reason) throw error
      this.#refuse(number, reason)
    }
  }

  #saving(): Saving {
    const {
      businessId,
      user,
      now,
      visibility = null,
      history = false,
      recordedAt,
      bulkCall,
    } = this.#importing
    return {
      businessId,
      user,
      now: now(),
      settings: this.#settings,
      visibility,
      history,
      areLines: true,
      ...(recordedAt && { recordedAt }),
      ...(bulkCall && { bulkCall }),
    }
  }

  #accept(kind: string) {
    this.imported.accepted[kind] = (this.imported.accepted[kind] ?? 0) + 1
  }

  #refuse(line: number, reason: string) {
    this.imported.refusedCount += 1
    this.#importing.onRefused?.(line, reason.slice(0, MAX_REASON_LENGTH))
  }
}

type Save = (tx: Db, body: Read['body'], saving: Saving, refs: LineRefs) => Promise<unknown>

/** Kinds that are saved line by line. */
const OTHERS: Record<string, Save> = {
  fileLibrary: saveFileLine,
  business: saveBusinessLine,
  status: (tx, body, saving) => saveStatusOf(tx, body, saving),
  eventDefinition: saveDefinitionLine,
  suppression: saveSuppressionLine,
}

/** Kinds come after those that they refer to. */
const KINDS = [
  'fileLibrary',
  'business',
  'status',
  ...OBJECT_KINDS.map(({ kind }) => kind),
  'eventDefinition',
  'suppression',
]
const KNOWN = new Set(KINDS)

function reasonOf(error: unknown): string | undefined {
  if (error instanceof RequestError && error.status < 500) return error.message
  if (brokenConstraint(error)?.includes('_external_id'))
    return 'another object of this kind has this externalId'
  return isRefusedValue(error) ? 'contradicts what is stored' : undefined
}
