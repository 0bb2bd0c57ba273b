import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { cleanUpLater } from './clean-up.ts'

/** The real service in its own process, on a free port, with only these environment variables. */
export async function startService(
  t: Pick<TestContext, 'after'>,
  settings: Record<string, string>,
  {
    main = path.join(import.meta.dirname, '../../src/main.ts'),
    cwd = process.cwd(),
    user = {} as { uid?: number; gid?: number },
  } = {},
) {
  const { PATH, HOME, TMPDIR } = process.env
  const startedAt = performance.now()
  const child = spawn(process.execPath, [main, 'serve'], {
    cwd,
    env: { PATH, HOME, TMPDIR, PORT: '0', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Its own process group, as in a terminal, so that a test can send Ctrl-C.
    detached: true,
    ...user,
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, signal)
    return ended
  }
  cleanUpLater(t, () => stop())

  let output = ''
  let stdout = ''
  const base = await new Promise<string>((resolve, reject) => {
    const readOutput = (text: string) => {
      output += text
      const address = /Bellwether is running: (\S+)/.exec(output)?.[1]
      if (address && /Mail .*\n/.test(output)) resolve(address)
    }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      readOutput(text)
    })
    child.stderr.setEncoding('utf8').on('data', readOutput)
    void ended.then((code) => reject(new Error(`the service ended with ${code}: ${output}`)))
  })
  return {
    base,
    pid: child.pid!,
    ended,
    stop,
    startedInMs: performance.now() - startedAt,
    output: () => output,
    stdout: () => stdout,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    status: async (path: string, init: RequestInit = {}) => {
      const answer = await fetch(new URL(path, base), init)
      await answer.arrayBuffer()
      return answer.status
    },
  }
}
