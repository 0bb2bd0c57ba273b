import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openPage } from '../test/support/browser.ts'
import { renderDemoMails } from '../test/support/demo-mails.ts'

/**
 * Takes the pictures of the demo's mails for docs/mails: each mail at 600 and 375 pixels, light and
 * dark. Run it with: node scripts/mail-pictures.ts [folder] [language …]
 */
const [folder = path.join(import.meta.dirname, '../docs/mails'), ...languages] =
  process.argv.slice(2)
const WIDTHS = [632, 375]
const GAP = 16
const MAX_BYTES = 80_000
const CLOSE_MS = 5_000

/** Scripts that run in the page. */
const SIZE = '({ width: document.body.offsetWidth, height: document.body.offsetHeight })'
const FIT_FRAMES = `{
  const frames = [...document.querySelectorAll('iframe')]
  const heights = frames.map((frame) => frame.contentDocument.documentElement.scrollHeight)
  for (const frame of frames) frame.style.height = Math.max(...heights) + 'px'
}`

mkdirSync(folder, { recursive: true })
const ends: (() => unknown)[] = []
try {
  const { page, complaints } = await openPage({ after: (work) => void ends.push(work) })
  const devtools = await page.context().newCDPSession(page)
  const capture = async (format: 'png' | 'webp', scale: number) => {
    const size: { width: number; height: number } = await page.evaluate(SIZE)
    const clip = { x: 0, y: 0, ...size, scale }
    const picture = { format, clip, quality: 70, captureBeyondViewport: true }
    return (await devtools.send('Page.captureScreenshot', picture)).data
  }
  for (const { externalId, templateName, language, html } of renderDemoMails()) {
    if (languages.length > 0 ? !languages.includes(language) : !isKept(externalId)) continue
    const schemes: string[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.setContent(sheetOf(html))
      await page.evaluate(FIT_FRAMES)
      schemes.push(await capture('png', 1))
    }
    await page.setContent(
      `<body style="margin:0;display:inline-flex">${schemes.map((data) => `<img src="data:image/png;base64,${data}" />`).join('')}</body>`,
    )
    const bytes = Buffer.from(await capture('webp', 0.6), 'base64')
    if (bytes.length > MAX_BYTES) throw new Error(`${templateName}: ${bytes.length} bytes`)
    const name = templateName
      .toLowerCase()
      .replace(/[^a-z]+/g, '-')
      .replace(/-$/, '')
    writeFileSync(path.join(folder, `${name}-${language}.webp`), bytes)
  }
  if (complaints.length > 0) throw new Error(complaints.join('\n'))
} finally {
  // Closing a busy browser can take forever.
  for (const end of ends.toReversed()) await Promise.race([end(), sleep(CLOSE_MS)])
}

process.exit()

/** Every mail in English, and the first one in all languages. */
function isKept(externalId: string) {
  return /^demo-template-(?:\d+|0-\w+)$/.test(externalId)
}

/** A page that shows the mail in a frame for each width. */
function sheetOf(html: string) {
  const document = html.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  const frames = WIDTHS.map(
    (width) => `<iframe style="width:${width}px;border:0" srcdoc="${document}"></iframe>`,
  )
  return `<body style="margin:0;padding:${GAP}px;display:inline-flex;gap:${GAP}px;align-items:flex-start;background:#fff">${frames.join('')}</body>`
}
