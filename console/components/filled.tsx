import { Fragment, type ReactNode } from 'react'

/** A placeholder for an element in a text; no text contains this character. */
const EDGE = '\u{E000}'

/** The value to pass to `t` for a part that `Filled` inserts. */
export const part = (name: string) => `${EDGE}${name}${EDGE}`

/**
 * A text with elements in place of its parts. Names that users typed are inserted unchanged: `Trans`
 * would interpret values and tags in them. An Arabic name does not turn the sentence around it.
 */
export function Filled({ text, parts }: { text: string; parts: Record<string, ReactNode> }) {
  return text
    .split(EDGE)
    .map((piece, i) => (
      <Fragment key={i}>{i % 2 === 0 ? piece : <bdi>{parts[piece]}</bdi>}</Fragment>
    ))
}
