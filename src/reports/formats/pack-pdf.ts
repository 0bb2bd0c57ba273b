import { deflateSync } from 'node:zlib'
import { readPdf, reference } from './read-pdf.ts'

/** With more, PDF readers would decompress too much for one object. */
const OBJECTS_PER_STREAM = 200

type Entry = { type: 1 | 2; at: number; index: number }

/**
 * Packs the tags of a PDF file into compressed streams of objects. There is one tag for each cell, so this
 * makes a file five times smaller. Other objects are not changed, for programs with limited PDF support.
 */
export function packPdf(pdf: Buffer): Buffer {
  const { trailer, maxId, object } = readPdf(pdf)
  const root = reference(trailer, 'Root')
  const parts: Buffer[] = []
  const entries: Entry[] = Array.from({ length: maxId + 1 }, () => ({ type: 1, at: 0, index: 0 }))
  let length = 0
  const put = (...bytes: (Buffer | string)[]) => {
    for (const one of bytes) {
      const part = typeof one === 'string' ? Buffer.from(one, 'latin1') : one
      length += part.length
      parts.push(part)
    }
  }
  const putObject = (id: number, body: string, stream: Buffer = Buffer.alloc(0)) => {
    entries[id] = { type: 1, at: length, index: 0 }
    put(`${id} 0 obj\n${body}`, stream, '\nendobj\n')
  }

  put('%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n')
  let packed: { id: number; dictionary: string }[] = []
  const putPacked = () => {
    if (packed.length === 0) return
    const id = entries.push({ type: 1, at: 0, index: 0 }) - 1
    let at = 0
    const places = packed.map((one, index) => {
      entries[one.id] = { type: 2, at: id, index }
      const place = `${one.id} ${at}`
      at += one.dictionary.length + 1
      return place
    })
    const first = `${places.join(' ')} `
    const text = first + packed.map(({ dictionary }) => dictionary).join(' ')
    const bytes = deflateSync(Buffer.from(text, 'latin1'))
    const kind = `/Type /ObjStm /N ${packed.length} /First ${first.length}`
    putObject(id, dictionaryOf(kind, bytes), streamOf(bytes))
    packed = []
  }

  for (let id = 1; id <= maxId; id += 1) {
    const { dictionary, stream } = object(id)
    if (isTag(dictionary)) packed.push({ id, dictionary })
    else putObject(id, id === root ? showTitle(dictionary) : dictionary, stream)
    if (packed.length === OBJECTS_PER_STREAM) putPacked()
  }
  putPacked()
  const tableAt = length
  const id = entries.push({ type: 1, at: tableAt, index: 0 }) - 1
  const table = deflateSync(writeTable(entries))
  const rest = /<<([^]*)>>/.exec(trailer)![1]!.replace(/\/Size \d+/, '')
  const kind = `/Type /XRef /Size ${id + 1} /W [1 4 2] ${rest.trim()}`
  putObject(id, dictionaryOf(kind, table), streamOf(table))
  put(`startxref\n${tableAt}\n%%EOF\n`)
  return Buffer.concat(parts)
}

/** A structure element, or the list of the structure elements of a page. */
const isTag = (dictionary: string) => /^(<<\s*\/Type \/StructElem|\[\d+ 0 R)/.test(dictionary)

const dictionaryOf = (kind: string, { length }: Buffer) =>
  `<< ${kind} /Filter /FlateDecode /Length ${length} >>`

const streamOf = (bytes: Buffer) =>
  Buffer.concat([Buffer.from('\nstream\n'), bytes, Buffer.from('\nendstream')])

/** The cross-reference table: each object's place in the file or an object stream. Object 0 is free. */
function writeTable(entries: Entry[]) {
  const table = Buffer.alloc(entries.length * 7)
  entries.forEach(({ type, at, index }, id) => {
    if (id === 0) return table.writeUInt16BE(0xffff, 5)
    table.writeUInt8(type, id * 7)
    table.writeUInt32BE(at, id * 7 + 1)
    return table.writeUInt16BE(index, id * 7 + 5)
  })
  return table
}

/** Readers show the title of the report instead of the file name, as PDF/UA requires. */
const showTitle = (catalog: string) =>
  catalog.replace(/\/ViewerPreferences\s*<</, '$& /DisplayDocTitle true')
