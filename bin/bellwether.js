#!/usr/bin/env node
// Works under any Node: hands over to the one that came with `npm ci`.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const bundled = path.join(root, 'node_modules', '.bin', 'node')
const program = existsSync(bundled) ? bundled : process.execPath
// Whoever reads a million lines makes rubbish all the time; it need not be let lie. `npm start` says
// the same.
const frugal = ['--max-semi-space-size=8', '--heap-growing-percent=50']
const args = [...frugal, path.join(root, 'src', 'main.ts'), ...process.argv.slice(2)]

// Known before the first file is read, what was kept also spares the program that strips types, and
// its 20 MB.
const env = {
  NODE_COMPILE_CACHE: path.join(root, 'node_modules', '.cache', 'bellwether'),
  ...process.env,
}
const child = spawn(program, args, { stdio: 'inherit', env })
// Ctrl-C reaches the child by itself; what was sent to us alone is passed on.
process.on('SIGINT', () => {})
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.once('error', (error) => {
  process.stderr.write(`Node 26 is missing (${error.message}): run "npm ci" again.\n`)
  process.exit(2)
})
child.once('exit', (code, signal) => {
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1)
})
