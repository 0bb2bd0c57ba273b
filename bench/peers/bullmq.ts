import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { inPieces, peer, rateOf, type Contender, type Stage } from './stage.ts'
import { deliver } from './work.ts'

/** BullMQ on its own Redis, which syncs its append-only file once a second. */
export async function bullmq(stage: Stage): Promise<Contender | undefined> {
  if (spawnSync('redis-server', ['--version']).status !== 0) {
    console.log(
      'redis-server is not installed (Debian: apt install redis-server): BullMQ is left out',
    )
    return undefined
  }
  const { Queue, Worker } = await peer('bullmq')
  const { Redis } = await peer('ioredis')
  const port = 20_000 + (process.pid % 10_000)
  const settings = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'yes']
  const place = ['--port', String(port), '--dir', stage.folder]
  const redis = spawn('redis-server', [...place, ...settings, '--maxmemory-policy', 'noeviction'], {
    stdio: 'ignore',
  })
  process.on('exit', () => redis.kill())
  await sleep(1_000)
  const connection = new Redis({ host: '127.0.0.1', port, maxRetriesPerRequest: null })
  const queue = new Queue('remind', { connection })
  return {
    name: 'BullMQ',
    fire: async (ids) => {
      const opts = { removeOnComplete: true }
      for (const some of inPieces(ids)) {
        await queue.addBulk(some.map((id) => ({ name: 'remind', data: { id }, opts })))
      }
      let done = 0
      const all = Promise.withResolvers<void>()
      const startedAt = performance.now()
      const worker = new Worker(
        'remind',
        async (job: { data: { id: number } }) => {
          await deliver(stage, [job.data.id])
          done += 1
          if (done === ids.length) all.resolve()
        },
        { connection, concurrency: 50 },
      )
      await all.promise
      const rate = rateOf(done, startedAt)
      await worker.close()
      return rate
    },
    close: async () => {
      await queue.close()
      connection.disconnect()
      redis.kill()
      await once(redis, 'exit')
    },
  }
}
