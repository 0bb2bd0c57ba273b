/** Links that open a new entry in a calendar on the web, for readers who cannot use the file. */

type LinkedEntry = {
  startTime: Temporal.Instant
  endTime: Temporal.Instant
  summary: string
  place: string | null
}

export const googleCalendarLink = ({ startTime, endTime, summary, place }: LinkedEntry) =>
  `https://calendar.google.com/calendar/render?action=TEMPLATE&text=${encoded(summary)}` +
  `&dates=${basicTime(startTime)}/${basicTime(endTime)}${place ? `&location=${encoded(place)}` : ''}`

export const outlookCalendarLink = ({ startTime, endTime, summary, place }: LinkedEntry) =>
  `https://outlook.live.com/calendar/0/action/compose?rru=addevent&subject=${encoded(summary)}` +
  `&startdt=${isoTime(startTime)}&enddt=${isoTime(endTime)}${place ? `&location=${encoded(place)}` : ''}`

const encoded = (text: string) => encodeURIComponent(text.toWellFormed())

const isoTime = ({ epochMilliseconds }: Temporal.Instant) =>
  `${new Date(epochMilliseconds).toISOString().slice(0, 19)}Z`

/** As calendar files write it: `20261103T143000Z`. */
export const basicTime = (moment: Temporal.Instant) => isoTime(moment).replace(/[-:]/g, '')
