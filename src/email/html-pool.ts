import { invalid } from '../errors.ts'
import { ParserPool, type Unusable } from '../parser-pool.ts'
import { RecentlyUsed } from '../recently-used.ts'
import { PARSERS } from './parsers.ts'
import type { CheckedHtml, RenderedHtml } from './read-html.ts'

/**
 * Parsing, sanitising and inlining the HTML of templates on worker threads, so that no template can
 * block the event loop. See docs/decisions/0023-template-html.md.
 */

/** Checks the HTML of a template that is being saved. Call it before the transaction begins. */
export async function checkHtml(businessId: number, html: string): Promise<CheckedHtml> {
  const checked = await checks.run<CheckedHtml>({ businessId }, { name: 'check', input: html })
  if ('unusable' in checked) {
    const faults = [{ pointer: '/emailBody', detail: checked.unusable }]
    return { faults, stored: html, removed: [], rendered: { html: '', text: '', styles: '' } }
  }
  if (checked.faults.length === 0) {
    cache.set(checked.stored, checked.rendered)
  }
  return checked
}

/** The HTML of a stored template as mails carry it, if it was rendered before. */
export const findRendered = (html: string) => cache.get(html)

/** Renders the HTML of a stored template. May take seconds: not for use within a transaction. */
export function renderHtml(businessId: number, html: string): Promise<RenderedHtml | Unusable> {
  const known = cache.get(html)
  if (known) return Promise.resolve(known)
  let made = rendering.get(html)
  if (!made) {
    made = renders
      .run<RenderedHtml>({ businessId }, { name: 'render', input: html })
      .then((result) => (cache.set(html, result), result))
      .finally(() => rendering.delete(html))
    rendering.set(html, made)
  }
  return made
}

/** Starts the thread that renders mails, so that the first mail does not wait for it. */
export const warmUp = () => void renderHtml(0, '').catch(() => {})

export const unusableTemplate = ({ unusable }: Unusable) =>
  invalid([{ pointer: '/emailBody', detail: unusable }])

/** Separate threads, so that mails never wait for templates that are being saved. */
const checks = new ParserPool({ ...PARSERS, total: 2, maxWaiting: 20 })
const renders = new ParserPool({ ...PARSERS, total: 1, isUrgent: true })

/** Renderings that are running or waiting, by HTML. */
const rendering = new Map<string, Promise<RenderedHtml | Unusable>>()

/** Counts the sources only; with the rendered HTML the cache takes about three times as much. */
const MAX_CACHED_CHARACTERS = 10_000_000

const cache = new RecentlyUsed<string, RenderedHtml | Unusable>(MAX_CACHED_CHARACTERS, {
  sizeOf: (html) => html.length,
})
