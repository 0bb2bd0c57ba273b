import { isDay } from './days.ts'

/** How one parameter of an address is read: undefined if it is not of its kind. */
type Reader<Value> = (given: unknown) => Value | undefined

/** The router reads digits in an address as a number. */
export const text: Reader<string> = (given) =>
  typeof given === 'string' || typeof given === 'number' ? String(given) || undefined : undefined

/** Kept as the router reads it, so that the address of a number stays without quotes. */
export const textOrNumber: Reader<string | number> = (given) =>
  typeof given === 'number' ? given : text(given)

export const id: Reader<number> = (given) => {
  const number = typeof given === 'string' ? Number(given) : given
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0
    ? number
    : undefined
}

export const day: Reader<string> = (given) =>
  typeof given === 'string' && isDay(given) ? given : undefined

export const flag: Reader<true> = (given) => (given === true || given === 'true' ? true : undefined)

export const oneOf =
  <Value extends string>(values: readonly Value[]): Reader<Value> =>
  (given) =>
    values.find((value) => value === given)

/** The parameters that are valid; others are left out, as if the address did not have them. */
export const readSearch =
  <Readers extends Record<string, Reader<unknown>>>(readers: Readers) =>
  (given: Record<string, unknown>) =>
    Object.fromEntries(
      Object.entries(readers).flatMap(([name, read]) => {
        const value = read(given[name])
        return value === undefined ? [] : [[name, value]]
      }),
    ) as { [Name in keyof Readers]?: NonNullable<ReturnType<Readers[Name]>> }
