import { buttonHtml, colorsOfButton, type MailButton } from './button-html.ts'
import { splitPieces, type KnownNames } from './pieces.ts'

/**
 * Converts between the HTML of a template and that of the editor, in which a token is an element. Parsed
 * documents are inert: nothing in them is loaded or run.
 */

const parse = (html: string) => new DOMParser().parseFromString(html, 'text/html')

/** The HTML of a template with an element for each button, and for each token in its text. */
export function toEditorHtml(html: string, names: KnownNames): string {
  const { body } = parse(html)
  for (const table of body.querySelectorAll('div > table')) showButton(table.parentElement!)
  for (const text of textsIn(body)) {
    const parts = splitPieces(text.data, names)
    if (parts.every((part) => typeof part === 'string')) continue
    text.replaceWith(
      ...parts.map((part) => {
        if (typeof part === 'string') return part
        const span = body.ownerDocument.createElement('span')
        span.dataset.token = part.piece
        span.textContent = part.text
        return span
      }),
    )
  }
  return body.innerHTML
}

/** The HTML to save, with one block on each line. */
export function fromEditorHtml(html: string): string {
  const { body } = parse(html)
  for (const token of body.querySelectorAll<HTMLElement>('span[data-token]')) {
    token.replaceWith(`%${token.dataset.token}%`)
  }
  for (const styled of body.querySelectorAll<HTMLElement>('[data-style]')) {
    styled.setAttribute('style', styled.dataset.style!)
    styled.removeAttribute('data-style')
  }
  // The editor needs a paragraph in each entry of a list; mails would show its margins.
  for (const paragraph of body.querySelectorAll('li > p:first-child')) {
    const isAlone = paragraph.parentElement!.querySelectorAll(':scope > p').length === 1
    if (isAlone && paragraph.attributes.length === 0) paragraph.replaceWith(...paragraph.childNodes)
  }
  const buttons = [...body.querySelectorAll<HTMLElement>('div[data-address]')].map((element) => {
    const { address, color, textColor } = element.dataset as MailButton
    const text = element.innerHTML
    element.replaceWith(body.ownerDocument.createElement(BUTTON))
    return buttonHtml({ address, color, textColor }, text)
  })
  // As text, because the browser would add elements to the table.
  return [...body.children]
    .map((block) => block.outerHTML)
    .join('\n')
    .replaceAll(`<${BUTTON}></${BUTTON}>`, () => buttons.shift()!)
}

const BUTTON = 'mail-button'

/** Replaces a button by the element of the editor, if the editor would write the same button. */
function showButton(element: HTMLElement) {
  const link = element.querySelector<HTMLElement>('td > a[href]')
  const colors = colorsOfButton(link?.getAttribute('style') ?? '')
  if (!link || !colors) return
  const button = { address: link.getAttribute('href')!, ...colors }
  if (!isSameHtml(buttonHtml(button, link.innerHTML), element.outerHTML)) return
  const shown = element.ownerDocument.createElement('div')
  Object.assign(shown.dataset, button)
  shown.append(...link.childNodes)
  element.replaceWith(shown)
}

/** Whether a reader sees the same in both, so that the editor keeps a template. */
export const isSameHtml = (a: string, b: string) => comparable(a) === comparable(b)

const SAME_ELEMENT: Record<string, string> = { B: 'strong', I: 'em', STRIKE: 's', DEL: 's' }
const AROUND_BLOCKS = /\s*(<\/?(?:p|h[1-6]|ul|ol|li|hr|br|blockquote)(?:\s[^>]*)?>)\s*/g

/** The service removes a paragraph around a mark of a condition. */
const LONE_CONDITION = /\s*<p>(%(?:IF:[A-Z0-9_]+|END:IF)%)<\/p>\s*/g

function comparable(html: string) {
  const { body } = parse(html)
  const comments = document.createTreeWalker(body, NodeFilter.SHOW_COMMENT)
  const found: Node[] = []
  while (comments.nextNode()) found.push(comments.currentNode)
  for (const comment of found) comment.parentNode?.removeChild(comment)
  for (const element of body.querySelectorAll('*')) normalizeElement(element)
  return body.innerHTML
    .replace(/[ \t\n\r\f]+/g, ' ')
    .replace(LONE_CONDITION, '$1')
    .replace(AROUND_BLOCKS, '$1')
}

function normalizeElement(element: Element) {
  const attributes = [...element.attributes].toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const renamed = element.ownerDocument.createElement(
    SAME_ELEMENT[element.tagName] ?? element.tagName,
  )
  for (const { name, value } of attributes) {
    const written = name === 'style' ? value.replace(/\s+/g, '').replace(/;$/, '') : value
    renamed.setAttribute(name, written)
  }
  renamed.append(...element.childNodes)
  element.replaceWith(renamed)
}

const BLOCKS = 'p, h1, h2, h3, h4, h5, h6, ul, ol, li, table, tr, td, th, div, blockquote, hr'

/** The words of a template's HTML with the addresses of its links, one paragraph for each block. */
export function textOfHtml(html: string): string {
  const { body } = parse(html)
  for (const hidden of body.querySelectorAll('style, script')) hidden.remove()
  for (const text of textsIn(body)) text.data = text.data.replace(/[ \t\n\r\f]+/g, ' ')
  for (const br of body.querySelectorAll('br')) br.replaceWith('\n')
  for (const link of body.querySelectorAll('a[href]')) {
    const address = link.getAttribute('href')!
    if (!/^(?:tel|mailto):/.test(address)) link.append(` (${address})`)
  }
  for (const block of body.querySelectorAll(BLOCKS)) {
    block.before('\n\n')
    block.after('\n\n')
  }
  const paragraphs = body.textContent.split(/\s*\n\s*\n\s*/).map((text) => text.trim())
  return paragraphs
    .filter((text) => text !== '')
    .join('\n\n')
    .replace(/ *\n */g, '\n')
}

function textsIn(root: Node): Text[] {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  const texts: Text[] = []
  while (walker.nextNode()) texts.push(walker.currentNode as Text)
  return texts
}
