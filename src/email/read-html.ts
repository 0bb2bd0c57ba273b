import type { Fault } from '../errors.ts'
import { faultIn } from './check-template.ts'
import { prepareHtml, removedParts, storedHtml, textOfHtml } from './html.ts'
import { markupFaults } from './markup.ts'
import { readMediaRules, type MediaRules } from './media-rules.ts'
import { findTokenFaults, PIECE } from './token-syntax.ts'

/** The HTML of a template and the text derived from it, ready to be filled with values. */
export type RenderedHtml = {
  html: string
  text: string
  /** Its media rules. */
  styles: string
}

/** The faults of a template's HTML; if there are none, the HTML to store and the rendered HTML. */
export type CheckedHtml = {
  faults: Fault[]
  stored: string
  /** See `removedParts`. */
  removed: string[]
  rendered: RenderedHtml
}

/**
 * The tasks of `parser-thread.ts`. Their time can grow faster than their input, so only a worker
 * thread may call them: see `parser-pool.ts`.
 */
export const HTML_TASKS = {
  check(html: string): CheckedHtml {
    const faults = [
      ...findTokenFaults(html).map(faultIn('emailBody')),
      ...markupFaults(html).map(faultIn('emailBody')),
    ]
    if (faults.length > 0) return { faults, stored: html, removed: [], rendered: NOTHING }
    const media = readMediaRules(html)
    const prepared = prepareHtml(html, media)
    const whole =
      media.css === '' ? prepared : `<style>\n${media.css}</style>\n${prepared.trimStart()}`
    const rendered = renderPrepared(prepared, media)
    return {
      faults: [
        ...hiddenTokens(rendered.html),
        ...splitConditions(rendered.html),
        ...tooLong(whole),
      ],
      stored: storedHtml(html, whole),
      removed: removedParts(html, whole),
      rendered,
    }
  },

  render(html: string): RenderedHtml {
    const media = readMediaRules(html)
    return renderPrepared(prepareHtml(html, media), media)
  },
}

const NOTHING: RenderedHtml = { html: '', text: '', styles: '' }

function renderPrepared(prepared: string, { scopedCss }: MediaRules): RenderedHtml {
  const html = unwrapMarks(prepared)
  return { html, text: textOfHtml(html), styles: scopedCss }
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
  findTokenFaults(prepared).map(({ detail }) => ({ pointer: '/emailBody', detail }))

/** Editors put each line in a paragraph. A paragraph that contains only a mark is unwrapped. */
function unwrapMarks(html: string): string {
  const unwrapped = html.replace(MARK_ALONE, '$2')
  return unwrapped === html ? html : unwrapMarks(unwrapped)
}

const MARK_ALONE =
  /<(p|div|span)(?: [^<>]*)?>\s*(%IF:[A-Z][A-Z0-9_]{2,}%|%END:IF%|%APPT_CARD%)\s*(?:<br \/>\s*)?<\/\1>/g

/** A condition that begins and ends in different elements would leave one of them open. */
function splitConditions(prepared: string): Fault[] {
  const faults: Fault[] = []
  let open: { mark: string; depth: number } | undefined
  let depth = 0
  for (const [i, part] of prepared.split(/(<[^>]*>)/).entries()) {
    if (i % 2 === 1) {
      if (!part.endsWith('/>')) depth += part[1] === '/' ? -1 : 1
      if (!open || depth >= open.depth) continue
      const detail = `${open.mark} and its %END:IF% must stand in the same element`
      faults.push({ pointer: '/emailBody', detail })
      open = undefined
      continue
    }
    for (const [mark, condition, end] of part.matchAll(PIECE)) {
      if (condition !== undefined) open = { mark, depth }
      if (end !== undefined && open && depth !== open.depth) {
        const detail = `${open.mark} and its %END:IF% must stand in the same element`
        faults.push({ pointer: '/emailBody', detail })
      }
      if (end !== undefined) open = undefined
    }
  }
  return faults
}
