import type { MailContext } from '../../src/contract/mail-context.ts'
import type { MailTemplate } from '../../src/email/merge.ts'

/** An appointment with every value that a mail can contain. */
export const fullContext = (changes: Partial<MailContext> = {}): MailContext => ({
  business: {
    name: 'Harbour Clinic',
    emailAddress: 'hello@harbour.example',
    phone: '+44 20 7946 0000',
    timeZone: 'Europe/London',
    language: 'en',
    senderDomains: [],
    bookingUrl: 'https://book.harbour.example/',
  },
  location: {
    name: 'Quayside',
    address: '4 Quay Street\nBristol',
    emailAddress: 'quayside@harbour.example',
    phone: '+44 117 496 0000',
    directions: 'Second floor.',
    timeZone: 'Europe/London',
  },
  professional: {
    firstName: 'Maya',
    lastName: 'Lindqvist',
    emailAddress: 'maya@harbour.example',
    timeZone: 'Europe/Stockholm',
  },
  client: {
    firstName: 'Ada',
    lastName: 'Okafor',
    emailAddress: 'ada@example.org',
    phone: '+44 7700 900123',
    timeZone: 'America/New_York',
    language: null,
  },
  reason: { name: 'First consultation', durationMinutes: 45, price: 60, currency: 'GBP' },
  calendar: {
    calendarId: 48213,
    startTime: Temporal.Instant.from('2026-11-03T14:30:00Z'),
    endTime: Temporal.Instant.from('2026-11-03T15:15:00Z'),
    status: 'Confirmed',
    note: 'Please bring your letter.',
    changeNote: 'Moved by an hour.',
  },
  classSchedule: {
    classScheduleId: 912,
    name: 'Prenatal yoga',
    startTime: Temporal.Instant.from('2026-11-03T18:00:00Z'),
    endTime: Temporal.Instant.from('2026-11-03T19:00:00Z'),
    status: 'Open',
    capacity: 12,
  },
  invitation: {
    invitationUUID: '4f0c9a1be2d34c5f8a6b7c8d9e0f1a2b',
    campaignName: 'Winter check-up',
    campaignDescription: 'For every member.',
    link: 'https://book.harbour.example/?invitation=4f0c9a',
    expiresTime: Temporal.Instant.from('2026-12-18T17:00:00Z'),
    status: 'Sent',
  },
  recall: { dueTime: Temporal.Instant.from('2027-01-11T09:00:00Z'), status: 'Due' },
  disclaimer: { formName: 'Consent', formBody: 'I agree.', status: 'Pending' },
  unsubscribeLink: 'https://bellwether.example/unsubscribe/7d1f',
  answerLinks: {
    confirm: 'https://bellwether.example/answer/confirm.7d1f',
    cancel: 'https://bellwether.example/answer/cancel.7d1f',
  },
  ...changes,
})

export const plainTemplate = (changes: Partial<MailTemplate> = {}): MailTemplate => ({
  subject: 'Your appointment at %BUSINESS_NAME%',
  html: '<p>Dear %CLIENT_FULLNAME%, see you on %APPT_DATE_TIME%.</p>',
  text: 'Dear %CLIENT_FULLNAME%, see you on %APPT_DATE_TIME%.',
  fromName: null,
  fromAddress: null,
  toName: null,
  toAddress: null,
  ccAddress: null,
  bccAddress: null,
  replyToAddress: null,
  language: null,
  ...changes,
})
