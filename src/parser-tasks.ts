import { parentPort, workerData } from 'node:worker_threads'
import { lowerPriority } from './lower-priority.ts'

/** What a worker thread of `parser-pool.ts` gets: the name of a task and its input. */
export type Task = { name: string; input: unknown }

/** `error`: the message of the error that a task threw. `cpuMs`: the thread's CPU time so far. */
export type ParserReply = { result?: unknown; error?: string; cpuMs: number }

/** Makes the current thread a parser thread: one task in, one answer out. */
export function answerTasks(tasks: Record<string, (input: never) => unknown>) {
  const port = parentPort!
  // Elsewhere the priority would be that of the service.
  if (process.platform === 'linux' && !workerData.isUrgent) lowerPriority()
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  }
  const answer = (message: Omit<ParserReply, 'cpuMs'>) =>
    port.postMessage({ ...message, cpuMs: cpuMs() })

  port.on('message', async ({ name, input }: Task) => {
    try {
      answer({ result: await tasks[name]!(input as never) })
    } catch (error) {
      answer({ error: error instanceof Error ? error.message : String(error) })
    }
  })
  // The modules are loaded: their CPU time is not charged to the first task.
  answer({})
}
