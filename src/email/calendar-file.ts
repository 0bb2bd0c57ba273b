import ical, { ICalAttendeeRole, ICalCalendarMethod, ICalEventStatus } from 'ical-generator'
import type { Mailbox } from '../contract/addresses.ts'
import { headerValue, textValue } from './merge.ts'

/** An appointment or a class as it goes into a calendar. */
export type CalendarEntry = {
  /** The same for every mail about it, so that calendars change the entry they have. */
  uid: string
  /** Grows with each move. */
  sequence: number
  cancelled: boolean
  startTime: Temporal.Instant
  endTime: Temporal.Instant
  summary: string
  description: string | null
  location: string | null
  organizer: Mailbox
  /** Who gets the mail, and nobody else: the students of a class do not see each other. */
  attendee: Mailbox
  /** When the entry was last changed. */
  changedTime: Temporal.Instant
}

export type CalendarFile = { method: 'PUBLISH' | 'CANCEL'; fileName: string; content: string }

/** The file that puts an entry into the reader's calendar, moves it there or takes it away. */
export function calendarFile(entry: CalendarEntry): CalendarFile {
  const method = entry.cancelled ? ICalCalendarMethod.CANCEL : ICalCalendarMethod.PUBLISH
  const calendar = ical({ prodId: { company: 'Bellwether', product: 'Bellwether' }, method })
  const event = calendar.createEvent({
    id: entry.uid,
    sequence: entry.sequence,
    stamp: inUtc(entry.changedTime),
    start: inUtc(entry.startTime),
    end: inUtc(entry.endTime),
    summary: headerValue(entry.summary),
    status: entry.cancelled ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
    organizer: { name: nameOf(entry.organizer), email: entry.organizer.address },
  })
  if (entry.description) event.description(textValue(entry.description))
  if (entry.location) event.location(headerValue(entry.location))
  event.createAttendee({
    name: nameOf(entry.attendee),
    email: entry.attendee.address,
    role: ICalAttendeeRole.REQ,
    rsvp: false,
  })
  return {
    method,
    fileName: entry.cancelled ? 'cancel.ics' : 'invite.ics',
    content: `${calendar}\r\n`,
  }
}

/** The identity of an object in its readers' calendars. */
export const calendarUid = (
  objectType: string,
  objectId: number,
  businessId: number,
  host: string,
) => `${objectType.toLowerCase()}-${businessId}-${objectId}@${host}`

/** A moment needs no zone table in the file: every calendar shows it in its owner's zone. */
const inUtc = (moment: Temporal.Instant) => moment.toZonedDateTimeISO('UTC')

/** Quotes cannot be written inside a quoted parameter. */
const nameOf = ({ name, address }: Mailbox) =>
  headerValue(name.replace(/["\\;:,]/g, ' ')) || address
