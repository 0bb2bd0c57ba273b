import type { Answer } from '../../src/client/client.ts'
import type { SavePlan } from '../../src/contract/save-plan.ts'

export type RecordId = number | string

/** A record as it was read, with its version for `If-Match`. */
export type Stored<Item> = { item: Item; etag: string | null }

export type SaveRequest<Draft> = {
  /** Undefined creates the record. */
  id: RecordId | undefined
  draft: Draft
  /** The fields of the stored record; those of an empty form for a new one. */
  base: Draft
  /** The fields of the draft that differ from `base`. */
  changes: Partial<Draft>
  /** A stale `ifMatch` is answered with 412. */
  options: { ifMatch: string | null; idempotencyKey?: string; keepalive?: boolean }
}

/** How one kind of record is read, edited and saved. */
export type RecordKind<Item, Draft extends object> = {
  /** The first parts of the query key. Live updates refresh the keys that they name. */
  queryKey: readonly string[]
  idOf: (item: Item) => RecordId
  /** The fields of the form; undefined: those of a new record. */
  draftOf: (item: Item | undefined) => Draft
  read: (id: RecordId, signal?: AbortSignal) => Promise<Stored<Item>>
  save: (request: SaveRequest<Draft>) => Promise<Stored<Item>>
  /** Fields that form one setting. Merging must not mix those of two versions. */
  settings?: readonly (readonly (keyof Draft & string)[])[]
  /** Saving can send, move or cancel mails, so a merged version is shown before it is saved. */
  hasEffects?: boolean
  /** What saving would do to messages. Forms show it above their button. */
  plan?: RecordPlan<Draft>
}

export type RecordPlan<Draft> = {
  /** Only these fields matter. Default: all. */
  fields?: readonly (keyof Draft & string)[]
  /** False while the service would refuse it, or without an effect. */
  isAsked: (draft: Draft, id: RecordId | undefined) => boolean
  read: (
    changes: Partial<Draft>,
    id: RecordId | undefined,
    signal: AbortSignal,
  ) => Promise<SavePlan>
}

/** A new one has no effect yet. */
export const isStored = (_draft: unknown, id: RecordId | undefined) => id !== undefined

/** These fields of a new one are required. */
export const hasAll =
  <Draft extends object>(...required: (keyof Draft & string)[]) =>
  (draft: Draft) =>
    required.every((name) => (draft[name] ?? null) !== null)

/** Reads exactly the fields of `empty`, which has the values of a new record. */
export const pickFields =
  <Draft extends object>(empty: Draft) =>
  (item: object | undefined): Draft => {
    const values = new Map<string, unknown>(Object.entries(item ?? {}))
    const fields = Object.entries(empty).map(([name, value]) => [name, values.get(name) ?? value])
    return Object.fromEntries(fields) as Draft
  }

/** The answer with its version. */
export async function storedOf<Item>(answer: Answer<Item>): Promise<Stored<Item>> {
  const { body, response } = await answer.withResponse()
  return { item: body, etag: response.headers.get('etag') }
}
