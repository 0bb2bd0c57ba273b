import { setTimeout as wait } from 'node:timers/promises'

/**
 * The most CPU time, in milliseconds, that this thread used between two timers of one millisecond
 * while `work` ran: how long any other request would have waited for the event loop. CPU time does
 * not count the time that a busy machine gives to other processes.
 */
export async function longestBlockMs<T>(work: () => Promise<T>) {
  let isDone = false
  let longest = 0
  const look = async () => {
    for (let before = cpuMs(); !isDone;) {
      await wait(1)
      const now = cpuMs()
      longest = Math.max(longest, now - before)
      before = now
    }
  }
  const looking = look()
  const result = await work().finally(() => (isDone = true))
  await looking
  return { result, longest }
}

function cpuMs() {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
