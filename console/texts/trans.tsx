import { cloneElement, Fragment, type ReactElement } from 'react'
import type { TagsOf, TextKey, ValueArguments } from './keys.ts'
import { fillText, findText, type Values } from './translate.ts'

type Props<Key extends TextKey> = {
  i18nKey: Key
  /** The element for each tag of the text. */
  components: Record<TagsOf<Key>, ReactElement>
} & (ValueArguments<Key> extends [infer Needed] ? { values: Needed } : { values?: undefined })

const TAGGED = /<(\w+)>(.*?)<\/\1>/g

/** A text with elements in place of its tags. Tags in values are shown as they are. */
export function Trans<Key extends TextKey>({ i18nKey, components, ...props }: Props<Key>) {
  const elements: Record<string, ReactElement> = components
  const values = props.values as Values | undefined
  // The pieces are: text, name of a tag, its text, text, …
  return findText(i18nKey, values)
    .split(TAGGED)
    .map((piece, i, pieces) => {
      const element = i % 3 === 1 ? elements[piece] : undefined
      if (i % 3 === 2) return null
      if (!element) return <Fragment key={i}>{fillText(piece, values)}</Fragment>
      return cloneElement(element, { key: i }, fillText(pieces[i + 1]!, values))
    })
}
