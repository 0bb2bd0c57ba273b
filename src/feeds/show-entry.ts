import type { EntryRow } from '../store/feed-entries.ts'

/** An entry as the API shows it. */
export const showEntry = (row: EntryRow) => ({
  entryId: row.feedEntryId,
  key: row.entryKey,
  state: row.state,
  reasonCode: row.reasonCode,
  reason: row.reason,
  title: row.title,
  startTime: row.startTime,
  endTime: row.endTime,
  objectType: row.objectType,
  objectId: row.objectId,
  decisions: row.decisions,
  correction: row.correction,
})
