import { spawn } from 'node:child_process'
import path from 'node:path'

const ELSEWHERE: Record<string, string[]> = {
  feeds: ['', '-files', '-edits', '-hooks', '-bombs', '-figures', '-shadow'].map(
    (part) => `proofs/feeds${part}.test.ts`,
  ),
  plans: ['automation/plan-model.test.ts', 'http/save-plans.test.ts'],
  tenants: ['tenants/pool.test.ts'],
  /** Tests whose promised durations hold on an idle machine only; see `assertWithin`. */
  durations: [
    'automation/stored-templates.test.ts',
    'automation/timing.test.ts',
    'cli/serve-embedded.test.ts',
    'cli/serve.test.ts',
    'database/failover.test.ts',
    'database/database-outage.test.ts',
    'email/bounce-listener.test.ts',
    'file-import/hostile-workbooks.test.ts',
    'http/body.test.ts',
    'http/health.test.ts',
    'http/hostile-runs.test.ts',
    'http/hostile-templates.test.ts',
    'linear-time.test.ts',
    'reports/lateness.test.ts',
  ],
}

/**
 * Runs one proof to its full extent:
 * node test/proof.ts simulation|early|kill|nodes|races|answers|outage|burst|locks|long-read|mail|neighbours|prints|feeds|file-import|console|plans|tenants|durations|failover|lists|scale
 */
const [name = ''] = process.argv.slice(2)
const files = ELSEWHERE[name] ?? [`proofs/${name}.test.ts`]
const paths = files.map((file) => path.join(import.meta.dirname, file))
const run = path.join(import.meta.dirname, 'run.ts')
const hours = 12 * 3_600_000
// One file after the other: some measure durations.
const flags = [`--test-timeout=${hours}`, '--test-concurrency=1']
const child = spawn(process.execPath, [run, ...flags, ...paths], {
  stdio: 'inherit',
  env: { ...process.env, PROOF: 'full' },
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
child.once('exit', (code) => process.exit(code ?? 1))
