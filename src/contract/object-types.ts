import type { Static } from 'typebox'
import type { FieldValue } from './fields.ts'
import type { ExpandedObject } from './object-names.ts'
import type { ActiveFilter, Filter, Kinds } from './objects.ts'

/**
 * The types of the objects, derived from their declarations: the properties of an answer and of a body,
 * and the filters of a list.
 */
type Declared = { id: string; fields: object; filters: unknown }

/** Flattens an intersection, so that an editor shows the properties. */
type Plain<T> = { -readonly [P in keyof T]: T[P] } & {}

type IdOf<K extends Declared> = K['id'] extends 'invitationUUID' ? string : number

type AnswerOf<K extends Declared> = Plain<
  { [P in K['id']]: IdOf<K> } & { businessId: number } & {
    [P in keyof K['fields']]: FieldValue<K['fields'][P]>
  } & {
    externalId: string | null
    active: boolean
    version: number
    createdDate: number
    createdUser: string
    modifiedDate: number
    modifiedUser: string
  }
>

/** `clientId` → `clientExternalId`, `clientIdList` → `clientExternalIdList`. */
type ExternalName<P> = P extends `${infer Name}IdList`
  ? `${Name}ExternalIdList`
  : P extends `${infer Name}Id`
    ? `${Name}ExternalId`
    : never

type Body<K extends Declared> = Plain<
  { [P in K['id']]?: IdOf<K> | null } & {
    [P in keyof K['fields']]?: K['fields'][P] extends { required: true }
      ? FieldValue<K['fields'][P]>
      : FieldValue<K['fields'][P]> | null
  } & {
    [
      P in keyof K['fields'] as K['fields'][P] extends { refersTo: string }
        ? ExternalName<P>
        : never
    ]?: (P extends `${string}List` ? string[] : string) | null
  } & { externalId?: string | null; active?: boolean | null; businessId?: number | null }
>

type FilterValue<K extends Declared, F> = F extends { match: 'words' | 'among' }
  ? string
  : F extends { match: 'active' }
    ? ActiveFilter
    : F extends { match: 'equal'; field: infer P extends keyof K['fields'] }
      ? NonNullable<FieldValue<K['fields'][P]>>
      : number

type Filters<K extends Declared> = Plain<
  {
    [P in keyof K['filters']]?: K['filters'][P] extends Filter
      ? FilterValue<K, K['filters'][P]>
      : never
  } & {
    externalId?: string
    active?: ActiveFilter
    modifiedSince?: number
    changedSince?: string
  }
>

/** An object of a list; `expand` adds names and counts of messages. */
type Listed<K extends Declared> = Plain<
  AnswerOf<K> &
    (K extends { objectType: string }
      ? { [P in keyof typeof ExpandedObject]?: Static<(typeof ExpandedObject)[P]> }
      : unknown)
>

export type Objects = { [K in keyof Kinds]: AnswerOf<Kinds[K]> }
export type ObjectBodies = { [K in keyof Kinds]: Body<Kinds[K]> }
export type ObjectFilters = { [K in keyof Kinds]: Filters<Kinds[K]> }
export type ListedObjects = { [K in keyof Kinds]: Listed<Kinds[K]> }
