import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CalendarEvent } from '../../src/feeds/calendar/read.ts'
import type { Attendee } from '../../src/feeds/source.ts'
import { CALENDAR_FILES, listCalendarFiles, readEvents } from './calendar-files.ts'

/**
 * By file each event in the order of time, times in UTC:
 * `start to end: title; attendees; status and whatever else is unusual; place; addresses in the text`.
 */
const EXPECTED: Record<string, string[]> = {
  'acuity.ics': [
    '05-05T07:30 to 05-05T08:30: Anna Keller: Massage; –; –; –; anna.keller@example.com',
  ],
  'apple-floating.ics': [
    '01-20T08:00 to 01-20T08:15: Call Ben; –; –; –; –',
    '01-20T23:00 to 01-21T23:00: Geburtstag; –; all day; –; –',
  ],
  'apple-people.ics': [
    '06-03T09:00 to 06-03T10:00: Akupunktur; Anna Keller <anna.keller@example.com> INDIVIDUAL ACCEPTED, Elena García <elena@example.com> INDIVIDUAL ACCEPTED; –; Studio: Quai, 1. OG / Quai 1, 2502 Biel; –',
  ],
  'apple-series.ics': [
    '03-23T07:30 to 03-23T08:00: Yoga; –; –; –; –',
    '03-30T06:30 to 03-30T07:00: Yoga; –; –; –; –',
    '04-02T06:30 to 04-02T07:00: Yoga; –; –; –; –',
    '04-09T06:30 to 04-09T07:00: Yoga; –; –; –; –',
  ],
  'calcom.ics': [
    '05-05T13:30 to 05-05T14:00: 30 min meeting between Elena García and Anna Keller; Anna Keller <anna.keller@example.com> ACCEPTED, Ben Roth <ben+sms@example.com> ACCEPTED; CONFIRMED; https://video.example.com/kR8wQ2xYz; elena@example.com,anna.keller@example.com',
  ],
  'calendly.ics': [
    '05-05T13:30 to 05-05T14:00: First visit between Elena García and Anna Keller; Anna Keller <anna.keller@example.com>; –; Altstadt 4; –',
  ],
  'cancelled.ics': [
    '05-12T07:30 to 05-12T08:15: Erstgespräch; Anna Keller <anna.keller@example.com> NEEDS-ACTION; CANCELLED; –; –',
  ],
  'doctor-folded-text.ics': [
    '02-05T07:45 to 02-05T08:00: Première consultation – M. Ben Roth, né en 1980, prière d’apporter l’ordonnance 😀😀; –; CONFIRMED; Cabinet Renard, 12 rue de l’Église, escalier gauche, troisième étage, Genève; –',
  ],
  'easyappointments.ics': [
    '05-06T07:00 to 05-06T07:30: Haarschnitt; Anna Keller <anna.keller@example.com> INDIVIDUAL ACCEPTED; –; –; –',
  ],
  'evolution.ics': [
    '01-13T10:15 to 01-13T11:00: Massage / Anna Keller; –; –; –; anna.keller@example.com',
  ],
  'far-zones.ics': [
    '03-30T22:30 to 03-30T23:30: Sydney; –; –; –; –',
    '03-31T03:45 to 03-31T04:45: Kathmandu; –; –; –; –',
    '03-31T04:00 to 03-31T05:00: India; –; –; –; –',
    '04-06T23:30 to 04-07T00:30: Sydney; –; –; –; –',
  ],
  'fastmail.ics': [
    '03-09T18:00 to 03-09T18:45: Consultation; Ben Roth <ben@example.com> INDIVIDUAL DECLINED; CONFIRMED; –; –',
  ],
  'google-guests.ics': [
    '05-12T07:30 to 05-12T08:15: Erstgespräch: Anna Keller; Salon am See <salon@example.com> INDIVIDUAL ACCEPTED, <anna.keller@example.com> INDIVIDUAL NEEDS-ACTION; CONFIRMED; Altstadt 4, 2502 Biel; –',
  ],
  'google-published.ics': [
    '05-12T07:30 to 05-12T08:15: Massage (Anna Keller); –; CONFIRMED; –; anna.keller@example.com',
  ],
  'google-series.ics': [
    '03-17T13:00 to 03-17T13:30: Physio Ben; –; CONFIRMED; –; –',
    '03-24T13:00 to 03-24T13:30: Physio Ben; –; CONFIRMED; –; –',
    '04-08T14:00 to 04-08T14:30: Physio Ben (moved); –; CONFIRMED; –; –',
    '04-14T12:00 to 04-14T12:30: Physio Ben; –; CONFIRMED; –; –',
    '04-21T12:00 to 04-21T12:30: Physio Ben; –; CONFIRMED; –; –',
  ],
  'mindbody-class.ics': [
    '11-01T17:30 to 11-01T18:30: Vinyasa Flow w/ Elena; –; CLASS; Studio A; –',
  ],
  'nextcloud-mail-escapes.ics': [
    '04-15T08:00 to 04-15T09:00: Keller^ Anna \\ Haare, Farbe; Anna Keller <anna.keller@example.com> INDIVIDUAL TENTATIVE; TENTATIVE Kundin Farbe, Schnitt; –; –',
  ],
  'nextcloud-monthly.ics': [
    '01-30T16:00 to 01-30T17:00: Kontrolle; –; –; –; –',
    '02-27T16:00 to 02-27T17:00: Kontrolle; –; –; –; –',
    '03-27T16:00 to 03-27T17:00: Kontrolle; –; –; –; –',
    '04-24T15:00 to 04-24T16:00: Kontrolle; –; –; –; –',
  ],
  'notes-lower-case.ics': [
    '02-04T14:00 to 02-04T14:45: Rendez-vous; Anna Keller <anna.keller@example.com> ACCEPTED; –; –; –',
  ],
  'outlook-all-day.ics': ['08-02T22:00 to 08-07T22:00: Betriebsferien; –; all day free; –; –'],
  'outlook-custom-zone.ics': ['07-01T15:30 to 07-01T16:15: Coupe, Chloé; –; –; –; –'],
  'outlook-invitation.ics': [
    '10-26T07:30 to 10-26T08:30: Beratung; Folgetermin; Anna Keller <Anna.Keller@example.com> NEEDS-ACTION, Raum 2 EG <raum2@example.com> RESOURCE ACCEPTED; CONFIRMED; Raum 2; –',
  ],
  'outlook-series.ics': [
    '09-29T16:00 to 09-29T17:30: Gruppe; –; –; –; –',
    '10-14T16:00 to 10-14T17:30: Gruppe; –; –; –; –',
    '11-10T17:00 to 11-10T18:30: Gruppe; –; –; –; –',
  ],
  'outlook-zone-not-defined.ics': [
    '– to –: Elsewhere; –; unknown-zone; –; –',
    '03-10T13:00 to 03-10T14:00: Busy; –; CONFIRMED; –; –',
  ],
  'private.ics': ['05-12T07:30 to 05-12T08:15: –; –; private; –; –'],
  'rdate-and-date-exdate.ics': [
    '05-04T06:00 to 05-04T06:30: Kur; –; –; –; –',
    '05-05T06:00 to 05-05T06:30: Kur; –; –; –; –',
    '05-07T06:00 to 05-07T06:30: Kur; –; –; –; –',
    '05-11T06:00 to 05-11T06:30: Kur; –; –; –; –',
    '05-12T06:00 to 05-12T06:30: Kur; –; –; –; –',
  ],
  'sabre-davx5.ics': [
    '06-10T06:00 to 06-10T07:30: Kur; –; –; –; –',
    '06-11T06:00 to 06-11T07:30: Kur; –; CANCELLED; –; –',
    '06-12T06:00 to 06-12T07:30: Kur; –; –; –; –',
  ],
  'several-attendees.ics': [
    '03-31T09:30 to 03-31T10:30: Paartherapie; Dr. med. Keller Anna <anna.keller@example.com>, Team <team@example.com> GROUP, Saal <saal@example.com> ROOM, nobody, <ben@example.com> DECLINED; –; –; –',
  ],
  'square.ics': [
    "05-05T17:30 to 05-05T18:15: Men's cut with Ben R.; –; CONFIRMED; 1455 Market St, San Francisco, CA; ben@example.com",
  ],
  'thunderbird.ics': [
    '10-23T07:15 to 10-23T07:45: Übung; –; –; –; –',
    '10-24T07:15 to 10-24T07:45: Übung; –; –; –; –',
    '10-25T16:15 to 10-25T16:45: Übung (spät); –; –; –; –',
    '10-26T08:15 to 10-26T08:45: Übung; –; –; –; –',
  ],
  'two-calendars.ics': [
    '02-05T08:45 to 02-05T09:00: one; –; –; –; –',
    '02-06T08:45 to 02-06T09:00: two; –; –; –; –',
  ],
  'zimbra-two-masters.ics': [
    '04-02T07:00 to 04-02T08:00: new; Ben Roth <ben@example.com> AC; –; –; –',
  ],
}

const window = {
  zone: 'Europe/Zurich',
  fromMs: Temporal.Instant.from('2026-01-01T00:00:00Z').epochMilliseconds,
  toMs: Temporal.Instant.from('2027-01-01T00:00:00Z').epochMilliseconds,
}

for (const { name, text } of listCalendarFiles(CALENDAR_FILES)) {
  test(`a file in the form of ${name} is read`, () => {
    const events = readEvents({ text, ...window }).toSorted(
      (one, other) => (one.startMs ?? 0) - (other.startMs ?? 0),
    )
    assert.deepEqual(events.map(describe), EXPECTED[name])
  })
}

function describe(event: CalendarEvent) {
  const { title, attendees, location, addressesInText, categories } = event
  const people = attendees.map(described).join(', ')
  const facts = [
    event.status,
    event.allDay && 'all day',
    !event.isBusy && 'free',
    event.isPrivate && 'private',
    event.held?.code,
    ...categories,
  ]
  const parts = [title, people, facts.filter(Boolean).join(' '), location, addressesInText.join()]
  const texts = parts.map((part) => part?.replaceAll('\n', ' / ') || '–')
  return `${timeOf(event.startMs)} to ${timeOf(event.endMs)}: ${texts.join('; ')}`
}

const described = (person: Attendee) =>
  [
    [person.firstName, person.lastName].filter((name) => name && name !== '–').join(' '),
    person.emailAddress && `<${person.emailAddress}>`,
    person.type,
    person.participation,
  ]
    .filter(Boolean)
    .join(' ')

const timeOf = (ms: number | null) =>
  ms === null ? '–' : Temporal.Instant.fromEpochMilliseconds(ms).toString().slice(5, 16)
