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
  const { reasonId } = values
  if (typeof reasonId !== 'number' || reasonId === base.reasonId) return
  const service = priceOf(reasonId)
  if (!service) return
  const [price, currency] = service
  if (!('currency' in values)) values.currency = currency
  if ('price' in values || faults.some(({ pointer }) => pointer === '/price')) return
  if (price !== null && currency !== null && (values.currency ?? currency) !== currency) {
    const detail = `is required: the service’s price is in ${currency}, not ${String(values.currency)}`
    faults.push({ pointer: '/price', detail })
  }
  values.price = price
}
