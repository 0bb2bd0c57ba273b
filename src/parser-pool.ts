import { Worker } from 'node:worker_threads'
import type { ParserReply, Task } from './parser-tasks.ts'
import { SUFFIX } from './version.ts'
import { WorkQueue, type WaitingCaller } from './work-queue.ts'

/**
 * Worker threads for parsers whose time can grow faster than their input: no text can block the event
 * loop. A task that uses too much CPU time or memory ends with its thread.
 */

/** The reason why this text cannot be processed, for its author. It would fail again. */
export type Unusable = { unusable: string }

const MAX_MEMORY_MB = 256
const CPU_CHECK_EVERY_MS = 250

type PoolSettings = {
  /** The file of the threads without its suffix, next to the caller: it calls `answerTasks`. */
  thread: URL
  maxCpuSeconds: number
  /** How many threads there are. */
  total: number
  maxWaiting?: number
  /** Mails wait for it: its threads have the priority of the service itself. */
  isUrgent?: boolean
}

/** A few threads that share a queue. A business has one task running at a time. */
export class ParserPool {
  readonly #settings: PoolSettings
  readonly #idle: ParserThread[] = []
  readonly #queue: WorkQueue

  constructor(settings: PoolSettings) {
    this.#settings = settings
    const { total, maxWaiting = Infinity } = settings
    this.#queue = new WorkQueue({ perBusiness: 1, total, maxWaiting })
  }

  run<Result>(caller: WaitingCaller, task: Task): Promise<Result | Unusable> {
    return this.#queue.run(caller, async () => {
      const thread = this.#idle.pop() ?? new ParserThread(this.#settings)
      try {
        return (await thread.run(task)) as Result | Unusable
      } finally {
        if (!thread.hasEnded) this.#idle.push(thread)
      }
    })
  }
}

class ParserThread {
  hasEnded = false
  readonly #worker: Worker
  readonly #maxCpuSeconds: number
  /** CPU time that the thread had used after its last answer. */
  #cpuMs = 0
  #settle: ((outcome: { answer: ParserReply } | { error: Error }) => void) | undefined
  #isReady: Promise<void>

  constructor({ thread, maxCpuSeconds, isUrgent = false }: PoolSettings) {
    this.#maxCpuSeconds = maxCpuSeconds
    this.#worker = new Worker(new URL(`${thread.href}${SUFFIX}`), {
      execArgv: [],
      workerData: { isUrgent },
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
    })
    this.#worker.on('message', (answer: ParserReply) => {
      this.#cpuMs = answer.cpuMs
      this.#settle?.({ answer })
    })
    this.#worker.on('error', (error: Error) => this.#end(error))
    this.#worker.on('exit', () => this.#end(new Error('the parser thread ended')))
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
      await this.#isReady.catch((error: Error) => {
        throw new ThreadFailed(error.message, { cause: error })
      })
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
    return new Promise<{ answer: ParserReply } | { error: Error }>(
      (settle) => (this.#settle = settle),
    )
  }

  /** CPU time, not elapsed time: a busy or suspended machine must not fail a good text. */
  async #checkCpuTime() {
    const used = await this.#worker.cpuUsage().catch(() => undefined)
    if (used && (used.user + used.system) / 1_000 - this.#cpuMs > this.#maxCpuSeconds * 1_000) {
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
      return { unusable: `takes more than ${this.#maxCpuSeconds} s to process; make it simpler` }
    }
    if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') {
      return { unusable: `takes more than ${MAX_MEMORY_MB} MB to process; make it simpler` }
    }
    throw new ThreadFailed(error.message, { cause: error })
  }
}

/** The thread did not start, or died: not because of its text. The operator has to fix that. */
export class ThreadFailed extends Error {}

class TooSlow extends Error {}
