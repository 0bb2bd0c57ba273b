import type { ObjectInput } from '../contract/object-body.ts'
import type { Settings } from '../store/settings.ts'
import type { StoredObject } from '../store/objects.ts'

/**
 * Fills in the price, currency and time of booking that the body omits, from a newly chosen service or
 * else from the appointment: see docs/decisions/0027-prices-and-money.md.
 */
export function withBookingTerms(
  input: ObjectInput,
  base: StoredObject,
  services: Settings['services'],
): ObjectInput {
  const values = { ...input.values }
  const faults = [...input.faults]
  if (!values.bookedTime) {
    values.bookedTime = ('bookedTime' in values ? null : base.bookedTime) ?? base.createdDate
  }
  const isNewService = typeof values.reasonId === 'number' && values.reasonId !== base.reasonId
  const terms = isNewService ? services.get(values.reasonId as number) : base
  if (!terms) return { ...input, values, faults }
  const { price, currency } = terms
  if (!('currency' in values)) values.currency = currency
  if ('price' in values || faults.some(({ pointer }) => pointer === '/price')) {
    return { ...input, values, faults }
  }
  if (price !== null && currency !== null && values.currency !== currency) {
    const detail = `is required with another currency: the price is in ${currency as string}`
    faults.push({ pointer: '/price', detail })
  }
  values.price = price
  return { ...input, values, faults }
}
