/** The line and column, counted from 1, at which a text stops being JSON. `JSON.parse` does not report it. */
export function findJsonFault(text: string): { line: number; column: number } {
  const position = faultPosition(text)
  const before = text.slice(0, position)
  const line = before.split('\n').length
  return { line, column: position - (before.lastIndexOf('\n') + 1) + 1 }
}

const SPACE = /[ \t\n\r]*/y
const SCALAR =
  /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

type Expected = 'value' | 'key' | 'colon' | 'next'

/** The index of the first character that is not valid JSON. */
function faultPosition(text: string): number {
  const open: ('{' | '[')[] = []
  let expected: Expected = 'value'
  let isFirst = false
  let at = 0
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0]
  }
  for (;;) {
    at += match(SPACE)?.length ?? 0
    const char = text[at]
    if (char === undefined) return at
    const inside = open.at(-1)
    if (expected === 'next') {
      if (inside === undefined) return at
      if (char === ',') {
        expected = inside === '{' ? 'key' : 'value'
        isFirst = false
      } else if (char === (inside === '{' ? '}' : ']')) open.pop()
      else return at
      at += 1
    } else if (expected === 'colon') {
      if (char !== ':') return at
      expected = 'value'
      at += 1
    } else if (isFirst && inside && char === (inside === '{' ? '}' : ']')) {
      open.pop()
      expected = 'next'
      isFirst = false
      at += 1
    } else if (expected === 'value' && (char === '{' || char === '[')) {
      open.push(char)
      expected = char === '{' ? 'key' : 'value'
      isFirst = true
      at += 1
    } else {
      const scalar = match(SCALAR)
      if (scalar === undefined || (expected === 'key' && char !== '"')) return at
      expected = expected === 'key' ? 'colon' : 'next'
      isFirst = false
      at += scalar.length
    }
  }
}
