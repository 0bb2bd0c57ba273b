import type { FeedSource } from '../../contract/feed.ts'
import type { Source } from '../source.ts'
import { makeCalcom } from './calcom.ts'
import { makeCaldav } from './caldav.ts'
import { makeEasyAppointments } from './easyappointments.ts'
import { makeIcs } from './ics.ts'
import { inlet } from './inlet.ts'

export type Sources = { find(source: FeedSource): Source }

export function openSources(privateHosts: readonly string[]): Sources {
  const sources: Record<FeedSource, Source> = {
    CALDAV: makeCaldav(privateHosts),
    ICS: makeIcs(privateHosts),
    CALCOM: makeCalcom(privateHosts),
    EASYAPPOINTMENTS: makeEasyAppointments(privateHosts),
    INLET: inlet,
  }
  return { find: (source) => sources[source] }
}
