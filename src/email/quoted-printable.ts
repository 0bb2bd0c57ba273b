/**
 * Text as quoted-printable with CRLF line ends, no line above 76 characters. A dot or `From ` at
 * the start of a line is encoded too, because mail servers may change it.
 */
export function quotedPrintable(text: string): string {
  const bytes = Buffer.from(text.replace(/\r\n?/g, '\n'), 'utf8')
  const needed = bytes.length * 4 + 16
  if (scratch.length < needed) scratch = Buffer.allocUnsafe(needed * 2)
  const out = scratch
  let length = 0
  let column = 0

  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    let kind = KINDS[byte] as number
    if (kind === BREAK) {
      out[length++] = CR
      out[length++] = LF
      column = 0
      continue
    }
    if (kind === BLANK) {
      const next = bytes[i + 1]
      kind = next === undefined || next === LF ? ENCODED : PLAIN
    }
    if (column + kind > 75) {
      out[length++] = EQUALS
      out[length++] = CR
      out[length++] = LF
      column = 0
    }
    if (column === 0 && (byte === DOT || byte === LETTER_F)) kind = ENCODED
    if (kind === PLAIN) out[length++] = byte
    else {
      out[length++] = EQUALS
      out[length++] = HEX[byte >> 4] as number
      out[length++] = HEX[byte & 15] as number
    }
    column += kind
  }
  return out.toString('latin1', 0, length)
}

/** The bytes that `quotedPrintable` encoded. */
export const unquoted = (encoded: string) =>
  Buffer.from(
    encoded
      .replaceAll('=\r\n', '')
      .replace(/=([0-9A-F]{2})/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      ),
    'latin1',
  )

const CR = 0x0d
const LF = 0x0a
const TAB = 0x09
const SPACE = 0x20
const DOT = 0x2e
const EQUALS = 0x3d
const LETTER_F = 0x46
const HEX = Buffer.from('0123456789ABCDEF')

/** The kind of a byte. PLAIN and ENCODED are also the number of encoded characters. */
const PLAIN = 1
const ENCODED = 3
const BLANK = 4
const BREAK = 5
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === LF) return BREAK
  if (byte === SPACE || byte === TAB) return BLANK
  return byte > SPACE && byte < 0x7f && byte !== EQUALS ? PLAIN : ENCODED
})

/** Shared by all calls: encoding is synchronous. */
let scratch = Buffer.allocUnsafe(65_536)
