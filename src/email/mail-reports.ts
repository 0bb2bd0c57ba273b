import { ParserPool } from '../parser-pool.ts'
import { NO_REPORT, type MailReport } from './bounce.ts'
import type { WaitingCaller } from '../work-queue.ts'
import { PARSERS } from './parsers.ts'

/** One thread, and turns of the callers: a hostile report delays others by its own time only. */
const pool = new ParserPool({ ...PARSERS, total: 1, maxWaiting: 50 })

/**
 * Reads a report on a worker thread. The result is empty for messages that are not reports, or that take
 * too long to read.
 */
export async function readReport(caller: WaitingCaller, raw: string): Promise<MailReport> {
  const report = await pool.run<MailReport>(caller, { name: 'report', input: raw })
  return 'unusable' in report ? NO_REPORT : report
}
