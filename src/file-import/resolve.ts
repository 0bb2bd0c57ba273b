import { textsFor } from '../texts/texts.ts'
import { isSliceOver, nextSlice } from '../time-slice.ts'
import { keyOf, type Described, type Directory } from '../matching/directory.ts'
import { bodyOfDescribed, type DescribedPerson } from '../matching/creation.ts'
import { NAMED_KINDS, type NamedKind, type NamedObject } from '../store/named-objects.ts'
import type { FileChoices } from './choices.ts'
import type { Named, Survey } from './survey.ts'

type Body = Record<string, unknown>

/** The object that a description means, one that is created, or why the row is refused. */
export type Resolved =
  | { object: NamedObject }
  | { key: string; body: Body; isCreated: true }
  | { fault: string; body?: Body; isCreated?: false; among?: NamedObject[] }

type Counted = Named<Described | DescribedPerson>

/** What all names of a file mean. */
export type Found = {
  resolved: Map<string, Resolved>
  /** The objects that do not exist, by kind. */
  missing: Record<NamedKind, Counted[]>
  /** Names that several objects have. */
  equal: (Counted & { among: NamedObject[] })[]
  clients: { withAddress: number; withoutAddress: number }
}

/** Finds the object of every name of a file, in slices: a file can name a hundred thousand clients. */
export async function resolveAll(
  survey: Survey,
  named: NamedDefaults,
  resolving: Resolving,
): Promise<Found> {
  const found: Found = {
    resolved: new Map(),
    missing: { client: [], professional: [], reason: [], location: [] },
    equal: [],
    clients: { withAddress: 0, withoutAddress: 0 },
  }
  for (const names of [survey.described, named]) {
    for (const [key, counted] of names) {
      if (found.resolved.has(key)) continue
      add(found, key, counted, resolve(counted.value, key, resolving))
      if (isSliceOver()) await nextSlice()
    }
  }
  return found
}

function add(
  { resolved, missing, equal, clients }: Found,
  key: string,
  counted: Counted,
  one: Resolved,
) {
  const { kind, emailAddress } = counted.value
  resolved.set(key, one)
  if ('body' in one) missing[kind].push(counted)
  if ('among' in one && one.among) equal.push({ ...counted, among: one.among })
  if (kind !== 'client') return
  const known = 'object' in one ? one.object.emailAddress : ''
  clients[emailAddress || known ? 'withAddress' : 'withoutAddress'] += 1
}

export type NamedDefaults = Map<string, Named<Described>>

export function namedDefaults({ defaults }: FileChoices): NamedDefaults {
  const named: NamedDefaults = new Map()
  for (const kind of NAMED_KINDS) {
    const name = defaults[kind]
    if (name) addDefault(named, { kind, name, emailAddress: '' })
  }
  return named
}

const addDefault = (named: NamedDefaults, value: Described, count = 0) =>
  named.set(keyOf(value), { value, count, firstRow: 0 })

/** A business without a service or a location gets one, if a person agrees. */
export function addUsualDefaults(
  { missing }: Survey,
  directory: Directory,
  named: NamedDefaults,
  { name: businessName, language }: { name: string; language: string | null },
) {
  const has = (kind: NamedKind) => [...named.values()].some(({ value }) => value.kind === kind)
  for (const [kind, name] of [
    ['reason', textsFor(language).usualService],
    ['location', businessName],
  ] as const) {
    if (missing[kind] === 0 || has(kind) || directory.list(kind).length > 0) continue
    addDefault(named, { kind, name, emailAddress: '' }, missing[kind])
  }
}

export function defaultsOf(
  named: NamedDefaults,
  { resolved }: Found,
  directory: Directory,
): Partial<Record<NamedKind, Resolved>> {
  const defaults: Partial<Record<NamedKind, Resolved>> = {}
  for (const kind of NAMED_KINDS) {
    const [key] = [...named].find(([, { value }]) => value.kind === kind) ?? []
    const known = directory.list(kind)
    if (key !== undefined) defaults[kind] = resolved.get(key)!
    else if (kind !== 'client' && known.length === 1) defaults[kind] = { object: known[0]! }
  }
  return defaults
}

type Resolving = {
  directory: Directory
  choices: FileChoices
  /** Returns why the caller may not create this kind; undefined if it may. */
  refusalOf: ((kind: string) => string | undefined) | undefined
}

const TITLES: Record<NamedKind, string> = {
  client: 'client',
  professional: 'member of staff',
  reason: 'service',
  location: 'location',
}

export const MISSING: Record<NamedKind, string> = {
  client: 'names no client: add a name or an email address',
  professional: 'names no member of staff: choose one for rows without',
  reason: 'names no service: choose one for rows without',
  location: 'names no location: choose one for rows without',
}

function resolve(
  described: Described | DescribedPerson,
  key: string,
  { directory, choices, refusalOf }: Resolving,
): Resolved {
  const { kind } = described
  const label = `“${described.name || described.emailAddress}”`
  const chosen = choices.matches[`${kind}:${described.name || described.emailAddress}`]
  if (chosen !== undefined && chosen !== 'new') {
    const object = directory.findById(kind, Number(chosen))
    return object ? { object } : { fault: `there is no ${TITLES[kind]} ${chosen} for ${label}` }
  }
  const match = chosen === 'new' ? undefined : directory.find(described)
  if (match && 'found' in match) return { object: match.found }
  if (match) {
    const { length } = match.among
    return {
      fault: `${length} ${TITLES[kind]}s are called ${label}: say which one`,
      among: match.among,
    }
  }
  const body = { kind, ...bodyOfDescribed(described) }
  const forbidden = refusalOf?.(kind)
  if (choices.create.includes(kind) && !forbidden) return { key, body, isCreated: true }
  const advice = forbidden ? `. ${forbidden}` : ': create it, or say which one is meant'
  return { fault: `there is no ${TITLES[kind]} ${label}${advice}`, body }
}
