/** The events of an XML document. Names are without their namespace prefix. */
export type XmlEvents = {
  onOpen: (name: string, attributes: (name: string) => string | undefined) => void
  onText: (text: string) => void
  onClose: (name: string) => void
}

/** A tag or a text that is longer was not written by a spreadsheet program. */
const MAX_TOKEN = 1_048_576

/**
 * Reads XML of other programs piece by piece: workbooks, and answers of calendar servers. It knows the
 * predefined entities and characters by number only, and refuses document types, so no entity can expand.
 * See docs/decisions/0025.
 */
export class XmlReader {
  readonly #events: XmlEvents
  readonly #damaged: () => Error
  #rest = ''
  /** A token that is incomplete is scanned again when it is twice as long: in linear time altogether. */
  #scanFrom = 0

  /** `damaged` makes the error for a document that cannot be read. */
  constructor(events: XmlEvents, damaged: () => Error) {
    this.#events = events
    this.#damaged = damaged
  }

  write(piece: string) {
    this.#rest += piece
    if (this.#rest.length >= this.#scanFrom) this.#scan()
  }

  end() {
    this.#scan()
    if (this.#rest.trim() !== '') throw this.#damaged()
  }

  #scan() {
    const text = this.#rest
    let at = 0
    for (;;) {
      const start = text.indexOf('<', at)
      if (start === -1) {
        // An entity may be cut at the end of the piece, so the text waits for the next tag.
        break
      }
      const end = endOfMarkup(text, start)
      if (end === -1) break
      if (start > at) this.#events.onText(decodeEntities(text.slice(at, start)))
      this.#readMarkup(text.slice(start, end))
      at = end
    }
    this.#rest = text.slice(at)
    if (this.#rest.length > MAX_TOKEN) throw this.#damaged()
    this.#scanFrom = 2 * this.#rest.length
  }

  #readMarkup(markup: string) {
    const { onOpen, onText, onClose } = this.#events
    if (markup.startsWith('<![CDATA[')) return onText(markup.slice(9, -3))
    if (markup.startsWith('<?') || markup.startsWith('<!--')) return
    if (markup.startsWith('<!')) throw this.#damaged()
    if (markup.startsWith('</')) return onClose(localName(markup.slice(2, -1).trim()))
    const isEmpty = markup.endsWith('/>')
    const name = localName(/^<([^\s/>]+)/.exec(markup)?.[1] ?? '')
    onOpen(name, (wanted) => attributeOf(markup, wanted))
    if (isEmpty) onClose(name)
  }
}

const localName = (name: string) => name.slice(name.indexOf(':') + 1)

/** Where a tag, comment or section ends; -1 if that is in a later piece. */
function endOfMarkup(text: string, start: number) {
  for (const [begin, end] of [
    ['<!--', '-->'],
    ['<![CDATA[', ']]>'],
    ['<?', '?>'],
  ] as const) {
    if (!text.startsWith(begin, start)) continue
    const found = text.indexOf(end, start + begin.length)
    return found === -1 ? -1 : found + end.length
  }
  let quote = ''
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text[at]!
    if (quote !== '') {
      if (character === quote) quote = ''
    } else if (character === '"' || character === "'") quote = character
    else if (character === '>') return at + 1
  }
  return -1
}

/** The value of an attribute by its full name. */
function attributeOf(tag: string, name: string) {
  for (let at = tag.indexOf(name); at !== -1; at = tag.indexOf(name, at + 1)) {
    const match = /^\s*=\s*(?:"([^"]*)"|'([^']*)')/.exec(tag.slice(at + name.length))
    if (match && /\s/.test(tag[at - 1]!)) return decodeEntities(match[1] ?? match[2]!)
  }
  return undefined
}

const ENTITIES: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function decodeEntities(text: string) {
  if (!text.includes('&')) return text
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{1,10}));/gi,
    (all, decimal, hex, name) => {
      if (name) return ENTITIES[name] ?? all
      const code = decimal ? Number(decimal) : Number.parseInt(hex, 16)
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
    },
  )
}
