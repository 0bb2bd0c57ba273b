/** The states of a message, as the console calls them. */
export const MARK_NAMES = [
  'waiting',
  'sending',
  'sent',
  'captured',
  'failed',
  'skipped',
  'late',
  'cancelled',
] as const
export type MarkName = (typeof MARK_NAMES)[number]
