import type { PastStatusChange } from '../store/demo-history.ts'
import { noonOf, type Booking } from './appointments.ts'
import { clientId } from './clients.ts'
import practice from './content/practice.json' with { type: 'json' }
import type { Period } from './period.ts'
import { LOCATIONS, serviceId, staffId, TIME_ZONE } from './practice.ts'
import type { Random } from './random.ts'

/** Everything except appointments: classes, campaigns, recalls, forms to sign. */

const HOUR = 3_600_000
const DAY = 24 * HOUR

export function* classes({ first, today, last }: Period, random: Random) {
  for (const [
    course,
    { name, weekday, hour, location, staff, capacity },
  ] of practice.courses.entries()) {
    const { timeZone, externalId } = LOCATIONS[location]!
    let day = first.add({ days: (weekday - first.dayOfWeek + 7) % 7 })
    for (let week = 0; Temporal.PlainDate.compare(day, last) <= 0; week += 1) {
      const startTime = noonOf(day, timeZone) + (hour - 12) * HOUR
      const isPast = Temporal.PlainDate.compare(day, today) < 0
      const students = new Set(
        Array.from({ length: random.between(3, capacity) }, () => clientId(random.between(0, 399))),
      )
      const isCancelled = random.chance(0.03)
      const attendance = [...students].map((clientRef) => ({
        clientRef,
        present: random.chance(0.87),
      }))
      yield {
        kind: 'classSchedule',
        externalId: `demo-class-${course}-${week}`,
        name,
        professionalExternalId: staffId(staff),
        locationExternalId: externalId,
        startTime,
        endTime: startTime + HOUR,
        capacity,
        status: isCancelled ? 'CANCELLED' : isPast ? 'CLOSED' : 'OPEN',
        clientExternalIdList: [...students],
        ...(isPast && !isCancelled ? { attendance } : {}),
        createdDate: Math.min(startTime - 42 * DAY, noonOf(today, 'UTC') - DAY),
      }
      day = day.add({ days: 7 })
    }
  }
}

export function* campaigns(
  { today }: Period,
  random: Random,
  changes: PastStatusChange[] | undefined,
) {
  const noon = noonOf(today, 'UTC')
  for (const [i, { createdInDays, expiresInDays, ...campaign }] of practice.campaigns.entries()) {
    yield {
      kind: 'invitationCampaign',
      externalId: `demo-campaign-${i}`,
      ...campaign,
      expiresTime: noon + expiresInDays * DAY,
      createdDate: noon + createdInDays * DAY,
    }
  }
  for (let i = 0; i < 140; i += 1) {
    const isOver = i < 80
    const status = isOver
      ? random.pickWeighted({ COMPLETED: 35, EXPIRED: 60, CANCELLED: 5 })
      : random.pickWeighted({ SENT: 70, COMPLETED: 28, CANCELLED: 2 })
    const createdDate = noon - (isOver ? 168 : 13) * DAY + i * HOUR
    const answeredTime = createdDate + random.between(2, isOver ? 40 * 24 : 6 * 24) * HOUR
    const body = {
      kind: 'invitation',
      externalId: `demo-invitation-${i}`,
      invitationCampaignExternalId: isOver ? 'demo-campaign-0' : 'demo-campaign-1',
      clientExternalId: clientId(isOver ? i * 2 : (i - 80) * 6 + 1),
      status,
      tags: { campaign: [isOver ? 'back-school' : 'winter-check-up'] },
      createdDate,
    }
    const changedTime = status === 'EXPIRED' ? noon - 120 * DAY : answeredTime
    yield withFirstStatus(body, { object: 'invitation', status: 'SENT', changedTime }, changes)
  }
}

type Beginning = { object: PastStatusChange['object']; status: string; changedTime: number }

/** The object with its first status. A later status is added to `changes`. */
function withFirstStatus<Body extends { externalId: string; status: string }>(
  body: Body,
  { object, status, changedTime }: Beginning,
  changes: PastStatusChange[] | undefined,
) {
  if (!changes || body.status === status) return body
  changes.push({
    object,
    externalId: body.externalId,
    status: body.status,
    changedTime: Temporal.Instant.fromEpochMilliseconds(changedTime),
  })
  return { ...body, status }
}

export function* recalls({ today }: Period, random: Random) {
  const noon = noonOf(today, TIME_ZONE)
  for (let i = 0; i < 160; i += 1) {
    const dueInDays = random.between(-300, 180)
    const location = random.pick(LOCATIONS)
    yield {
      kind: 'recall',
      externalId: `demo-recall-${i}`,
      clientExternalId: clientId((i * 11) % 400),
      dueTime: noon + dueInDays * DAY,
      reasonExternalId: serviceId(random.pick([0, 5, 8])),
      locationExternalId: location.externalId,
      status:
        dueInDays > 0 ? 'DUE' : random.pickWeighted({ COMPLETED: 70, DUE: 18, CANCELLED: 12 }),
      createdDate: noon + Math.min(dueInDays - 180, -1) * DAY,
    }
  }
}

export const FORMS = 220

type Signing = { bookings: Booking[]; changes: PastStatusChange[] | undefined }

/** Clients are asked to sign when they book, and most sign before they come. */
export function* disclaimers({ first, today }: Period, random: Random, signing: Signing) {
  const createdDate = noonOf(first.subtract({ days: 60 }), 'UTC')
  for (const [i, form] of practice.forms.entries()) {
    yield { kind: 'disclaimerForm', externalId: `demo-form-${i}`, ...form, createdDate }
  }
  const midnight = noonOf(today, TIME_ZONE) - 12 * HOUR
  const { bookings, changes } = signing
  const count = Math.min(FORMS, bookings.length)
  for (let i = 0; i < count; i += 1) {
    const booking = bookings[Math.floor((i * bookings.length) / count)]!
    const { externalId, clientExternalId, bookedTime, startTime } = booking
    const latest = Math.max(bookedTime, Math.min(startTime, midnight))
    const changedTime = bookedTime + Math.floor((latest - bookedTime) * random.next() ** 2)
    const form = {
      kind: 'disclaimer',
      externalId: `demo-disclaimer-${i}`,
      disclaimerFormExternalId: `demo-form-${i % 2}`,
      clientExternalId,
      calendarExternalId: externalId,
      status: random.pickWeighted({ SIGNED: 82, PENDING: 14, WAIVED: 4 }),
      createdDate: bookedTime,
    }
    yield withFirstStatus(form, { object: 'disclaimer', status: 'PENDING', changedTime }, changes)
  }
}
