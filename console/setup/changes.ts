import type { Difference } from '../components/difference.ts'

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

const trim = (value: unknown) => (typeof value === 'string' ? value.trim() : value)

/** The properties whose values differ, without spaces around texts: the body of a save. */
export const changesOf = <Draft extends object>(base: Draft, draft: Draft): Partial<Draft> => {
  const before = new Map<string, unknown>(Object.entries(base))
  return Object.fromEntries(
    Object.entries(draft)
      .map(([name, value]) => [name, trim(value)] as const)
      .filter(([name, value]) => !isSame(value, trim(before.get(name)))),
  ) as Partial<Draft>
}

/** Keeps my changes; everything else is as the other user saved it. */
export const mergeDrafts = <Draft extends object>(
  base: Draft,
  mine: Draft,
  theirs: Draft,
): Draft => ({
  ...theirs,
  ...changesOf(base, mine),
})

/** How a form names a property and writes its value. */
export type Words<Draft> = {
  label: (name: keyof Draft) => string
  value: (name: keyof Draft, draft: Draft) => string
}

/** The differences in words. */
export const differences = <Draft extends object>(
  from: Draft,
  to: Draft,
  { label, value }: Words<Draft>,
): Difference[] =>
  (Object.keys(changesOf(from, to)) as (keyof Draft & string)[]).map((name) => ({
    key: name,
    label: label(name),
    from: value(name, from),
    to: value(name, to),
  }))
