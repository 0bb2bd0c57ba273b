import { spawn } from 'node:child_process'
import { chmodSync, existsSync, globSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { CONSOLE_FOLDER } from '../http/routes/console.ts'
import type { Log } from '../log.ts'

/** Builds the console if needed, and logs an error: the API works without it. */
export const buildConsole = (log: Log, built?: string) =>
  buildStaleConsole(built).catch((err) => log.warn({ err }, 'building the console failed'))

/** Builds the console if it is missing or older than its sources. */
export async function buildStaleConsole(built = join(CONSOLE_FOLDER, 'dist')) {
  if (isFresh(built)) return
  const fresh = mkdtempSync(join(dirname(built), '.build-'))
  try {
    await runVite(fresh)
    // mkdtemp gives access only to its own user, but the service may run as another one.
    chmodSync(fresh, 0o755)
    // Another service that started at the same time may have built it, and its pages may be open.
    if (!isFresh(built)) replaceFolder(built, fresh)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

/** Renames folders, so that a service that starts meanwhile sees no partial build. */
function replaceFolder(built: string, fresh: string) {
  const old = `${fresh}-old`
  if (existsSync(built)) renameSync(built, old)
  renameSync(fresh, built)
  rmSync(old, { recursive: true, force: true })
}

function isFresh(built: string) {
  const index = statSync(join(built, 'index.html'), { throwIfNoEntry: false })
  if (!index) return false
  // A published package and an image hold the built console only.
  if (!existsSync(join(CONSOLE_FOLDER, 'main.tsx'))) return true
  const client = join(import.meta.dirname, '../client')
  const sources = [
    ...globSync('**/*', { cwd: CONSOLE_FOLDER, exclude: ['dist', '.build-*'] }).map((file) =>
      join(CONSOLE_FOLDER, file),
    ),
    ...globSync(join(client, '*.ts')),
  ]
  return sources.every((file) => statSync(file).mtimeMs <= index.mtimeMs)
}

/** In a process of its own, so that the memory of the build is freed afterwards. */
async function runVite(outDir: string) {
  const vite = dirname(createRequire(import.meta.url).resolve('vite/package.json'))
  const child = spawn(
    process.execPath,
    [join(vite, 'bin/vite.js'), 'build', '--outDir', outDir, '--logLevel', 'error'],
    { cwd: CONSOLE_FOLDER, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let errorOutput = ''
  child.stderr.on('data', (text) => (errorOutput += text))
  const code = await new Promise((resolve) => child.once('exit', resolve).once('error', resolve))
  if (code !== 0) throw new Error(`vite build failed: ${errorOutput.slice(0, 2_000)}`)
}
