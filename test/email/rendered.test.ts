import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPage } from '../support/browser.ts'
import { renderDemoMails } from '../support/demo-mails.ts'

/** The page of a mail program on a desktop, and a telephone. */
const WIDTHS = [632, 375]
/** WCAG 2.2 AA for text of this size. */
const MIN_CONTRAST = 4.5

/** What is used of the page; the types of browsers are not those of this program. */
type Shown = {
  parentElement: Shown | null
  childNodes: Iterable<{ nodeName: string; textContent: string | null }>
  innerText: string
  matches(selector: string): boolean
  checkVisibility(): boolean
}
type Frame = {
  title: string
  contentDocument: {
    body: Shown & { querySelectorAll(selector: string): Iterable<Shown> }
    documentElement: { scrollWidth: number; clientWidth: number }
  }
}
declare const getComputedStyle: (element: Shown) => { color: string; backgroundColor: string }

/** Measures mails in frames. It runs in the page, and so refers to nothing outside. */
function measureMails(frames: unknown[], minContrast: number) {
  const channels = (color: string) => color.match(/[\d.]+/g)!.map(Number)
  const isPainted = (color: string) => channels(color)[3] !== 0
  const luminance = (color: string) => {
    const [r = 0, g = 0, b = 0] = channels(color).map((value) => {
      const share = value / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const groundOf = (element: Shown | null): string => {
    if (!element) return 'rgb(255, 255, 255)'
    const { backgroundColor } = getComputedStyle(element)
    return isPainted(backgroundColor) ? backgroundColor : groundOf(element.parentElement)
  }
  const contrastOf = (element: Shown) => {
    const [text, ground] = [
      luminance(getComputedStyle(element).color),
      luminance(groundOf(element)),
    ]
    return (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05)
  }
  const hasWords = ({ childNodes }: Shown) =>
    [...childNodes].some((node) => node.nodeName === '#text' && node.textContent?.trim())
  return (frames as Frame[]).map(({ title, contentDocument }) => {
    const { body, documentElement } = contentDocument
    const shown = [...body.querySelectorAll('*')].filter((one) => one.checkVisibility())
    return {
      title,
      text: body.innerText,
      overflow: documentElement.scrollWidth - documentElement.clientWidth,
      buttons: shown
        .filter((one) => one.matches('a') && isPainted(getComputedStyle(one).backgroundColor))
        .map(({ innerText }) => innerText),
      faint: shown
        .filter((one) => hasWords(one) && contrastOf(one) < minContrast)
        .map((one) => `${one.innerText}: ${contrastOf(one).toFixed(2)}`),
    }
  })
}

const escaped = (html: string) => html.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

test('every mail of the demo is readable on a desktop and a telephone, light and dark', async (t) => {
  const { page, complaints } = await openPage(t)
  const mails = renderDemoMails()
  const frames = mails.flatMap(({ html, templateName, language }) =>
    WIDTHS.map((width) => {
      const title = `${templateName}, ${language}, ${width}`
      return `<iframe title="${title}" style="width:${width}px;height:600px;border:0" srcdoc="${escaped(html)}"></iframe>`
    }),
  )
  await page.setContent(frames.join('\n'))
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const rendered = await page.locator('iframe').evaluateAll(measureMails, MIN_CONTRAST)
    assert.equal(rendered.length, frames.length)
    for (const { title, text, overflow, buttons, faint } of rendered) {
      const where = `${title}, ${colorScheme}`
      assert.ok(overflow <= 0, `${where}: ${overflow} pixels too wide`)
      assert.ok(buttons.length <= 1, `${where} has the actions ${buttons.join(', ')}`)
      assert.doesNotMatch(text, /%[A-Z_]+[:%]/, where)
      assert.deepEqual(faint, [], where)
    }
  }
  assert.deepEqual(complaints, [])
})
