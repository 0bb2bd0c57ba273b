import { generateHTML, generateJSON } from '@tiptap/core'
import { bodyExtensions } from './body-extensions.ts'
import { fromEditorHtml, isSameHtml, toEditorHtml } from './body-html.ts'
import type { TokenOptions } from './token-node.ts'

/** The HTML as the editor would save it. */
export function simplify(html: string, tokens: TokenOptions): string {
  const extensions = bodyExtensions(tokens)
  const json = generateJSON(toEditorHtml(html, tokens.names), extensions)
  return fromEditorHtml(generateHTML(json, extensions))
}

/** Whether the editor keeps everything of a template: elements, attributes and text. */
export const isKeptByEditor = (html: string, tokens: TokenOptions): boolean =>
  html.trim() === '' || isSameHtml(html, simplify(html, tokens))
