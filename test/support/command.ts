import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'

/** Runs a command in its own process until it ends, with only these environment variables. */
export async function runCommand(words: string[], settings: Record<string, string>) {
  const main = path.join(import.meta.dirname, '../../src/main.ts')
  const { PATH, HOME, TMPDIR } = process.env
  const child = spawn(process.execPath, [main, ...words], {
    env: { PATH, HOME, TMPDIR, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  const [code] = await once(child, 'close')
  return { code: code as number | null, stdout, stderr }
}
