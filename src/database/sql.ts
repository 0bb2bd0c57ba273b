/** A statement with its values: returned by the sql`…` tag, run by `Db`. */
export type Sql = {
  readonly text: string
  readonly values: readonly unknown[]
}

/** Stores the texts between the values, so that fragments nest by concatenation. */
class Fragment implements Sql {
  readonly pieces: readonly string[]
  readonly values: readonly unknown[]

  constructor(pieces: readonly string[], values: readonly unknown[]) {
    this.pieces = pieces
    this.values = values
  }

  get text() {
    let text = texts.get(this.pieces)
    if (text === undefined) {
      text = this.pieces.reduce((before, piece, i) => `${before}$${i}${piece}`)
      texts.set(this.pieces, text)
    }
    return text
  }
}

/** A statement without nested fragments always has the same pieces, so its text is built once. */
const texts = new WeakMap<readonly string[], string>()

/** SQL with values as parameters. A nested fragment keeps its own values. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  if (!values.some((value) => value instanceof Fragment)) {
    return new Fragment(strings, values)
  }
  const pieces = [strings[0]!]
  const flat: unknown[] = []
  const append = (piece: string) => (pieces[pieces.length - 1] += piece)
  values.forEach((value, i) => {
    if (value instanceof Fragment) {
      append(value.pieces[0]!)
      pieces.push(...value.pieces.slice(1))
      flat.push(...value.values)
    } else {
      pieces.push('')
      flat.push(value)
    }
    append(strings[i + 1]!)
  })
  return new Fragment(pieces, flat)
}

/** SQL text without values, such as a declared column name. Never pass text of a caller. */
export const raw = (text: string): Sql => new Fragment([text], [])

export const empty = raw('')

export function join(fragments: Sql[], separator: string): Sql {
  const pieces = ['']
  const values: unknown[] = []
  fragments.forEach((fragment, i) => {
    const [first, ...rest] = (fragment as Fragment).pieces
    pieces[pieces.length - 1] += (i === 0 ? '' : separator) + first!
    pieces.push(...rest)
    values.push(...fragment.values)
  })
  return new Fragment(pieces, values)
}
