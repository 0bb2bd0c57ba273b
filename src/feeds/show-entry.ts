import type { EntryRow } from '../store/feed-entries.ts'

/** An entry as the API shows it, and as a run stores it: times are milliseconds. */
export const showEntry = (row: EntryRow) => ({
  entryId: row.feedEntryId,
  key: row.entryKey,
  state: row.state,
  reasonCode: row.reasonCode,
  reason: row.reason,
  title: row.title,
  startTime: row.startTime?.epochMilliseconds ?? null,
  endTime: row.endTime?.epochMilliseconds ?? null,
  objectType: row.objectType,
  objectId: row.objectId,
  decisions: row.decisions,
  correction: row.correction,
})
