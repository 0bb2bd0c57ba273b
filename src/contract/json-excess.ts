const MAX_DEPTH = 64

const QUOTE = 0x22
const BACKSLASH = 0x5c

type Limits = { maxKeys?: number; maxValues?: number }

/**
 * What a JSON text has too much of; undefined if it is within the limits. One pass over the bytes, before
 * parsing allocates anything. It stops at the first limit, so the worst body costs about a millisecond.
 */
export function findExcess(
  text: Buffer,
  { maxKeys = Infinity, maxValues = Infinity }: Limits = {},
): string | undefined {
  let depth = 0
  let keys = 0
  let values = 0
  for (let i = 0; i < text.length; i += 1) {
    switch (text[i]) {
      case QUOTE:
        i = endOfString(text, i)
        break
      case 0x5b: // [
      case 0x7b: // {
        depth += 1
        values += 1
        if (depth > MAX_DEPTH) return `more than ${MAX_DEPTH} levels`
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1
        break
      case 0x3a: // :
        keys += 1
        if (keys > maxKeys) return `more than ${maxKeys} properties`
        break
      case 0x2c: // ,
        values += 1
        break
    }
    if (values > maxValues) return `more than ${maxValues} values`
  }
  return undefined
}

/** The index of the closing quote. */
function endOfString(text: Buffer, start: number) {
  let end = start + 1
  while (end < text.length && text[end] !== QUOTE) end += text[end] === BACKSLASH ? 2 : 1
  return end
}
