import { Worker } from 'node:worker_threads'
import type { ReportFormat } from '../../contract/report.ts'
import type { ReportResult } from '../report.ts'
import type { Answered, Sent } from './writer-thread.ts'
import { SUFFIX } from '../../version.ts'

/**
 * Writes CSV, workbooks, HTML and JSON on worker threads, so that a long report does not delay the
 * requests and the engine of this process. Rows are still read on the event loop.
 */

type Writing = { format: Exclude<ReportFormat, 'pdf'>; fd: number; signal: AbortSignal }

/** How many idle threads are kept for the next report. */
const MAX_IDLE = 3
const idle: WriterThread[] = []

/** Writes a report to an open file; returns its size. When it throws, the thread no longer writes. */
export async function writeInThread(result: ReportResult, writing: Writing): Promise<number> {
  const thread = idle.pop() ?? new WriterThread()
  try {
    const size = await thread.write(result, writing)
    if (idle.length < MAX_IDLE) idle.push(thread)
    else await thread.end()
    return size
  } catch (error) {
    // The file is closed next: its descriptor could then belong to another file.
    await thread.end()
    throw error
  }
}

const MAX_MEMORY_MB = 512
/** The maximum of batches that the thread has not begun to write. */
const MAX_BATCHES_AHEAD = 3

class WriterThread {
  readonly #worker = new Worker(new URL(`./writer-thread${SUFFIX}`, import.meta.url), {
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
  })
  #ended = Promise.withResolvers<number>()
  #ahead = 0
  #onTaken: (() => void) | undefined

  constructor() {
    this.#worker.on('message', (answered: Answered) => this.#receive(answered))
    this.#worker.on('error', (error: Error) => this.#ended.reject(error))
    this.#worker.on('exit', () => {
      this.#ended.reject(new Error('the thread that wrote the report ended'))
      const at = idle.indexOf(this)
      if (at >= 0) idle.splice(at, 1)
    })
    this.#ended.promise.catch(() => {})
    // An idle thread does not keep the process running.
    this.#worker.unref()
  }

  async write({ rows, totals, ...head }: ReportResult, { format, fd, signal }: Writing) {
    signal.throwIfAborted()
    this.#ended = Promise.withResolvers<number>()
    this.#ended.promise.catch(() => {}) // Awaited below; until then it must not count as unhandled.
    this.#ahead = 0
    const abort = () => this.#ended.reject(signal.reason)
    signal.addEventListener('abort', abort)
    this.#worker.ref()
    try {
      this.#send({ kind: 'head', format, head, fd })
      for await (const batch of rows) {
        if (this.#ahead >= MAX_BATCHES_AHEAD)
          await Promise.race([this.#taken(), this.#ended.promise])
        this.#ahead += 1
        this.#send({ kind: 'rows', rows: batch })
      }
      this.#send({ kind: 'totals', totals: totals() })
      return await this.#ended.promise
    } finally {
      signal.removeEventListener('abort', abort)
      this.#worker.unref()
    }
  }

  async end() {
    await this.#worker.terminate()
  }

  #send(message: Sent) {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
    this.#worker.postMessage(message)
  }

  #taken() {
    return new Promise<void>((resolve) => (this.#onTaken = resolve))
  }

  #receive(answered: Answered) {
    if (answered.kind === 'taken') {
      this.#ahead -= 1
      this.#onTaken?.()
    } else if (answered.kind === 'done') this.#ended.resolve(answered.size)
    else this.#ended.reject(new Error(answered.message))
  }
}
