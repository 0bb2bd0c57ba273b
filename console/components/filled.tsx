import { Fragment, type ReactNode } from 'react'

/** Stands in a text where an element comes; a character that no text of ours has. */
const EDGE = '\u{E000}'

/** The value to give to `t` for a part that `Filled` puts in place. */
export const part = (name: string) => `${EDGE}${name}${EDGE}`

/**
 * A text with elements in the place of its parts. Names that people typed are put in as they are:
 * `Trans` would look for values and tags in them.
 */
export function Filled({ text, parts }: { text: string; parts: Record<string, ReactNode> }) {
  return text
    .split(EDGE)
    .map((piece, i) => <Fragment key={i}>{i % 2 === 0 ? piece : parts[piece]}</Fragment>)
}
