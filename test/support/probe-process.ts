import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { startProbe } from './probe.ts'

/** The probe in its own process, so that its CPU time can be measured separately. */
export async function startProbeProcess(t: TestContext) {
  const child = fork(import.meta.filename)
  t.after(() => child.kill())
  const [port] = (await once(child, 'message')) as [number]
  return {
    port,
    cpuMs: async () => {
      child.send('cpu')
      const [ms] = (await once(child, 'message')) as [number]
      return ms
    },
  }
}

if (import.meta.main) {
  const { app } = await startProbe({ after: () => {} })
  await app.listen({ port: 0 })
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send!((user + system) / 1000)
  })
  process.send!((app.server.address() as AddressInfo).port)
}
