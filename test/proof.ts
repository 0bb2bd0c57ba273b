import { spawn } from 'node:child_process'
import path from 'node:path'

/** Tests whose promised durations hold on an idle machine only; see `assertWithin`. */
const WITH_DURATIONS = [
  'automation/stored-templates.test.ts',
  'automation/timing.test.ts',
  'cli/serve-embedded.test.ts',
  'cli/serve.test.ts',
  'database/failover.test.ts',
  'database/database-outage.test.ts',
  'http/body.test.ts',
  'http/hostile-templates.test.ts',
  'reports/lateness.test.ts',
]

/**
 * Runs one proof to its full extent:
 * node test/proof.ts simulation|early|kill|nodes|races|answers|burst|long-read|mail|prints|console|durations
 */
const [name] = process.argv.slice(2)
const files = name === 'durations' ? WITH_DURATIONS : [`proofs/${name}.test.ts`]
const paths = files.map((file) => path.join(import.meta.dirname, file))
const run = path.join(import.meta.dirname, 'run.ts')
const hours = 12 * 3_600_000
const child = spawn(process.execPath, [run, `--test-timeout=${hours}`, ...paths], {
  stdio: 'inherit',
  env: { ...process.env, PROOF: 'full' },
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
child.once('exit', (code) => process.exit(code ?? 1))
