import { crc32, deflateSync } from 'node:zlib'

type Color = readonly [red: number, green: number, blue: number]

/** A picture of opaque pixels, white at first. */
export class Pixels {
  readonly width: number
  readonly height: number
  readonly #bytes: Buffer

  constructor(width: number, height: number) {
    this.width = width
    this.height = height
    this.#bytes = Buffer.alloc(width * height * 3, 255)
  }

  /** Mixes a colour into a pixel; `cover` is the part of the pixel that it covers. */
  #mix(x: number, y: number, color: Color, cover: number) {
    if (x < 0 || y < 0 || x >= this.width || y >= this.height || cover <= 0) return
    const at = (y * this.width + x) * 3
    color.forEach((part, i) => {
      const before = this.#bytes[at + i]!
      this.#bytes[at + i] = Math.round(before + (part - before) * Math.min(1, cover))
    })
  }

  /** The edges are at whole pixels, so that they are sharp. */
  fillRect(left: number, top: number, right: number, bottom: number, color: Color) {
    const [x0, x1, y0, y1] = [left, right, top, bottom].map(Math.round) as [number, ...number[]]
    for (let y = y0!; y < y1!; y++) for (let x = x0; x < x1!; x++) this.#mix(x, y, color, 1)
  }

  /** A line with round ends and smooth edges. */
  drawLine(from: readonly number[], to: readonly number[], thickness: number, color: Color) {
    const [x0, y0] = from as [number, number]
    const [x1, y1] = to as [number, number]
    const reach = thickness / 2 + 1
    const squared = (x1 - x0) ** 2 + (y1 - y0) ** 2
    for (let y = Math.floor(Math.min(y0, y1) - reach); y <= Math.max(y0, y1) + reach; y++) {
      for (let x = Math.floor(Math.min(x0, x1) - reach); x <= Math.max(x0, x1) + reach; x++) {
        const along =
          squared === 0 ? 0 : ((x + 0.5 - x0) * (x1 - x0) + (y + 0.5 - y0) * (y1 - y0)) / squared
        const nearest = Math.max(0, Math.min(1, along))
        const distance = Math.hypot(
          x + 0.5 - x0 - nearest * (x1 - x0),
          y + 0.5 - y0 - nearest * (y1 - y0),
        )
        this.#mix(x, y, color, thickness / 2 + 0.5 - distance)
      }
    }
  }

  toPng(): Buffer {
    const head = Buffer.alloc(13)
    head.writeUInt32BE(this.width, 0)
    head.writeUInt32BE(this.height, 4)
    // 8 bits for each of red, green and blue.
    head.set([8, 2], 8)
    const stride = this.width * 3
    // Each line begins with its filter: none.
    const lines = Buffer.alloc((stride + 1) * this.height)
    for (let y = 0; y < this.height; y++) {
      this.#bytes.copy(lines, y * (stride + 1) + 1, y * stride, (y + 1) * stride)
    }
    return Buffer.concat([
      SIGNATURE,
      chunk('IHDR', head),
      chunk('IDAT', deflateSync(lines, { level: 9 })),
      chunk('IEND', Buffer.alloc(0)),
    ])
  }
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

function chunk(type: string, data: Buffer) {
  const content = Buffer.concat([Buffer.from(type), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(content))
  return Buffer.concat([length, content, sum])
}

/** `#3c7765` */
export const colorOfHex = (hex: string): Color => [
  Number.parseInt(hex.slice(1, 3), 16),
  Number.parseInt(hex.slice(3, 5), 16),
  Number.parseInt(hex.slice(5, 7), 16),
]
