/** The digits after the decimal point of a currency: 2 for CHF, 3 for KWD, none for JPY. Unknown: 2. */
export function countDecimals(currency: string | null) {
  if (currency === null) return 2
  let decimals = known.get(currency)
  if (decimals === undefined) {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency })
    decimals = format.resolvedOptions().maximumFractionDigits ?? 2
    known.set(currency, decimals)
  }
  return decimals
}

/** `Intl` is slow for long lists. */
const known = new Map<string, number>()

/** The amount with the digits of its currency, without the rounding errors of binary fractions. */
export function roundAmount(amount: number, currency: string | null) {
  const unit = 10 ** countDecimals(currency)
  return Math.round(amount * unit) / unit
}
