import type { StatusName } from '../api/setup.ts'

/** What the front desk records of an appointment with one click, and the status and the key of each. */
export const DESK_STEPS = {
  confirmed: { status: 'CONFIRMED', key: 'c' },
  arrived: { status: 'CHECKED_IN', key: 'a' },
  noShow: { status: 'NO_SHOW', key: 'm' },
} as const
export type DeskStep = keyof typeof DESK_STEPS

const NAMES = Object.keys(DESK_STEPS) as DeskStep[]
const HAS_ARRIVED = new Set(['CHECKED_IN', 'IN_PROGRESS'])

type Visit = { status: string; startTime: number }
type Time = { now: number; isoDay: (ms: number) => string }

/**
 * The steps that make sense now: a future appointment can be confirmed, one of today can arrive, and
 * one that has begun can be missed. A late client can still arrive.
 */
export function stepsOf(visit: Visit, statuses: StatusName[], { now, isoDay }: Time): DeskStep[] {
  const ofAppointments = statuses.filter(({ objectType }) => objectType === 'CALENDAR')
  const outcome = ofAppointments.find(({ status }) => status === visit.status)?.outcome
  const isMissed = outcome === 'MISSED'
  const isOpen = isMissed || (outcome === 'PENDING' && !HAS_ARRIVED.has(visit.status))
  if (!isOpen) return []
  const makesSense = {
    confirmed: visit.status === 'OPEN' && visit.startTime > now,
    arrived: isoDay(visit.startTime) <= isoDay(now),
    noShow: visit.startTime <= now && !isMissed,
  }
  return NAMES.filter(
    (name) =>
      makesSense[name] && ofAppointments.some(({ status }) => status === DESK_STEPS[name].status),
  )
}

/** The statuses of appointments that the front desk still expects. */
export const expectedStatuses = (statuses: StatusName[]) =>
  statuses
    .filter(
      ({ objectType, outcome, status }) =>
        objectType === 'CALENDAR' && outcome === 'PENDING' && !HAS_ARRIVED.has(status),
    )
    .map(({ status }) => status)
