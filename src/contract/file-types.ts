import { isUtf8 } from 'node:buffer'

type FileType = { type: string; isContent(bytes: Buffer): boolean }

/**
 * The file types that a mail may attach, by extension. The extension decides which program opens the
 * file, so it must fit the content. HTML, SVG, macros and programs are not allowed.
 */
const FILE_TYPES: Record<string, FileType> = {
  pdf: { type: 'application/pdf', isContent: (bytes) => startsWith(bytes, '%PDF-') },
  png: { type: 'image/png', isContent: (bytes) => startsWith(bytes, '\x89PNG\r\n\x1a\n') },
  jpg: { type: 'image/jpeg', isContent: (bytes) => startsWith(bytes, '\xff\xd8\xff') },
  jpeg: { type: 'image/jpeg', isContent: (bytes) => startsWith(bytes, '\xff\xd8\xff') },
  gif: { type: 'image/gif', isContent: (bytes) => /^GIF8[79]a/.test(latin1(bytes, 6)) },
  webp: { type: 'image/webp', isContent: (bytes) => /^RIFF[^]{4}WEBP/.test(latin1(bytes, 12)) },
  txt: { type: 'text/plain', isContent: isText },
  csv: { type: 'text/csv', isContent: isText },
  ics: {
    type: 'text/calendar',
    isContent: (bytes) => isText(bytes) && startsWith(bytes, 'BEGIN:VCALENDAR'),
  },
  docx: { type: officeType('wordprocessingml.document'), isContent: isOffice('word/') },
  xlsx: { type: officeType('spreadsheetml.sheet'), isContent: isOffice('xl/') },
  pptx: { type: officeType('presentationml.presentation'), isContent: isOffice('ppt/') },
}

export const FILE_EXTENSIONS = Object.keys(FILE_TYPES)

export const FILE_MEDIA_TYPES = [...new Set(Object.values(FILE_TYPES).map(({ type }) => type))]

/** The media type of a file by its name; undefined if files with this extension are not allowed. */
export const fileTypeOf = (name: string): string | undefined => ofName(name)?.type

/** Whether the content fits the extension of the name. */
export const isContentOf = (name: string, bytes: Buffer) => ofName(name)?.isContent(bytes) ?? false

function ofName(name: string) {
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  return Object.hasOwn(FILE_TYPES, extension) ? FILE_TYPES[extension] : undefined
}

const latin1 = (bytes: Buffer, end: number) => bytes.toString('latin1', 0, end)

const startsWith = (bytes: Buffer, text: string) => latin1(bytes, text.length) === text

function isText(bytes: Buffer) {
  // oxlint-disable-next-line no-control-regex -- control characters mean that it is not text
  return isUtf8(bytes) && !/[\x00-\x08\x0b\x0e-\x1f]/.test(bytes.toString('latin1'))
}

function officeType(name: string) {
  return `application/vnd.openxmlformats-officedocument.${name}`
}

/** A ZIP with the parts of an office document, and without macros. */
function isOffice(folder: string) {
  return (bytes: Buffer) =>
    startsWith(bytes, 'PK\x03\x04') &&
    bytes.includes('[Content_Types].xml') &&
    bytes.includes(folder) &&
    !bytes.includes('vbaProject.bin')
}
