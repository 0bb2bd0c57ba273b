import type { Fault } from '../errors.ts'
import { unknownIn } from './check-template.ts'
import { prepareHtml, storedHtml, textOfHtml } from './html.ts'
import { markupFaults } from './markup.ts'
import { findUnknownTokens } from './tokens.ts'

/** The HTML of a template and the text derived from it, ready to be filled with values. */
export type RenderedHtml = { html: string; text: string }

/** The faults of a template's HTML; if there are none, the HTML to store and what mails are made of. */
export type CheckedHtml = { faults: Fault[]; stored: string; rendered: RenderedHtml }

/**
 * The tasks of `html-thread.ts`. Their time can grow faster than their input, so only a worker
 * thread may call them: see `html-pool.ts`.
 */
export const HTML_TASKS = {
  check(html: string): CheckedHtml {
    const faults = [
      ...findUnknownTokens(html).map(unknownIn('emailBody')),
      ...markupFaults(html).map(({ line, column, detail }) => ({
        pointer: '/emailBody',
        detail: `line ${line}, column ${column}: ${detail}`,
      })),
    ]
    if (faults.length > 0) return { faults, stored: html, rendered: { html: '', text: '' } }
    const rendered = HTML_TASKS.render(html)
    return {
      faults: [...hiddenTokens(rendered.html), ...tooLong(rendered.html)],
      stored: storedHtml(html, rendered.html),
      rendered,
    }
  },

  render(html: string): RenderedHtml {
    const prepared = prepareHtml(html)
    return { html: prepared, text: textOfHtml(prepared) }
  },
}

/** The length limit of a body, so that stored HTML can be saved again. */
const MAX_RENDERED_LENGTH = 500_000

const tooLong = (prepared: string): Fault[] => {
  if (prepared.length <= MAX_RENDERED_LENGTH) return []
  const detail = `with its styles inlined and its text escaped it is longer than ${MAX_RENDERED_LENGTH} characters`
  return [{ pointer: '/emailBody', detail }]
}

/** Tokens written with entities (`&#37;`) appear only after the HTML was parsed. */
const hiddenTokens = (prepared: string): Fault[] =>
  findUnknownTokens(prepared).map(({ token }) => ({
    pointer: '/emailBody',
    detail: `there is no token ${token}`,
  }))
