import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { REPORTS } from '../src/reports/catalog/catalog.ts'
import { openPage } from '../test/support/browser.ts'
import { temporaryFolder } from '../test/support/folder.ts'
import { startService } from '../test/support/service.ts'

/**
 * Prints every report of the demo business and takes a picture of its first page for docs/reports. It
 * needs pdftoppm (poppler-utils). Run it with: npm run pictures:reports [-- reportId …]
 */
const FOLDER = path.join(import.meta.dirname, '../docs/reports')
const KEY = 'operator-key-of-the-pictures'
/** The maximum size of a picture, so that all together stay below 3 MB. */
const MAX_BYTES = 85_000
const RESOLUTION = 90
const CLOSE_MS = 5_000

const wanted = process.argv.slice(2).map(Number)
const ends: (() => unknown)[] = []
const lifetime = { after: (work: () => unknown) => void ends.push(work) }

mkdirSync(FOLDER, { recursive: true })
try {
  const work = temporaryFolder(lifetime)
  const service = await startService(lifetime, {
    DATA_DIR: path.join(work, 'data'),
    ADMIN_API_KEY: KEY,
  })
  const post = async (url: string, body: object, key = KEY) => {
    const answer = await fetch(service.base + url, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`POST ${url}: ${answer.status} ${await answer.text()}`)
    return answer
  }
  const make = async (url: string, body: object) =>
    (await (await post(url, body)).json()) as { businessId: number; key: string }
  const business = { name: 'Lindenhof Physiotherapy', timeZone: 'Europe/Zurich', language: 'en' }
  const { businessId } = await make('/business', business)
  await post(`/business/${businessId}/seed`, {})
  const { key } = await make(`/business/${businessId}/apiKey`, { name: 'pictures' })
  const { page } = await openPage(lifetime)
  const devtools = await page.context().newCDPSession(page)

  for (const { reportId } of REPORTS) {
    if (wanted.length > 0 && !wanted.includes(reportId)) continue
    // The demo has no feeds: this picture shows the business of test/reports/feeds.test.ts.
    if (reportId === 905) continue
    const [startDate, endDate] = rangeOf(reportId)
    const url = `/report/print/file?startDate=${startDate}&endDate=${endDate}&format=pdf`
    const file = path.join(work, `${reportId}.pdf`)
    const printed = await post(url, { reportId }, key)
    writeFileSync(file, Buffer.from(await printed.arrayBuffer()))
    const picture = path.join(work, String(reportId))
    execFileSync('pdftoppm', ['-r', `${RESOLUTION}`, '-singlefile', '-png', file, picture])
    const data = readFileSync(`${picture}.png`).toString('base64')
    await page.setContent(
      `<body style="margin:0;display:inline-block"><img style="display:block;border:1px solid #e3e1d8" src="data:image/png;base64,${data}" /></body>`,
    )
    const size: { width: number; height: number } = await page.evaluate(
      '({ width: document.body.offsetWidth, height: document.body.offsetHeight })',
    )
    const clip = { x: 0, y: 0, ...size, scale: 1 }
    const shot = { format: 'webp' as const, clip, quality: 60, captureBeyondViewport: true }
    const target = path.join(FOLDER, `${reportId}.webp`)
    const { data: taken } = await devtools.send('Page.captureScreenshot', shot)
    writeFileSync(target, Buffer.from(taken, 'base64'))
    if (statSync(target).size > MAX_BYTES) throw new Error(`${target} is too large`)
  }
} finally {
  // Closing a busy browser can take forever.
  for (const end of ends.toReversed()) await Promise.race([end(), sleep(CLOSE_MS)])
}
process.exit()

/** The last month, unless the report is about the future, one day or a long time. */
function rangeOf(reportId: number) {
  const today = Temporal.Now.plainDateISO('Europe/Zurich')
  const month = today.with({ day: 1 })
  const before = month.subtract({ months: 1 })
  if (reportId === 106) return [today, today.add({ days: 30 })]
  if (reportId === 103) {
    const monday = today.subtract({ days: today.dayOfWeek + 6 })
    return [monday, monday]
  }
  if ([504, 701, 702, 904].includes(reportId))
    return [month.subtract({ months: 12 }), month.subtract({ days: 1 })]
  return [before, month.subtract({ days: 1 })]
}
