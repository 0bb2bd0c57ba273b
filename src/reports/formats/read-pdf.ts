/** Reads a PDF file of Typst, which has a plain table of its objects at the end. */
export function readPdf(pdf: Buffer) {
  const tail = pdf.subarray(-2_000).toString('latin1')
  const tableAt = Number(/startxref\s+(\d+)/.exec(tail)![1])
  const table = pdf.subarray(tableAt).toString('latin1')
  const offsets = [...table.matchAll(/^(\d{10}) \d{5} ([nf])/gm)].map((line) => Number(line[1]))
  return {
    trailer: table.slice(table.indexOf('trailer')),
    /** The highest object id. Ids begin at 1. */
    maxId: offsets.length - 1,
    object: (id: number) => readObject(pdf, offsets[id]!),
  }
}

/** A dictionary or other value, and the bytes from `stream` to `endstream` if it has a stream. */
function readObject(pdf: Buffer, offset: number): { dictionary: string; stream?: Buffer } {
  const begin = pdf.indexOf('obj', offset) + 3
  const end = pdf.indexOf('endobj', begin)
  const streamAt = begin + pdf.subarray(begin, end).indexOf('\nstream')
  if (streamAt < begin) {
    return { dictionary: pdf.subarray(begin, end).toString('latin1').trim() }
  }
  const dictionary = pdf.subarray(begin, streamAt).toString('latin1').trim()
  const length = Number(/\/Length (\d+)/.exec(dictionary)![1])
  const after = pdf.indexOf('endstream', streamAt + length) + 'endstream'.length
  return { dictionary, stream: pdf.subarray(streamAt, after) }
}

export function reference(dictionary: string, name: string) {
  const found = new RegExp(`/${name} (\\d+) 0 R`).exec(dictionary)
  if (!found) throw new Error(`a PDF object has no ${name}`)
  return Number(found[1])
}
