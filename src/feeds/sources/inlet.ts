import { InletEntry } from '../../contract/feed.ts'
import { findFaults } from '../../contract/find-faults.ts'
import type { Fault } from '../../errors.ts'
import type { Entry, Resource, Source, SourcePerson } from '../source.ts'
import { entryWithout } from '../stored-entry.ts'
import { momentOf } from './entries.ts'
import { isStandardSigned } from './signatures.ts'

/** The source that sends its entries itself: `POST /feed/{id}/entries`, or a signed webhook. */
export const inlet: Source = {
  source: 'INLET',
  minutes: null,
  hook: { isSigned: isStandardSigned },
  test: async () => {
    const detail = 'The source sends its entries: POST /feed/{feedId}/entries.'
    const checks = [{ check: 'INLET', ok: true, detail }]
    return { ok: true, checks, calendars: [], otherHosts: [] }
  },
}

/** An entry that was sent, as a resource of its own; undefined entries mean that it was deleted. */
export type SentEntry = { key: string; version: string; resource: Resource | undefined }

/** Reads one entry of a body, or says what is wrong with it. */
export function readSentEntry(given: unknown): SentEntry | { faults: Fault[] } {
  const faults = findFaults(InletEntry, given)
  if (faults.length > 0) return { faults }
  const sent = given as InletEntry
  const { key } = sent
  const version = String(sent.version)
  if (sent.deleted) return { key, version, resource: undefined }
  const times = timeFaults(sent)
  if (times.length > 0) return { faults: times }
  const entry = entryOf(sent)
  return {
    key,
    version,
    resource: { key, calendar: null, version, entries: [entry], readAgainAt: null },
  }
}

function timeFaults({ startTime, endTime }: InletEntry): Fault[] {
  const faults: Fault[] = []
  if (startTime == null) faults.push({ pointer: '/startTime', detail: 'is required' })
  if (startTime != null && endTime != null && endTime <= startTime) {
    faults.push({ pointer: '/endTime', detail: 'must be after startTime' })
  }
  return faults
}

function entryOf(sent: InletEntry): Entry {
  const clients = [...(sent.client ? [sent.client] : []), ...(sent.clients ?? [])]
  return entryWithout({
    key: sent.key,
    start: momentOf(sent.startTime),
    end: momentOf(sent.endTime),
    status: sent.status || null,
    title: sent.title || null,
    clients: clients.map((client) => given(client) as SourcePerson),
    service: sent.service ? given(sent.service) : null,
    staff: sent.staff ? given(sent.staff) : null,
    location: sent.location ? given(sent.location) : null,
    createdTime: momentOf(sent.createdTime),
  })
}

/** Without empty and absent properties. */
const given = (value: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(value as Record<string, string | null | undefined>).flatMap(([name, text]) =>
      text ? [[name, text]] : [],
    ),
  )

/** Negative if `a` is older. Numbers are compared as numbers, other versions as text. */
export function compareVersions(a: string, b: string) {
  if (a === b) return 0
  if (/^\d+$/.test(a) && /^\d+$/.test(b)) {
    const [x, y] = [BigInt(a), BigInt(b)]
    return x === y ? 0 : x < y ? -1 : 1
  }
  return a < b ? -1 : 1
}
