#!/usr/bin/env node
// Runs under any version of Node, and starts the service with the one that npm installed.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const source = path.join(root, 'src', 'main.ts')
// A published package and an image hold the compiled program only.
const main = existsSync(source) ? source : path.join(root, 'dist', 'main.js')
// Keeps the heap small while a long import or export creates many short-lived objects. `npm start` uses the
// same flags.
const memoryFlags = ['--max-semi-space-size=8', '--heap-growing-percent=50']
const args = [...memoryFlags, main, ...process.argv.slice(2)]

// Set before the first file is read, so that cached files need no type stripping, whose module takes
// 20 MB.
const env = {
  NODE_COMPILE_CACHE: path.join(root, 'node_modules', '.cache', 'bellwether'),
  ...process.env,
}
const child = spawn(findNode(), args, { stdio: 'inherit', env })
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

/** npm may install the package of Node next to this one, or in a folder above. */
function findNode() {
  const names = { linux: 'node-linux', darwin: 'node-bin-darwin', win32: 'node-win' }
  const name = `${names[process.platform]}-${process.arch}`
  try {
    const folder = path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
    return path.join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  } catch {
    return process.execPath
  }
}
