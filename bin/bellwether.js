#!/usr/bin/env node
// Runs under any version of Node, and starts the service with the one that `npm ci` installed.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const bundled = path.join(root, 'node_modules', '.bin', 'node')
const program = existsSync(bundled) ? bundled : process.execPath
// Keeps the heap small while a long import or export creates many short-lived objects. `npm start` uses the
// same flags.
const memoryFlags = ['--max-semi-space-size=8', '--heap-growing-percent=50']
const args = [...memoryFlags, path.join(root, 'src', 'main.ts'), ...process.argv.slice(2)]

// Set before the first file is read, so that cached files need no type stripping, whose module takes
// 20 MB.
const env = {
  NODE_COMPILE_CACHE: path.join(root, 'node_modules', '.cache', 'bellwether'),
  ...process.env,
}
const child = spawn(program, args, { stdio: 'inherit', env })
// Ctrl-C also reaches the child. Other signals reach this process only and are forwarded.
process.on('SIGINT', () => {})
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.once('error', (error) => {
  process.stderr.write(`Node 26 is missing (${error.message}): run "npm ci" again.\n`)
  process.exit(2)
})
child.once('exit', (code, signal) => {
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1)
})
