/** Tags as people write them: one on each line, `level: gold, vip`. */
export const writeTags = (tags: Record<string, string[]>) =>
  Object.entries(tags)
    .map(([name, values]) => `${name}: ${values.join(', ')}`)
    .join('\n')

/** Undefined if a line is not `name: value, value`. */
export function readTags(text: string): Record<string, string[]> | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const tags: Record<string, string[]> = {}
  for (const line of lines) {
    const at = line.indexOf(':')
    const name = line.slice(0, at).trim()
    const values = line
      .slice(at + 1)
      .split(',')
      .map((value) => value.trim())
      .filter((value) => value !== '')
    if (at < 0 || name === '' || values.length === 0) return undefined
    tags[name] = values
  }
  return tags
}
