import { Worker } from 'node:worker_threads'
import { invalid } from '../errors.ts'
import { WorkQueue } from '../work-queue.ts'
import type { Answer, Task } from './html-thread.ts'
import type { CheckedHtml, RenderedHtml } from './read-html.ts'

/**
 * Parsing, sanitising and inlining the HTML of templates on worker threads, so that no template can
 * block the event loop. A task that uses too much CPU time or memory ends with its thread. See
 * docs/decisions/0023-template-html.md.
 */

/** Checks the HTML of a template that is being saved. Call it before the transaction begins. */
export async function checkHtml(businessId: number, html: string): Promise<CheckedHtml> {
  const checked = await checks.run<CheckedHtml>(businessId, { name: 'check', html })
  if ('unusable' in checked) {
    const faults = [{ pointer: '/emailBody', detail: checked.unusable }]
    return { faults, stored: html, rendered: { html: '', text: '', styles: '' } }
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
      .run<RenderedHtml>(businessId, { name: 'render', html })
      .then((result) => (cache.set(html, result), result))
      .finally(() => rendering.delete(html))
    rendering.set(html, made)
  }
  return made
}

/** Starts the thread that renders mails, so that the first mail does not wait for it. */
export const warmUp = () => void renderHtml(0, '').catch(() => {})

/** The reason why this HTML cannot be processed, for its author. It would fail again. */
export type Unusable = { unusable: string }

export const unusableTemplate = ({ unusable }: Unusable) =>
  invalid([{ pointer: '/emailBody', detail: unusable }])

const MAX_CPU_MS = 3_000
const MAX_MEMORY_MB = 256
const CPU_CHECK_EVERY_MS = 250

/** A few threads that share a queue. A business has one task running at a time. */
class HtmlPool {
  readonly #idle: HtmlThread[] = []
  readonly #queue: WorkQueue

  constructor(limits: { total: number; maxWaiting?: number }) {
    this.#queue = new WorkQueue({ perBusiness: 1, ...limits })
  }

  run<Result>(businessId: number, task: Task): Promise<Result | Unusable> {
    return this.#queue.run({ businessId }, async () => {
      const thread = this.#idle.pop() ?? new HtmlThread()
      try {
        return (await thread.run(task)) as Result | Unusable
      } finally {
        if (!thread.hasEnded) this.#idle.push(thread)
      }
    })
  }
}

class HtmlThread {
  hasEnded = false
  readonly #worker = new Worker(new URL('./html-thread.ts', import.meta.url), {
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
  })
  /** CPU time that the thread had used after its last answer. */
  #cpuMs = 0
  #settle: ((outcome: { answer: Answer } | { error: Error }) => void) | undefined
  #isReady: Promise<void>

  constructor() {
    this.#worker.on('message', (answer: Answer) => {
      this.#cpuMs = answer.cpuMs
      this.#settle?.({ answer })
    })
    this.#worker.on('error', (error: Error) => this.#end(error))
    this.#worker.on('exit', () => this.#end(new Error('the HTML thread ended')))
    this.#isReady = this.#answered().then((outcome) => {
      if ('error' in outcome) throw outcome.error
    })
    this.#isReady.catch(() => {})
    // An idle thread does not keep the process running.
    this.#worker.unref()
  }

  async run(task: Task): Promise<unknown> {
    this.#worker.ref()
    try {
      await this.#isReady
      const answered = this.#answered()
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
      this.#worker.postMessage(task)
      const watch = setInterval(() => void this.#checkCpuTime(), CPU_CHECK_EVERY_MS)
      const outcome = await answered.finally(() => clearInterval(watch))
      if ('error' in outcome) return this.#unusable(outcome.error)
      const { result, error } = outcome.answer
      return error === undefined ? result : { unusable: `cannot be read: ${error}` }
    } finally {
      if (!this.hasEnded) this.#worker.unref()
    }
  }

  #answered() {
    return new Promise<{ answer: Answer } | { error: Error }>((settle) => (this.#settle = settle))
  }

  /** CPU time, not elapsed time: a busy or suspended machine must not fail a good template. */
  async #checkCpuTime() {
    const used = await this.#worker.cpuUsage().catch(() => undefined)
    if (used && (used.user + used.system) / 1_000 - this.#cpuMs > MAX_CPU_MS) {
      this.#end(new TooSlow())
      await this.#worker.terminate()
    }
  }

  #end(error: Error) {
    this.hasEnded = true
    this.#settle?.({ error })
  }

  #unusable(error: Error): Unusable {
    if (error instanceof TooSlow) {
      return { unusable: `takes more than ${MAX_CPU_MS / 1_000} s to process; make it simpler` }
    }
    if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') {
      return { unusable: `takes more than ${MAX_MEMORY_MB} MB to process; make it simpler` }
    }
    throw error
  }
}

class TooSlow extends Error {}

/** Separate threads, so that mails never wait for templates that are being saved. */
const checks = new HtmlPool({ total: 2, maxWaiting: 20 })
const renders = new HtmlPool({ total: 1 })

/** Renderings that are running or waiting, by HTML. */
const rendering = new Map<string, Promise<RenderedHtml | Unusable>>()

/** Rendered HTML by its source, least recently used entries dropped first. */
class RenderedCache {
  readonly #entries = new Map<string, RenderedHtml | Unusable>()
  #characters = 0

  get(html: string) {
    const found = this.#entries.get(html)
    if (found) {
      this.#entries.delete(html)
      this.#entries.set(html, found)
    }
    return found
  }

  set(html: string, rendered: RenderedHtml | Unusable) {
    this.#delete(html)
    this.#entries.set(html, rendered)
    this.#characters += html.length
    for (const oldest of this.#entries.keys()) {
      if (this.#characters <= MAX_CACHED_CHARACTERS) break
      this.#delete(oldest)
    }
  }

  #delete(html: string) {
    if (this.#entries.delete(html)) this.#characters -= html.length
  }
}

/** Counts the sources only; with the rendered HTML the cache takes about three times as much. */
const MAX_CACHED_CHARACTERS = 10_000_000

const cache = new RenderedCache()
