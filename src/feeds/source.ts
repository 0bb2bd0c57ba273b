import type { FeedConnection, FeedSource, FeedTest } from '../contract/feed.ts'
import type { Window } from './window.ts'

/*
 * The seam between feeds and the sources that they read. A source has resources (a CalDAV file, a UID of
 * an ICS file, a booking), and a resource has entries: one, or one for each occurrence of a series. A
 * source only reads: mapping, versions, disappearance and saving are the same for all of them.
 */

/** A person as a source names them. Absent texts are unknown. */
export type SourcePerson = {
  /** Their id in the source. */
  key?: string
  emailAddress?: string
  firstName?: string
  lastName?: string
  phone?: string
  language?: string
  timeZone?: string
}

/** A service, member of staff or location as a source names it. */
export type SourceThing = { key?: string; name?: string; emailAddress?: string }

/** An attendee of a calendar event: item of ATTENDEE. */
export type Attendee = SourcePerson & {
  /** CUTYPE; absent means INDIVIDUAL. */
  type?: 'INDIVIDUAL' | 'GROUP' | 'RESOURCE' | 'ROOM' | 'UNKNOWN'
  /** PARTSTAT in capitals. */
  participation?: string
}

/** An appointment, or one occurrence of a series, as a source states it now. */
export type Entry = {
  /** Unique in the feed and stable: a booking's id, a UID, or a UID with the original start. */
  key: string
  /** The UID of iCalendar, by which two feeds recognise the same event; null if the source has none. */
  uid: string | null
  /** The calendar of the source that it is in; null if the source has none. */
  calendar: string | null
  /** Resolved to instants by the source. Null: the entry cannot be read, and `problem` says why. */
  start: Temporal.Instant | null
  /** Null: the source states no end. */
  end: Temporal.Instant | null
  allDay: boolean
  /**
   * A word that matching/status-words.ts or the `statusMap` of the feed knows; null means OPEN. Calendars pass
   * null for CONFIRMED and TENTATIVE, which say nothing about the client.
   */
  status: string | null
  /** Null if the entry is private: then nothing of it is stored. */
  title: string | null
  /** CLASS other than PUBLIC. */
  isPrivate: boolean
  /** TRANSP: false if the time is shown as free. */
  isBusy: boolean
  /** Clients that the source itself calls clients (a booking's customer). */
  clients: SourcePerson[]
  /** Attendees of a calendar event, of whom clients are chosen; the organizer is not among them. */
  attendees: Attendee[]
  organizer: SourcePerson | null
  service: SourceThing | null
  staff: SourceThing | null
  location: SourceThing | null
  categories: string[]
  /** The addresses that the description names. Descriptions themselves are never passed on. */
  addressesInText: string[]
  /** Several clients share one class (seats of Cal.com). */
  isClass: boolean
  createdTime: Temporal.Instant | null
  /** When the source changed it last, if it says so. */
  changedTime: Temporal.Instant | null
  /** The entry is HELD or SKIPPED whatever its other values are. */
  problem: EntryProblem | null
}

/** Why an entry cannot be mirrored. HELD: a person could decide; SKIPPED: it is not an appointment. */
export type EntryProblem = { state: 'HELD' | 'SKIPPED'; code: string; reason: string }

/** What belongs together in the source and has one version. Its entries replace the earlier ones. */
export type Resource = {
  key: string
  /** The calendar of the source; null if the source has none. */
  calendar: string | null
  /** An etag, update time, number or digest. The same version means the same content. */
  version: string
  entries: Entry[]
  /** A series that goes on beyond the window: when to read it again. */
  readAgainAt: Temporal.Instant | null
}

/** A part of what a pull reads. A large answer is several parts. */
export type PulledPart = {
  /** New and changed resources. */
  resources: Resource[]
  /** Keys of resources that the source states to be deleted. */
  deleted: string[]
}

/** How a pull ended. It is stored with the last batch. */
export type PullEnd = {
  /** Passed to the next pull; JSON. */
  cursor: unknown
  /** The keys of all resources, if the pull was a full listing: others are absent. Null: changes only. */
  complete: Listing | null
}

/** Parts while a source is read, and then the end. */
export type Pulling = AsyncGenerator<PulledPart, PullEnd>

/** All resources of the source, or those with an entry that starts in `[from, to)`. */
export type Listing = {
  keys: Set<string>
  window: Window | null
}

/** All resources with their versions. */
export type FullListing = Pick<Listing, 'window'> & {
  versions: Map<string, string>
  /** Their content, if the listing has it; null: `read` brings it. */
  resources: Resource[] | null
}

/** What a source needs to read one account. */
export type SourceAccount = {
  businessId: number
  connection: FeedConnection
  /** The secret in plain text; null if the feed has none. */
  secret: string | null
  /** The zone of floating times: that of the default location, else of the business. */
  zone: string
  /** Entries outside are not mirrored. */
  window: Window
  now: Temporal.Instant
  /** Aborted if the pull takes too long, the worker lost its lease, or the node stops. */
  signal: AbortSignal
}

export type Pull = {
  /** Of the last complete pull; null: read everything. */
  cursor: unknown
  /** The version of a resource that was read before: resources with the same version are not read again. */
  versionOf(key: string): string | undefined
  /** Resources to read again, though their version is the same: see `readAgainAt`. */
  again: Set<string>
}

/** How a source signs what it sends to `POST /feed/hook/{token}`. */
export type SourceHook = {
  /** `secrets`: those that are valid now. */
  isSigned(
    headers: Record<string, string | string[] | undefined>,
    body: Buffer,
    secrets: string[],
    now: Temporal.Instant,
  ): boolean
  /** The resources that the body is about, if it says so. */
  keysIn?(body: unknown): string[]
}

export type Source = {
  source: FeedSource
  /** The default and the limits of `pullMinutes`; null: the source sends, and is never pulled. */
  minutes: { usual: number; least: number } | null
  hook?: SourceHook
  /** Those of the chosen calendars that the account does not have. Throws a `SourceError` if it cannot say. */
  findMissingCalendars?(account: SourceAccount): Promise<string[]>
  /** Never throws for a source that fails: `ok` is false, and a check says what to do. */
  test(account: SourceAccount): Promise<FeedTest>
  /** Yields parts and returns the end. Throws a `SourceError` if the answer is not whole. */
  pull?(account: SourceAccount, pull: Pull): Pulling
  /** Everything, by another request than `pull` uses: for the reconciliation. */
  list?(account: SourceAccount): Promise<FullListing>
  /** Asks for single resources by key. 'GONE': the source states that it is deleted. Absent: it cannot say. */
  read?(account: SourceAccount, keys: string[]): Promise<Map<string, Resource | 'GONE'>>
}

/** More resources of one source are refused. */
export const MAX_RESOURCES = 50_000
/** Of one event or booking. */
export const MAX_ATTENDEES = 200
/** Characters of one event with its changed occurrences. */
export const MAX_RESOURCE_LENGTH = 1_048_576

/** Why a source could not be read. Nothing changes then. */
export class SourceError extends Error {
  readonly kind: 'LOGIN' | 'UNREACHABLE' | 'ANSWER' | 'LIMIT'
  readonly retryAfterSeconds: number | undefined

  /** `message` is one sentence for the owner, with what to do. */
  constructor(
    kind: SourceError['kind'],
    message: string,
    more: { retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause })
    this.kind = kind
    this.retryAfterSeconds = more.retryAfterSeconds
  }
}
