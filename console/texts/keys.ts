import type { en } from './en.ts'
import type { enPages } from './en-pages.ts'

/*
 * The English texts give the types of all keys and values: see docs/decisions/0029-console.md.
 */

type PluralForm = 'zero' | 'one' | 'other'
type BaseOf<Name extends string> = Name extends `${infer Base}_${PluralForm}` ? Base : Name

/** A text with its key. A text with plural forms needs `count`, also if it does not show it. */
type Entry<
  Path extends string,
  Name extends string,
  Text extends string,
> = Name extends `${string}_${PluralForm}`
  ? [`${Path}${BaseOf<Name>}`, `${Text}{{count}}`]
  : [`${Path}${Name}`, Text]

type Entries<Texts, Path extends string = ''> = {
  [Name in keyof Texts & string]: Texts[Name] extends string
    ? Entry<Path, Name, Texts[Name]>
    : Entries<Texts[Name], `${Path}${Name}.`>
}[keyof Texts & string]

type AllEntries = Entries<typeof en> | Entries<typeof enPages>

/** Every key with its English texts; more than one if it has plural forms. */
type TextsByKey = { [One in AllEntries as One[0]]: One[1] }

export type TextKey = keyof TextsByKey

/** "name" of "{{name}}" and "{{name, number}}". */
type ValueName<Text extends string> = Text extends `${string}{{${infer Name}}}${infer Rest}`
  ? (Name extends `${infer Bare}, number` ? Bare : Name) | ValueName<Rest>
  : never

type TagName<Text extends string> = Text extends `${string}</${infer Name}>${infer Rest}`
  ? Name | TagName<Rest>
  : never

/** The values that a text needs. `count` also chooses the plural form. */
export type ValuesOf<Key extends TextKey> = {
  [Name in ValueName<TextsByKey[Key]>]: Name extends 'count' ? number : string | number
}

/** No argument for a text without values. */
export type ValueArguments<Key extends TextKey> = [ValueName<TextsByKey[Key]>] extends [never]
  ? []
  : [values: ValuesOf<Key>]

export type TagsOf<Key extends TextKey> = TagName<TextsByKey[Key]>

/** The texts of another language: the same keys as the English ones. */
export type Translated<Texts> = {
  readonly [Name in keyof Texts]: Texts[Name] extends string ? string : Translated<Texts[Name]>
}
