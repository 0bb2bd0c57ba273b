/**
 * The values that a mail can contain, read when the trigger fires. A value that an object of this kind does
 * not have is null. Nothing is escaped or formatted yet.
 */
export type MailContext = {
  business: {
    name: string
    emailAddress: string | null
    phone: string | null
    postalAddress: string | null
    /** Mails that are not transactional are not sent without a postal address. */
    postalAddressRequired: boolean
    timeZone: string
    language: string | null
    /** The domains from which it may send, as the operator allowed them. */
    senderDomains: string[]
    /** `#rrggbb`. */
    accentColor: string | null
    website: string | null
    replyTo: string | null
    /** The file of its logo. */
    logo: { fileUUId: string; name: string; type: string } | null
    bookingUrl: string | null
  }
  location: {
    name: string
    address: string | null
    emailAddress: string | null
    phone: string | null
    directions: string | null
    timeZone: string | null
    externalId: string | null
  } | null
  professional: Person | null
  client: (Person & { phone: string | null; language: string | null; tags: Tags }) | null
  reason: {
    name: string
    durationMinutes: number | null
    price: number | null
    currency: string | null
    externalId: string | null
  } | null
  calendar: {
    calendarId: number
    startTime: Temporal.Instant
    endTime: Temporal.Instant
    /** The label of its status, as people read it. */
    status: string
    isCancelled: boolean
    /** The client did not come. */
    isMissed: boolean
    /** Whether it is going to take place. */
    isLive: boolean
    note: string | null
    changeNote: string | null
    /** Why the client cancelled by the link. */
    answerNote: string | null
    /** The start before the last move. */
    previousStartTime: Temporal.Instant | null
    externalId: string | null
    tags: Tags
  } | null
  classSchedule: {
    classScheduleId: number
    name: string
    startTime: Temporal.Instant
    endTime: Temporal.Instant
    status: string
    isCancelled: boolean
    isMissed: boolean
    isLive: boolean
    capacity: number | null
    /** The student whose answer by the link is told; without one, who answered last. */
    answeredBy: string | null
    /** What that student answered: RETURNED takes a cancellation back. */
    answer: 'CONFIRMED' | 'CANCELLED' | 'RETURNED' | null
    /** Why that student cancelled. */
    answerNote: string | null
    previousStartTime: Temporal.Instant | null
    externalId: string | null
    tags: Tags
  } | null
  invitation: {
    invitationUUID: string
    campaignName: string
    campaignDescription: string | null
    /** The campaign's booking address with this invitation in it. */
    link: string | null
    expiresTime: Temporal.Instant | null
    status: string
  } | null
  recall: { dueTime: Temporal.Instant; status: string } | null
  disclaimer: { formName: string; formBody: string | null; status: string } | null
  /** The start before the move that the mail tells of; null in other mails. */
  movedFrom: Temporal.Instant | null
  unsubscribeLink: string | null
  /** The URL of the calendar file. */
  calendarLink: string | null
  /** The URLs with which the client answers or signs; absent in mails to others. */
  answerLinks?: { confirm: string; cancel: string; sign: string }
}

type Person = {
  firstName: string
  lastName: string
  emailAddress: string | null
  timeZone: string | null
  externalId: string | null
}

/** Tags by name, each with its values. */
export type Tags = Record<string, string[]>
