import { ParserPool } from '../parser-pool.ts'
import { NO_REPORT, type MailReport } from './bounce.ts'
import { PARSERS } from './parsers.ts'

/** One thread, and turns of the businesses: a hostile report delays others by its own time only. */
const pool = new ParserPool({ ...PARSERS, total: 1, maxWaiting: 50 })

/**
 * Reads a report on a worker thread. `businessId` is 0 if no mail is known yet. The result is empty for
 * messages that are no report, or that take too long to read.
 */
export async function readReport(businessId: number, raw: string): Promise<MailReport> {
  const report = await pool.run<MailReport>(businessId, { name: 'report', input: raw })
  return 'unusable' in report ? NO_REPORT : report
}
