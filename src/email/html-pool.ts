import { Worker } from 'node:worker_threads'
import { invalid, RequestError } from '../errors.ts'
import type { Answer, Task } from './html-thread.ts'
import type { CheckedHtml, RenderedHtml } from './read-html.ts'

/**
 * Parsing, sanitising and inlining the HTML of templates on worker threads, so that no template can
 * block the event loop. A task that uses too much CPU time or memory ends with its thread. See
 * docs/decisions/0141-html-on-worker-threads.md.
 */

/** Checks the HTML of a template that is being saved. Call it before the transaction begins. */
export async function checkHtml(businessId: number, html: string): Promise<CheckedHtml> {
  const checked = await checks.run<CheckedHtml>(businessId, { name: 'check', html })
  if ('unusable' in checked) {
    const faults = [{ pointer: '/emailBody', detail: checked.unusable }]
    return { faults, stored: html, rendered: { html: '', text: '' } }
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

/** Why this HTML cannot be processed, for its author. The same HTML would fail again. */
export type Unusable = { unusable: string }

export const unusableTemplate = ({ unusable }: Unusable) =>
  invalid([{ pointer: '/emailBody', detail: unusable }])

const MAX_CPU_MS = 3_000
const MAX_MEMORY_MB = 256
const MAX_WAITING = 20
const LOOK_EVERY_MS = 250

type Job = {
  businessId: number
  task: Task
  resolve(result: unknown): void
  reject(error: unknown): void
}

/**
 * A few threads that share a queue. A business has one task running at a time, and businesses take
 * turns: one that keeps a thread busy delays its own templates only.
 */
class HtmlPool {
  readonly #idle: HtmlThread[] = []
  readonly #running = new Set<number>()
  /** By business; the business whose turn is next comes first. */
  readonly #waiting = new Map<number, Job[]>()
  #free: number

  constructor(threads: number) {
    this.#free = threads
  }

  run<Result>(businessId: number, task: Task): Promise<Result | Unusable> {
    return new Promise((resolve, reject) => {
      const own = this.#waiting.get(businessId)
      if (own && own.length >= MAX_WAITING && task.name === 'check') {
        throw new RequestError(429, 'Many templates of yours are waiting already.', undefined, {
          'retry-after': '5',
        })
      }
      const job = { businessId, task, resolve: resolve as Job['resolve'], reject }
      if (own) own.push(job)
      else this.#waiting.set(businessId, [job])
      this.#next()
    })
  }

  #next() {
    if (this.#free === 0) return
    const turn = this.#waiting.entries().find(([businessId]) => !this.#running.has(businessId))
    if (!turn) return
    const [businessId, [job, ...others]] = turn as [number, [Job, ...Job[]]]
    this.#waiting.delete(businessId)
    if (others.length > 0) this.#waiting.set(businessId, others)
    void this.#work(job)
    this.#next()
  }

  async #work({ businessId, task, resolve, reject }: Job) {
    this.#free -= 1
    this.#running.add(businessId)
    const thread = this.#idle.pop() ?? new HtmlThread()
    try {
      resolve(await thread.run(task))
    } catch (error) {
      reject(error)
    } finally {
      if (!thread.hasEnded) this.#idle.push(thread)
      this.#free += 1
      this.#running.delete(businessId)
      this.#next()
    }
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
      const watch = setInterval(() => void this.#look(), LOOK_EVERY_MS)
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

  /** CPU time, not time that passed: a busy or suspended machine does not fail a good template. */
  async #look() {
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

/** Mails never wait for templates that are being saved: each has threads of its own. */
const checks = new HtmlPool(2)
const renders = new HtmlPool(1)

/** By HTML: what a thread is rendering, or will. */
const rendering = new Map<string, Promise<RenderedHtml | Unusable>>()

/** Rendered HTML by its source; the entries that were used last stay. */
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

/** Of the sources; with what was made of them three times as much. */
const MAX_CACHED_CHARACTERS = 10_000_000

const cache = new RenderedCache()
