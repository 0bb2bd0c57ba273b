import { spawn } from 'node:child_process'
import { chmodSync, existsSync, globSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { CONSOLE_FOLDER } from '../http/routes/console.ts'
import type { Log } from '../log.ts'

/** Builds the console if it is missing or older than its sources. The API does not need it. */
export async function buildConsole(log: Log, built = join(CONSOLE_FOLDER, 'dist')) {
  let fresh = ''
  try {
    if (isFresh(built)) return
    fresh = mkdtempSync(join(dirname(built), '.build-'))
    await runVite(fresh)
    // mkdtemp gives access only to its own user, but the service may run as another one.
    chmodSync(fresh, 0o755)
    // Another service that started at the same time may have built it, and its pages may be open.
    if (!isFresh(built)) replaceFolder(built, fresh)
  } catch (err) {
    log.warn({ err }, 'building the console failed')
  } finally {
    if (fresh) rmSync(fresh, { recursive: true, force: true })
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
