import type { RecordKind } from './kind.ts'

/** One difference between two versions, in words. */
export type Difference = { key: string; label: string; from: string; to: string }

type FieldGroups<Draft> = readonly (readonly (keyof Draft & string)[])[]

const isSame = (a: unknown, b: unknown) =>
  (a ?? null) === (b ?? null) || JSON.stringify(a) === JSON.stringify(b)

const trim = (value: unknown) => (typeof value === 'string' ? value.trim() : value)

/** The fields whose values differ, without spaces around texts. */
export function changesOf<Draft extends object>(from: Draft, to: Draft): Partial<Draft> {
  const before = new Map<string, unknown>(Object.entries(from))
  return Object.fromEntries(
    Object.entries(to)
      .map(([name, value]) => [name, trim(value)] as const)
      .filter(([name, value]) => !isSame(value, trim(before.get(name)))),
  ) as Partial<Draft>
}

/** How many settings differ. */
export function countChanges<Draft extends object>(
  from: Draft,
  to: Draft,
  settings: FieldGroups<Draft> = [],
) {
  const names = Object.keys(changesOf(from, to))
  return new Set(names.map((name) => settingOf(name, settings)[0])).size
}

const settingOf = <Draft>(name: string, settings: FieldGroups<Draft>): readonly string[] =>
  settings.find((names) => (names as readonly string[]).includes(name)) ?? [name]

/** Keeps my changes; everything else is as the other user saved it. */
export function mergeDrafts<Draft extends object>(
  { base, mine, theirs }: { base: Draft; mine: Draft; theirs: Draft },
  settings: FieldGroups<Draft> = [],
): Draft {
  const changed = Object.keys(changesOf(base, mine))
  const kept = new Set(changed.flatMap((name) => settingOf(name, settings)))
  const values = new Map<string, unknown>(Object.entries(mine))
  return { ...theirs, ...Object.fromEntries([...kept].map((name) => [name, values.get(name)])) }
}

/** How a form names a field and writes its value. */
export type Words<Draft> = {
  label: (name: keyof Draft & string) => string
  value: (name: keyof Draft & string, draft: Draft) => string
}

export const differencesOf = <Draft extends object>(
  from: Draft,
  to: Draft,
  { label, value }: Words<Draft>,
): Difference[] =>
  (Object.keys(changesOf(from, to)) as (keyof Draft & string)[]).map((name) => ({
    key: name,
    label: label(name),
    from: value(name, from) || '–',
    to: value(name, to) || '–',
  }))

/** Their version with my changes, and whether that replaces something that they changed. */
export function mergeVersions<Item, Draft extends object>(
  kind: RecordKind<Item, Draft>,
  { base, mine, theirs }: { base: Draft; mine: Draft; theirs: Draft },
) {
  const merged = mergeDrafts({ base, mine, theirs }, kind.settings)
  const left = Object.keys(changesOf(theirs, merged))
  const changedByThem = Object.keys(changesOf(base, theirs))
  return {
    merged,
    /** Nothing of mine is missing in their version. */
    isSaved: left.length === 0,
    isConflict: left.some((name) => changedByThem.includes(name)),
  }
}
