import { XmlReader } from '../../xml.ts'

/** A resource in an answer of WebDAV. Of its properties those with a status of 2xx. */
export type DavResponse = {
  href: string
  /** The status of the resource itself; null if only its properties have one. */
  status: number | null
  /** The text of each property; the names of the elements in it for those without a text. */
  properties: Map<string, string>
}

export type Multistatus = { responses: DavResponse[]; syncToken: string | null }

const MAX_DEPTH = 20

/**
 * Reads an answer of the status 207. Names are without their namespace. Throws if it is not one whole
 * document: a page for people, or an answer that was cut.
 */
export function readMultistatus(body: Uint8Array): Multistatus {
  const unreadable = () => new Error('it is not one whole answer of a calendar server')
  const found: Multistatus = { responses: [], syncToken: null }
  const open: string[] = []
  let roots = 0
  let text = ''
  let names: string[] = []
  let properties = new Map<string, string>()
  let status: number | null = null
  const reader = new XmlReader(
    {
      onOpen(name, attributeOf) {
        if (open.length === 0) roots += 1
        open.push(name)
        if (open.length > MAX_DEPTH || open[0] !== 'multistatus' || roots > 1) throw unreadable()
        if (open.length === 2 && name === 'response') {
          found.responses.push({ href: '', status: null, properties: new Map() })
        }
        if (open.length === 3 && name === 'propstat') {
          properties = new Map()
          status = null
        }
        if (open.length === 5) names = []
        if (open.length > 5) names.push(attributeOf('name') ?? name)
        if (open.length <= 5) text = ''
      },
      onText(piece) {
        if (open.length === 0 && piece.trim() !== '') throw unreadable()
        text += piece
      },
      onClose(name) {
        if (open.pop() !== name) throw unreadable()
        const place = open.join('/')
        const response = found.responses.at(-1)
        if (place === 'multistatus' && name === 'sync-token') found.syncToken = text.trim()
        if (!response) return
        if (place === 'multistatus/response' && name === 'href') response.href = text.trim()
        if (place === 'multistatus/response' && name === 'status') response.status = statusOf(text)
        if (place === 'multistatus/response/propstat/prop') {
          properties.set(name, text.trim() === '' ? names.join(' ') : text)
        }
        if (place === 'multistatus/response/propstat' && name === 'status') status = statusOf(text)
        if (place === 'multistatus/response' && name === 'propstat' && isSuccess(status)) {
          for (const [property, value] of properties) response.properties.set(property, value)
        }
      },
    },
    unreadable,
  )
  reader.write(decode(Buffer.from(body.buffer, body.byteOffset, body.byteLength)))
  reader.end()
  if (roots !== 1 || open.length > 0) throw unreadable()
  return found
}

export const isSuccess = (status: number | null) => status !== null && status >= 200 && status < 300

/** `HTTP/1.1 404 Not Found`. */
const statusOf = (line: string) => Number(/^\s*HTTP\/\S+\s+(\d{3})/.exec(line)?.[1] ?? 0)

function decode(body: Buffer) {
  const [, encoding = 'utf-8'] =
    /^\s*<\?xml[^>]*encoding=["']([\w-]+)["']/i.exec(body.subarray(0, 200).toString('latin1')) ?? []
  try {
    return new TextDecoder(encoding).decode(body)
  } catch {
    return new TextDecoder().decode(body)
  }
}
