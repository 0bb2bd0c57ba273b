import type { ObjectInput } from '../contract/object-body.ts'
import type { Settings } from '../store/settings.ts'
import type { Appointment } from '../store/objects.ts'
import type { Saving } from './saving.ts'

const NO_PRICE = { price: null, currency: null }

/**
 * Fills in the price, currency and time of booking that the body omits, from a newly chosen service or
 * else from the appointment: see docs/decisions/0027-prices-and-money.md. The present price of a service says
 * nothing about an appointment of the past that is imported.
 */
export function withBookingTerms(
  input: ObjectInput,
  base: Appointment,
  services: Settings['services'],
  { history, areLines, now }: Pick<Saving, 'history' | 'areLines' | 'now'>,
): ObjectInput {
  const values = { ...input.values }
  const faults = [...input.faults]
  if (!values.bookedTime) {
    values.bookedTime = ('bookedTime' in values ? null : base.bookedTime) ?? base.createdDate
  }
  const { reasonId } = values
  const isNewService = typeof reasonId === 'number' && reasonId !== base.reasonId
  const { startTime } = { ...base, ...values }
  const isPast =
    startTime instanceof Temporal.Instant && Temporal.Instant.compare(startTime, now) < 0
  const isImportedPast = (history || areLines) && isPast
  const terms = !isNewService ? base : isImportedPast ? NO_PRICE : services.get(reasonId)
  if (!terms) return { ...input, values, faults }
  const { price, currency } = terms
  if (!('currency' in values)) values.currency = currency
  if ('price' in values || faults.some(({ pointer }) => pointer === '/price')) {
    return { ...input, values, faults }
  }
  if (price !== null && currency !== null && values.currency !== currency) {
    const detail = `is required with another currency: the price is in ${currency}`
    faults.push({ pointer: '/price', detail })
  }
  values.price = price
  return { ...input, values, faults }
}
