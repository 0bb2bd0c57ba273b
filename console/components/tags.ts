export type Tags = Record<string, string[]>

/** "level: gold, vip; area: knee" */
export const tagsInWords = (tags: Tags) =>
  Object.entries(tags)
    .map(([tag, values]) => `${tag}: ${values.join(', ')}`)
    .join('; ')
