import { parentPort } from 'node:worker_threads'
import { HTML_TASKS } from './read-html.ts'

/** The worker thread of `html-pool.ts`: one task in, one answer out. */
export type Task = { name: keyof typeof HTML_TASKS; html: string }

/** `error`: the message of the error that a task threw. `cpuMs`: the thread's CPU time so far. */
export type Answer = { result?: unknown; error?: string; cpuMs: number }

const port = parentPort!

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

const answer = (message: Omit<Answer, 'cpuMs'>) => port.postMessage({ ...message, cpuMs: cpuMs() })

port.on('message', ({ name, html }: Task) => {
  try {
    answer({ result: HTML_TASKS[name](html) })
  } catch (error) {
    answer({ error: error instanceof Error ? error.message : String(error) })
  }
})
// The modules are loaded: their CPU time is not charged to the first task.
answer({})
