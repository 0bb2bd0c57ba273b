import type { ObjectInput } from '../contract/object-body.ts'
import type { ServicePrice } from '../store/basis.ts'
import type { StoredObject } from '../store/objects.ts'

/**
 * Completes the body of an appointment: what the caller leaves out about price, currency and the
 * moment of booking. `base` is the stored appointment, or the blank one that is being created.
 * See docs/decisions/0171.
 */
export function fillBookingTerms(
  input: ObjectInput,
  base: StoredObject,
  priceOf: (reasonId: number) => ServicePrice | undefined,
) {
  const { values, faults } = input
  if (!values.bookedTime) {
    values.bookedTime = ('bookedTime' in values ? null : base.bookedTime) ?? base.createdDate
  }
  const terms = termsBefore(values.reasonId, base, priceOf)
  if (!terms) return
  const [price, currency] = terms
  if (!('currency' in values)) values.currency = currency
  if ('price' in values || faults.some(({ pointer }) => pointer === '/price')) return
  if (price !== null && currency !== null && values.currency !== currency) {
    const detail = `is required with another currency: the price is in ${currency}`
    faults.push({ pointer: '/price', detail })
  }
  values.price = price
}

/** Price and currency unless the caller gives others; undefined if there is no such service. */
function termsBefore(
  reasonId: unknown,
  base: StoredObject,
  priceOf: (reasonId: number) => ServicePrice | undefined,
): ServicePrice | undefined {
  if (typeof reasonId === 'number' && reasonId !== base.reasonId) return priceOf(reasonId)
  return [base.price, base.currency] as ServicePrice
}
