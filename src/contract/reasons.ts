import type { ObjectType } from './event-type.ts'

/**
 * The reasons that users read next to the status of a trigger or a mail. Each one is a clause that
 * follows "Cancelled: " or "Skipped: ", and names the next step if there is one.
 */
export const REASONS = {
  // CANCELLED
  definitionInactive: 'the definition is not active',
  timeChanged: 'its time changed just before it fired; see the trigger for the new time',

  otherEventType: 'the definition is now for another event type',
  notAskedFor: 'the definition no longer asks for it',
  newTimePassed: 'its new time has already passed',
  alreadyReminded: 'there is already a reminder for this time',
  noAnchor: 'the time that it counts from was removed',

  // EXPIRED
  bookedLate: 'booked after its reminder time',
  isPast: 'it was already over when it was saved; allowPast of the definition sends it anyway',
  uselessWhileHeld: 'it waited for approval until it was no longer useful',
  alreadyPast: 'its time has already passed',
  beforeRestore: 'it was due before the database was restored, and may have been sent then',

  // SKIPPED
  noActiveAction: 'the definition has no active action; add one to send a mail',
  templateInactive: 'the template is not active; activate it or choose another one',
  noClient: 'there is no client to write to',
  noAddress: 'the recipient has no email address; add one',
  noPostalAddress:
    'the mail is not transactional, and neither its location nor the business has a postal address; ' +
    'add postalAddress to the business',
  invalidAddress: 'the recipient does not have a valid email address; correct it',

  // Mails
  businessInactive: 'the business is not active',
  restoredSince: 'the database was restored',
  databaseHeld: 'the database was restored; no mail is sent until the operator releases it',
  maybeSent: 'it may have been delivered, and was not sent again',
  uselessNow: 'it could not be sent while it was still useful',
  serverTookNone: 'the mail server took no mail while this one was still useful',
  noMailSince: 'the mail server has taken no mail since',
  aboveDailyLimit: 'the business has reached its daily limit',
  quietHours: 'the business has quiet hours',
  domainPaused: 'the mail server of the recipient asked for a pause',
  uselessWhilePaused: 'all mail of the business was paused until it was no longer useful',
  // Also in migrations: triggers with this reason are due when mail resumes (0009), and show it (0010).
  mailPaused: 'all mail of the business is paused',
} as const

/** Why a suppressed address gets no mail. */
export const SUPPRESSED_REASONS = {
  BOUNCED: 'an earlier mail to this address bounced; correct the address or delete its suppression',
  COMPLAINED: 'the recipient reported an earlier mail as spam',
  UNSUBSCRIBED: 'the recipient unsubscribed',
} as const

/** The name of each kind of object, for people. */
export const OBJECT_NAMES: Record<ObjectType, string> = {
  CALENDAR: 'appointment',
  CLASS_SCHEDULE: 'class',
  INVITATION: 'invitation',
  RECALL: 'recall',
  DISCLAIMER: 'disclaimer',
}

/** Why a mail about a mirrored object was captured. */
export const shadowReason = (feed: string) => `feed "${feed}" ${IN_SHADOW}`

/** Such a mail is never sent later. */
export const isShadowReason = (reason: string | null) => reason?.endsWith(IN_SHADOW) ?? false

const IN_SHADOW = 'is in shadow mode'
