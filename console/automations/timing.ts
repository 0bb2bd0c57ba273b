import type { Offset, Unit } from './sentence.ts'

export type Direction = 'before' | 'at' | 'after'

/** An offset as the drawer shows it: one amount of one unit. */
export type Timing = { amount: number; unit: Unit; direction: Direction }

const HOURS: Partial<Record<Unit, number>> = { hour: 1, day: 24, week: 168 }

/** Returns only the months if an offset mixes them with shorter units; the sentence shows all. */
export function readOffset({ triggerMonths, triggerHours, triggerMinutes }: Offset): Timing {
  if (triggerMonths !== 0) return timing(triggerMonths, 'month')
  if (triggerMinutes !== 0) return timing(triggerHours * 60 + triggerMinutes, 'minute')
  if (triggerHours === 0) return { amount: 1, unit: 'day', direction: 'at' }
  if (triggerHours % 168 === 0) return timing(triggerHours / 168, 'week')
  if (triggerHours % 24 === 0) return timing(triggerHours / 24, 'day')
  return timing(triggerHours, 'hour')
}

const timing = (signed: number, unit: Unit): Timing => ({
  amount: Math.abs(signed),
  unit,
  direction: signed < 0 ? 'before' : 'after',
})

export function offsetOf({ amount, unit, direction }: Timing): Offset {
  const none = { triggerMonths: 0, triggerHours: 0, triggerMinutes: 0 }
  if (direction === 'at') return none
  const signed = direction === 'before' ? -amount : amount
  if (unit === 'month') return { ...none, triggerMonths: signed }
  if (unit === 'minute') return { ...none, triggerMinutes: signed }
  return { ...none, triggerHours: signed * HOURS[unit]! }
}
