import { countOf } from '../../texts/count-of.ts'
import { Fetcher, unusableStatus } from '../fetch.ts'
import type { Pull, Pulling, Source, SourceAccount } from '../source.ts'
import type { CalendarSeries } from '../calendar/read.ts'
import { listingOf, readSeries, resourceOf } from './entries.ts'
import { testBy } from './sessions.ts'

/** A calendar that is published as one file. Its address is the secret: who has it, reads the calendar. */
export const makeIcs = (privateHosts: readonly string[]): Source => ({
  source: 'ICS',
  minutes: { usual: 15, least: 5 },
  test: (account) =>
    testBy('file', async () => {
      const { series } = await readFile(account, privateHosts, {})
      const detail = `The file has ${countOf(series.length, 'event')}.`
      return { detail, name: hostOf(account), entries: series.length }
    }),
  pull: (account, pull) => pullFile(account, privateHosts, pull),
  async list(account) {
    const { series } = await readFile(account, privateHosts, {})
    return { ...listingOf(resourcesOf(series, account)), window: null }
  },
})

/** The conditions of the next request. */
type Cursor = { etag?: string; lastModified?: string }

export const httpsOf = (address: string) => address.replace(/^webcals?:/i, 'https:')

const sourceUrlOf = ({ secret }: SourceAccount) => httpsOf(secret ?? '')

const hostOf = (account: SourceAccount) => URL.parse(sourceUrlOf(account))?.host ?? ''

async function* pullFile(
  account: SourceAccount,
  privateHosts: readonly string[],
  { cursor, versionOf, again }: Pull,
): Pulling {
  // A file that did not change has no new content, but its series go on.
  const conditions = again.size > 0 ? {} : ((cursor as Cursor | null) ?? {})
  const { series, next, isUnchanged } = await readFile(account, privateHosts, conditions)
  if (isUnchanged) return { cursor, complete: null }
  const changed = series.filter(({ uid, digest }) => versionOf(uid) !== digest || again.has(uid))
  const resources = resourcesOf(changed, account)
  if (resources.length > 0) yield { resources, deleted: [] }
  const keys = new Set(series.map(({ uid }) => uid))
  return { cursor: next, complete: { keys, window: null } }
}

const resourcesOf = (series: CalendarSeries[], account: SourceAccount) =>
  series.map((one) => {
    const place = { key: one.uid, calendar: null, calendarName: null, version: one.digest }
    return resourceOf(place, [one], account)
  })

async function readFile(account: SourceAccount, privateHosts: readonly string[], known: Cursor) {
  const url = sourceUrlOf(account)
  const { signal } = account
  const fetcher = new Fetcher({ url, hosts: [], privateHosts, signal })
  try {
    const headers = {
      accept: 'text/calendar',
      ...(known.etag !== undefined && { 'if-none-match': known.etag }),
      ...(known.lastModified !== undefined && { 'if-modified-since': known.lastModified }),
    }
    const answer = await fetcher.fetch({ url, headers })
    if (answer.status === 304) return { series: [], next: known, isUnchanged: true }
    if (answer.status !== 200) throw unusableStatus(answer)
    const series = await readSeries(account, answer.body.toString('utf8'), `of ${hostOf(account)}`)
    const { etag, 'last-modified': lastModified } = answer.headers
    const next: Cursor = { ...(etag && { etag }), ...(lastModified && { lastModified }) }
    return { series, next, isUnchanged: false }
  } finally {
    fetcher.close()
  }
}
