import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { openPage } from '../test/support/browser.ts'
import { startService } from '../test/support/service.ts'
import { until } from '../test/support/until.ts'

/**
 * Films the first visit, from the operator's key to the first automation, as docs/first-visit.png: an
 * animated PNG, which browsers play like a picture. Run it with: node scripts/first-visit-film.ts
 */
const MAX_BYTES = 1_000_000
const FRAME_MS = 2_000
const KEY = 'operator-key-of-the-film'

const folder = mkdtempSync(path.join(tmpdir(), 'bellwether-film-'))
const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
const lifetime = { after: (work: () => unknown) => void ends.push(work) }
const frames: Buffer[] = []

try {
  const { base } = await startService(lifetime, { DATA_DIR: folder, ADMIN_API_KEY: KEY })
  const { page } = await openPage(lifetime)
  await page.setViewportSize({ width: 960, height: 640 })
  const film = async () => {
    await page.locator('[aria-busy]').first().waitFor({ state: 'detached' })
    await page.evaluate('document.fonts.ready.then(() => true)')
    frames.push(await page.screenshot())
  }
  const press = (name: string) => page.getByRole('button', { name }).first().click()

  await page.goto(`${base}/console/`)
  await page.getByRole('link', { name: 'Create your business with it' }).click()
  await page.getByLabel('Operator’s key').first().fill(KEY)
  await film()
  await press('Continue')
  await page.getByLabel('Name of the business').fill('Praxis am See')
  await film()
  await press('Create the business')
  await page.getByLabel('Username').fill('sofia')
  await page.getByLabel('Password').first().fill('ring-the-bell-2026')
  await film()
  await press('Create the owner and sign in')
  await page.getByRole('heading', { name: 'Welcome, sofia' }).waitFor()
  await film()
  await press('Load it')
  await page.getByRole('heading', { name: 'Next' }).waitFor()
  await until(async () => {
    const counts = await page.context().request.get(`${base}/eventTriggers/counts`)
    return ((await counts.json()).SCHEDULED ?? 0) > 0
  })
  for (const address of ['/', '/automations', '/automations/3', '/calendar', '/reports']) {
    await page.goto(`${base}/console${address}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    if (address === '/reports') await page.locator('li:nth-child(4) [data-picture]').waitFor()
    await film()
  }
} finally {
  for (const end of ends.toReversed()) await end()
}

const film = animate(frames, FRAME_MS)
if (film.length > MAX_BYTES) throw new Error(`the film has ${film.length} bytes, over ${MAX_BYTES}`)
writeFileSync(path.join(import.meta.dirname, '../docs/first-visit.png'), film)
console.log(`docs/first-visit.png: ${frames.length} pictures, ${film.length} bytes`)

type Chunk = { type: string; data: Buffer }

/** One animated PNG of pictures of the same size: https://www.w3.org/TR/png-3/#apng-frame-based-animation */
function animate(pictures: Buffer[], ms: number) {
  const [first] = pictures.map(chunksOf)
  const header = first!.find(({ type }) => type === 'IHDR')!
  let sequence = 0
  const parts: Chunk[] = [header, { type: 'acTL', data: uint32(pictures.length, 0) }]
  for (const [place, picture] of pictures.entries()) {
    const size = header.data.subarray(0, 8)
    const delay = Buffer.alloc(6)
    delay.writeUInt16BE(ms, 0)
    delay.writeUInt16BE(1_000, 2)
    const control = [uint32(sequence++), size, uint32(0, 0), delay]
    parts.push({ type: 'fcTL', data: Buffer.concat(control) })
    for (const { type, data } of chunksOf(picture)) {
      if (type !== 'IDAT') continue
      parts.push(
        place === 0
          ? { type, data }
          : { type: 'fdAT', data: Buffer.concat([uint32(sequence++), data]) },
      )
    }
  }
  parts.push({ type: 'IEND', data: Buffer.alloc(0) })
  return Buffer.concat([pictures[0]!.subarray(0, 8), ...parts.map(chunk)])
}

function chunksOf(png: Buffer) {
  const chunks: Chunk[] = []
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at)
    const type = png.toString('latin1', at + 4, at + 8)
    chunks.push({ type, data: png.subarray(at + 8, at + 8 + length) })
    at += 12 + length
  }
  return chunks
}

function chunk({ type, data }: Chunk) {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  return Buffer.concat([uint32(data.length), named, uint32(crc32(named))])
}

function uint32(...values: number[]) {
  const bytes = Buffer.alloc(values.length * 4)
  values.forEach((value, place) => bytes.writeUInt32BE(value, place * 4))
  return bytes
}
