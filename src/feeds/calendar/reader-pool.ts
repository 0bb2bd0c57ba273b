import { ParserPool } from '../../parser-pool.ts'
import type { Multistatus } from '../sources/multistatus.ts'
import { UnreadableCalendar } from './content-lines.ts'
import type { CalendarFile, CalendarSeries } from './read.ts'

/** Files of others can be hostile: a thread ends after so much CPU time, and the event loop never waits. */
const readers = new ParserPool({
  thread: new URL('./reader-thread', import.meta.url),
  maxCpuSeconds: 10,
  total: 1,
})

/** Reads calendar files on a worker thread. Throws `UnreadableCalendar`. */
export async function readCalendarFile(businessId: number, file: CalendarFile) {
  const series = await readers.run<CalendarSeries[]>(
    { businessId },
    { name: 'calendar', input: file },
  )
  if ('unusable' in series) {
    throw new UnreadableCalendar(series.unusable.replace(/^cannot be read: /, ''))
  }
  return series
}

/** Reads an answer of WebDAV on a worker thread. */
export const readMultistatus = (businessId: number, body: Buffer) =>
  readers.run<Multistatus>({ businessId }, { name: 'multistatus', input: body })
