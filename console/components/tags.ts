export type Tags = Record<string, string[]>

/** "level: gold, vip; area: knee" */
export const tagsInWords = (tags: Tags) =>
  Object.entries(tags)
    .map(([tag, values]) => `${tag}: ${values.join(', ')}`)
    .join('; ')

/** A tag while it is edited. */
export type TagLine = { tag: string; values: string[] }

/** With an empty line if there is no tag. */
export function linesOf(tags: Tags): TagLine[] {
  const lines = Object.entries(tags).map(([tag, values]) => ({ tag, values }))
  return lines.length > 0 ? lines : [{ tag: '', values: [] }]
}

/** Two lines with the same name are one tag. A line without a name or a value is ignored. */
export function tagsOf(lines: TagLine[]): Tags {
  // An object would lose a tag that is called `__proto__`.
  const tags = new Map<string, string[]>()
  for (const { tag, values } of lines) {
    const name = tag.trim()
    if (name !== '' && values.length > 0) tags.set(name, [...(tags.get(name) ?? []), ...values])
  }
  return Object.fromEntries(tags)
}
