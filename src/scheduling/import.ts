import { setImmediate } from 'node:timers/promises'
import { BulkCall, BulkTrial, type Planned } from '../automation/approvals.ts'
import { OBJECT_KINDS, objectKind, type ObjectKind } from '../contract/objects.ts'
import { isPlainObject } from '../contract/json.ts'
import type { Db } from '../database/database.ts'
import { runAndRollBack } from '../database/roll-back.ts'
import { RequestError } from '../errors.ts'
import { brokenConstraint, isRefusedValue, isTooSlow } from '../database/postgres-errors.ts'
import { getBusiness, type BusinessRow } from '../store/businesses.ts'
import { idIn } from '../store/objects.ts'
import { SettingsCache } from '../store/settings.ts'
import { WorkQueue } from '../work-queue.ts'
import { saveBusinessLine } from './business-lines.ts'
import { checkHtmlOf, type HtmlChecks } from './email-templates.ts'
import { saveDefinitionLine } from './definition-lines.ts'
import { EarlierLines, type LineBody } from './earlier-lines.ts'
import { saveFileLine } from './files.ts'
import { LineRefs } from './line-refs.ts'
import { withKnownObjects } from './origins.ts'
import { saveObjects } from './save.ts'
import type { SaveOutcome, Saving } from './saving.ts'
import { saveStatusOf } from './statuses.ts'
import { saveSuppressionLine } from './suppression-lines.ts'

/** One line of an import: its object and its length in the file, or why it could not be read. */
export type ImportLine =
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
  /** Called with what a transaction has saved, before it commits. Not in a dry run. */
  onSaved?: (tx: Db, kind: ObjectKind, outcomes: SaveOutcome[]) => Promise<void>
  onRefused?: (line: number, reason: string) => void
  /** Called after every window with the number of lines that are done. */
  onProgress?: (lines: number) => void
}

export type Imported = {
  accepted: Record<string, number>
  refusedCount: number
  /** How many accepted lines create an object, change one, or change nothing. */
  changes: Record<string, Changes>
  /** Only of a dry run. */
  planned?: Planned
  /** Its mails wait for this approval. */
  approvalId?: number
}

type Changes = { created: number; changed: number; unchanged: number }

/** How many lines are saved together. A line may refer to another one of its window. */
export const WINDOW = 1_000

/**
 * The work for one window blocks the event loop, and its values go to the database in one message.
 * A usual line has about 250 bytes.
 */
const MAX_WINDOW_BYTES = 262_144

/** Imports of one business take turns: together they use as much of the processor as one of them. */
const windows = new WorkQueue({ total: Infinity, perBusiness: 1 })

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
  lines: AsyncIterable<ImportLine[]> | Iterable<ImportLine[]>,
  importing: Importing,
): Promise<Imported> {
  const bulkCall = new BulkCall(importing)
  const run = new Run({ ...importing, bulkCall }, db)
  let saving: Promise<void> = Promise.resolve()
  // Uses a timer, because the caller may pause between two windows for longer than the engine waits.
  const renewing = setInterval(() => void bulkCall.renew(db, importing.now()), RENEW_EVERY_MS)
  renewing.unref()
  try {
    for await (const window of windowsOf(lines)) {
      await saving
      saving = windows.run(importing, () => run.save(window))
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

/** A dry run: the same transactions as the import, each of which is rolled back. */
export async function tryLines(
  db: Db,
  lines: AsyncIterable<ImportLine[]> | Iterable<ImportLine[]>,
  importing: Importing,
): Promise<Imported> {
  const run = new Run(importing, db, new EarlierLines())
  for await (const window of windowsOf(lines)) await windows.run(importing, () => run.save(window))
  return { ...run.imported, planned: run.planned }
}

async function* windowsOf(lines: AsyncIterable<ImportLine[]> | Iterable<ImportLine[]>) {
  let window: ImportLine[] = []
  let bytes = 0
  for await (const chunk of lines) {
    for (const line of chunk) {
      window.push(line)
      if ('body' in line) bytes += line.bytes ?? 0
      if (window.length < WINDOW && bytes < MAX_WINDOW_BYTES) continue
      // A window whose lines are all refused waits for nothing else: other requests run now.
      await setImmediate()
      yield window
      window = []
      bytes = 0
    }
  }
  if (window.length > 0) yield window
}

type Read = { number: number; body: LineBody }

/** A dry run sends nothing, so it has no `bulkCall`. */
type Running = Importing & { bulkCall?: BulkCall }

class Run {
  readonly imported: Imported = { accepted: {}, refusedCount: 0, changes: {} }
  readonly planned: Planned = { triggers: 0, mailsAtOnce: 0 }
  readonly #importing: Running
  readonly #db: Db
  readonly #earlier: EarlierLines | undefined
  readonly #refs = new LineRefs()
  readonly #settings = new SettingsCache()
  #business: BusinessRow | undefined
  #lines = 0

  /** With `earlier` it is a dry run. */
  constructor(importing: Running, db: Db, earlier?: EarlierLines) {
    this.#importing = importing
    this.#db = db
    this.#earlier = earlier
  }

  async save(window: ImportLine[]) {
    const byKind = this.#sort(window)
    for (const kind of KINDS) {
      const lines = byKind.get(kind)
      if (lines) await this.#saveKind(kind, lines)
    }
    this.#lines += window.length
    this.#importing.onProgress?.(this.#lines)
  }

  #sort(window: ImportLine[]) {
    const byKind = new Map<string, Read[]>()
    for (const line of window) {
      const fault = 'fault' in line ? line.fault : this.#faultOf(line.body)
      if (fault !== undefined) {
        this.#refuse(line.number, fault)
        continue
      }
      const { number, body } = line as Read
      const { kind } = body
      const lines = byKind.get(kind)
      if (lines) lines.push({ number, body })
      else byKind.set(kind, [{ number, body }])
    }
    return byKind
  }

  #faultOf(body: unknown): string | undefined {
    if (!isPlainObject(body)) return 'must be a JSON object'
    const { kind } = body
    if (typeof kind !== 'string' || !KNOWN.has(kind)) return UNKNOWN_KIND
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
      const filled = this.#refs.fill(declared, line.body)
      if ('fault' in filled) this.#refuse(line.number, filled.fault)
      return 'body' in filled
    })
    const known = await this.#withKnownObjects(declared, ready)
    if (known.length > 0) await this.#saveBatch(declared, known)
  }

  async #withKnownObjects(kind: ObjectKind, lines: Read[]) {
    if (lines.every(({ body }) => body.origin === undefined)) return lines
    this.#business ??= await getBusiness(this.#db, this.#importing.businessId)
    const bodies = lines.map(({ body }) => body)
    const found = await withKnownObjects(this.#db, kind, bodies, this.#business)
    return lines.flatMap(({ number }, i) => {
      const one = found[i]!
      if ('body' in one) return { number, body: one.body }
      this.#refuse(number, one.fault)
      return []
    })
  }

  /** A batch that the database refuses, or that takes too long, is saved in halves. */
  async #saveBatch(kind: ObjectKind, batch: Read[]): Promise<void> {
    const bodies = batch.map((line) => line.body)
    const html = await checkHtmlOf(kind, bodies, this.#importing.businessId)
    try {
      const { outcomes, planned } = await this.#transact(bodies, (tx) =>
        this.#saveAndCount(tx, kind, bodies, html),
      )
      this.planned.triggers += planned?.triggers ?? 0
      this.planned.mailsAtOnce += planned?.mailsAtOnce ?? 0
      outcomes.forEach((outcome, i) => {
        const { number, body } = batch[i]!
        if (outcome.refused) return this.#refuse(number, outcome.refused.message)
        this.#refs.keep(kind, body, idIn(kind, outcome.object))
        this.#accept(body)
        this.#countChange(kind.kind, outcome)
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

  /** A dry run counts what its lines would plan and send. */
  async #saveAndCount(tx: Db, kind: ObjectKind, bodies: LineBody[], html: HtmlChecks) {
    if (!this.#earlier) {
      const outcomes = await this.#saveBodies(tx, kind, bodies, html)
      await this.#importing.onSaved?.(tx, kind, outcomes)
      return { outcomes }
    }
    const trial = new BulkTrial(this.#importing)
    const outcomes = await this.#saveBodies(tx, kind, bodies, html, trial)
    return { outcomes, planned: await trial.count(tx) }
  }

  #countChange(kind: string, outcome: SaveOutcome) {
    if (outcome.refused) return
    const changes = (this.imported.changes[kind] ??= { created: 0, changed: 0, unchanged: 0 })
    const isSame = outcome.object === outcome.before
    changes[isSame ? 'unchanged' : outcome.before ? 'changed' : 'created'] += 1
  }

  async #saveOther(kind: string, { number, body }: Read) {
    try {
      await this.#transact([body], (tx) => this.#saveBody(tx, kind, body))
      this.#accept(body)
    } catch (error) {
      const reason = reasonOf(error)
      if (!reason) throw error
      this.#refuse(number, reason)
    }
  }

  /** A dry run saves the earlier lines that these ones name again, and rolls everything back. */
  async #transact<T>(bodies: LineBody[], work: (tx: Db) => Promise<T>): Promise<T> {
    if (!this.#earlier) return this.#db.transaction(work)
    const needed = Map.groupBy(this.#earlier.namedBy(bodies), ({ kind }) => kind)
    const templates = needed.get('emailTemplate') ?? []
    const html = await checkHtmlOf(
      objectKind('emailTemplate')!,
      templates,
      this.#importing.businessId,
    )
    return runAndRollBack(this.#db, async (tx) => {
      for (const kind of KINDS) await this.#saveAgain(tx, kind, needed.get(kind) ?? [], html)
      return work(tx)
    })
  }

  /** Lines that were accepted before; the objects have new ids now. */
  async #saveAgain(tx: Db, name: string, bodies: LineBody[], html: HtmlChecks) {
    const kind = objectKind(name)
    if (!kind) {
      for (const body of bodies) await this.#saveBody(tx, name, body)
      return
    }
    for (let at = 0; at < bodies.length; at += WINDOW) {
      const some = bodies.slice(at, at + WINDOW)
      const outcomes = await this.#saveBodies(tx, kind, some, html)
      outcomes.forEach((outcome, i) => {
        if (!outcome.refused) this.#refs.keep(kind, some[i]!, idIn(kind, outcome.object))
      })
    }
  }

  #saveBodies(tx: Db, kind: ObjectKind, bodies: LineBody[], html: HtmlChecks, trial?: BulkTrial) {
    const filled = bodies.map((body) => ({ body, ...this.#refs.fill(kind, body) }).body)
    const counting = trial ? { bulkCall: trial } : {}
    return saveObjects(tx, kind, filled, { ...this.#saving(), ...counting, html })
  }

  #saveBody(tx: Db, kind: string, { kind: _kind, ...given }: LineBody) {
    return OTHERS[kind]!(tx, given, this.#saving(), this.#refs)
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
      // Settings of a transaction that was rolled back are not those of the next one.
      settings: this.#earlier ? new SettingsCache() : this.#settings,
      visibility,
      history,
      areLines: true,
      ...(recordedAt && { recordedAt }),
      ...(bulkCall && { bulkCall }),
    }
  }

  #accept(body: LineBody) {
    const { kind } = body
    this.imported.accepted[kind] = (this.imported.accepted[kind] ?? 0) + 1
    this.#earlier?.keep(body)
  }

  #refuse(line: number, reason: string) {
    this.imported.refusedCount += 1
    this.#importing.onRefused?.(line, reason.slice(0, MAX_REASON_LENGTH))
  }
}

type Save = (
  tx: Db,
  body: Record<string, unknown>,
  saving: Saving,
  refs: LineRefs,
) => Promise<unknown>

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
const UNKNOWN_KIND = `/kind: must be one of ${KINDS.join(', ')}`

function reasonOf(error: unknown): string | undefined {
  if (error instanceof RequestError && error.status < 500) return error.message
  if (brokenConstraint(error)?.includes('_external_id'))
    return 'another object of this kind has this externalId'
  return isRefusedValue(error) ? 'contradicts what is stored' : undefined
}
