import { spawn } from 'node:child_process'
import path from 'node:path'

/** Runs one proof to its full extent: node test/proof.ts simulation|kill|nodes|races|herd|long-read|mail */
const [name] = process.argv.slice(2)
const file = path.join(import.meta.dirname, 'proofs', `${name}.test.ts`)
const run = path.join(import.meta.dirname, 'run.ts')
const hours = 12 * 3_600_000
const child = spawn(process.execPath, [run, `--test-timeout=${hours}`, file], {
  stdio: 'inherit',
  env: { ...process.env, PROOF: 'full' },
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
child.once('exit', (code) => process.exit(code ?? 1))
