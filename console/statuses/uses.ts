import type { Business } from '../../src/contract/business.ts'
import type { ObjectType } from '../../src/contract/event-type.ts'
import type { Automation } from '../api/automations.ts'
import type { StatusName } from '../api/setup.ts'

/** The status of an object that names none. The service does not remove it. */
export const FIRST_STATUS: Record<ObjectType, string> = {
  CALENDAR: 'OPEN',
  CLASS_SCHEDULE: 'OPEN',
  INVITATION: 'SENT',
  RECALL: 'DUE',
  DISCLAIMER: 'PENDING',
}

export const isFirst = ({ objectType, status }: Pick<StatusName, 'objectType' | 'status'>) =>
  status === FIRST_STATUS[objectType]

/** What refers to a status. The service refuses to remove it while one of them `blocks`. */
export type StatusUse =
  | { kind: 'first'; blocks: true }
  | { kind: 'confirm' | 'cancel'; blocks: boolean }
  | { kind: 'automation'; blocks: true; automation: Automation }

type Answers = Pick<Business, 'confirmStatus' | 'cancelStatus'>

export const usesOf = (
  status: StatusName,
  business: Answers,
  automations: Automation[],
): StatusUse[] => [
  ...(isFirst(status) ? [{ kind: 'first' as const, blocks: true as const }] : []),
  ...answerUses(status, business),
  ...automations
    .filter((automation) => automation.active && refersTo(automation, status))
    .map((automation) => ({ kind: 'automation' as const, blocks: true as const, automation })),
]

/** The links in mails. Without a status of its own the business uses CONFIRMED and CANCELLED. */
function answerUses({ objectType, status }: StatusName, business: Answers): StatusUse[] {
  if (objectType !== 'CALENDAR') return []
  const { confirmStatus, cancelStatus } = business
  return [
    { kind: 'confirm' as const, set: confirmStatus, otherwise: 'CONFIRMED' },
    { kind: 'cancel' as const, set: cancelStatus, otherwise: 'CANCELLED' },
  ]
    .filter(({ set, otherwise }) => (set ?? otherwise) === status)
    .map(({ kind, set }) => ({ kind, blocks: set !== null }))
}

function refersTo(automation: Automation, { objectType, status }: StatusName) {
  const { eventType, oldStatus, newStatus, onlyIfStatus } = automation
  if (eventType.objectType !== objectType) return false
  const isOfChange = eventType.eventType.endsWith('_CHANGED')
  return (
    (isOfChange && [oldStatus, newStatus].includes(status)) || (onlyIfStatus ?? []).includes(status)
  )
}
