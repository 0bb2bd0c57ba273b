import { createHash } from 'node:crypto'
import { readPdf, reference } from './read-pdf.ts'

/**
 * Joins PDF files of Typst, which have no compressed cross references. Each page becomes a form XObject
 * that the new page draws, with a footer from another file on top. Objects are written as they are read,
 * so that a long report is never in memory as a whole.
 */
export class PdfJoiner {
  readonly #write: (bytes: Buffer) => void
  readonly #digest = createHash('md5')
  readonly #offsets: number[] = []
  readonly #pages: Form[] = []
  #length = 0

  constructor(write: (bytes: Buffer) => void) {
    this.#write = write
    this.#put(Buffer.from('%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n', 'latin1'))
  }

  get pageCount() {
    return this.#pages.length
  }

  /** Adds the first pages of a file. */
  add(pdf: Buffer, pageCount: number) {
    this.#pages.push(...this.#copy(pdf, pageCount))
  }

  /** Draws the pages of `overlay` on top of the added pages and ends the file. */
  finish(overlay: Buffer, { title, language }: { title: string; language: string }) {
    const lines = this.#copy(overlay, this.#pages.length)
    const draw = this.#object('<< /Length 11 >>\nstream\n/P Do /L Do\nendstream')
    const tree = this.#reserve()
    const kids = this.#pages.map((page, i) =>
      this.#object(
        `<< /Type /Page /Parent ${tree} 0 R /MediaBox ${page.box} /Contents ${draw} 0 R ` +
          `/Resources << /XObject << /P ${page.id} 0 R /L ${lines[i]!.id} 0 R >> >> >>`,
      ),
    )
    const list = kids.map((id) => `${id} 0 R`).join(' ')
    this.#objectAt(tree, `<< /Type /Pages /Count ${kids.length} /Kids [${list}] >>`)
    const root = this.#object(`<< /Type /Catalog /Pages ${tree} 0 R /Lang (${language}) >>`)
    const info = this.#object(`<< /Title <${toUtf16Hex(title)}> /Creator (Bellwether) >>`)
    this.#end(root, info)
  }

  #copy(pdf: Buffer, pageCount: number): Form[] {
    const source = readPages(pdf)
    const copied = new Map<number, number>()
    const waiting: { from: number; to: number }[] = []
    const take = (id: number) => {
      const known = copied.get(id)
      if (known !== undefined) return known
      const fresh = this.#reserve()
      copied.set(id, fresh)
      waiting.push({ from: id, to: fresh })
      return fresh
    }
    const forms = source.pages.slice(0, pageCount).map((page) => {
      const { dictionary, stream } = source.object(page.contents)
      const form = dictionary.replace(
        /^\s*<</,
        `<< /Type /XObject /Subtype /Form /BBox ${page.box} /Resources ${page.resources} 0 R `,
      )
      const id = this.#reserve()
      this.#objectAt(id, renumber(form, take), stream)
      return { id, box: page.box }
    })
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { dictionary, stream } = source.object(next.from)
      this.#objectAt(next.to, renumber(dictionary, take), stream)
    }
    return forms
  }

  #reserve() {
    return this.#offsets.push(0)
  }

  #object(body: string) {
    const id = this.#reserve()
    this.#objectAt(id, body)
    return id
  }

  #objectAt(id: number, body: string, stream?: Buffer) {
    this.#offsets[id - 1] = this.#length
    this.#put(Buffer.from(`${id} 0 obj\n${body}`, 'latin1'))
    if (stream) this.#put(stream)
    this.#put(Buffer.from('\nendobj\n'))
  }

  #end(root: number, info: number) {
    const start = this.#length
    const lines = this.#offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`)
    const size = lines.length + 1
    const id = this.#digest.copy().digest('hex')
    this.#put(
      Buffer.from(
        `xref\n0 ${size}\n0000000000 65535 f \n${lines.join('')}trailer\n` +
          `<< /Size ${size} /Root ${root} 0 R /Info ${info} 0 R /ID [<${id}> <${id}>] >>\n` +
          `startxref\n${start}\n%%EOF\n`,
      ),
    )
  }

  #put(bytes: Buffer) {
    this.#length += bytes.length
    this.#digest.update(bytes)
    this.#write(bytes)
  }
}

type Form = { id: number; box: string }
type Page = { contents: number; resources: number; box: string }

function readPages(pdf: Buffer) {
  const { trailer, object } = readPdf(pdf)
  const dictionaryOf = (id: number) => object(id).dictionary
  const catalog = dictionaryOf(reference(trailer, 'Root'))
  const kids = /\/Kids \[([^\]]*)\]/.exec(dictionaryOf(reference(catalog, 'Pages')))![1]!
  const pages = [...kids.matchAll(/(\d+) 0 R/g)].map((kid): Page => {
    const page = dictionaryOf(Number(kid[1]))
    return {
      contents: reference(page, 'Contents'),
      resources: reference(page, 'Resources'),
      box: /\/MediaBox (\[[^\]]*\])/.exec(page)![1]!,
    }
  })
  return { pages, object }
}

/** Replaces references by those in the new file, but not inside strings. */
const renumber = (dictionary: string, take: (id: number) => number) =>
  dictionary.replace(/\((?:\\.|[^\\()])*\)|(\d+) 0 R/gs, (found, id: string | undefined) =>
    id === undefined ? found : `${take(Number(id))} 0 R`,
  )

const toUtf16Hex = (text: string) =>
  Buffer.from(`\u{FEFF}${text}`, 'utf16le').swap16().toString('hex')
