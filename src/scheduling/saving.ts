import type { BulkCall } from '../automation/approvals.ts'
import type { ClassAnswer } from '../contract/fields.ts'
import type { RequestError } from '../errors.ts'
import type { StoredObject } from '../store/objects.ts'
import type { SettingsCache } from '../store/settings.ts'
import type { Visibility } from '../store/visibility.ts'
import type { HtmlChecks } from './email-templates.ts'

/** The user who changes data of a business, and when. */
export type Author = { businessId: number; user: string; now: Temporal.Instant }

export type Saving = Author & {
  settings: SettingsCache
  /** An object outside it is treated as missing. */
  visibility?: Visibility
  /** For templates: the result of `checkHtmlOf`. */
  html?: HtmlChecks
  /** Imported history: no events, since nothing was created or changed just now. */
  history?: boolean
  /** The bodies are lines of an import, which may name objects by the refs of other lines. */
  areLines?: boolean
  /** The import that the bodies are lines of: it may have to be approved. */
  bulkCall?: Pick<BulkCall, 'hold'>
  /** Set by a feed: the objects mirror it. Null: they mirror nothing any more. */
  feedId?: number | null
  /** Set by the link of a student, who may leave a class, also a mirrored one. */
  answers?: ClassAnswer[]
  /** When a new object was really created, if that is known and trusted. */
  recordedAt?: (body: Record<string, unknown>) => Temporal.Instant | undefined
}

export type SaveOutcome =
  | { refused: RequestError }
  | { refused?: never; object: StoredObject; before: StoredObject | undefined }

/** Checks an object under its lock, and throws if it may not be changed. */
export type Allow = (current: StoredObject | undefined) => void
