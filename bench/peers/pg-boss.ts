import { inPieces, peer, rateOf, type Contender, type Stage } from './stage.ts'
import { deliver } from './work.ts'

type Job = { id: string; data: { id: number } }

async function openBoss({ url }: Stage) {
  const { PgBoss } = await peer('pg-boss')
  const boss = new PgBoss({
    connectionString: url,
    schema: 'bench_boss',
    supervise: false,
    schedule: false,
  })
  boss.on('error', (error: unknown) => console.error(error))
  await boss.start()
  await boss.createQueue('remind')
  return boss
}

/** The worker of pg-boss, which receives jobs in batches; `work` handles one batch. */
async function pgBoss(
  stage: Stage,
  name: string,
  work: (jobs: Job[]) => Promise<unknown>,
): Promise<Contender> {
  const boss = await openBoss(stage)
  return {
    name,
    fire: async (ids) => {
      for (const some of inPieces(ids)) {
        await boss.insert(
          'remind',
          some.map((id) => ({ data: { id } })),
        )
      }
      await stage.pool.query('vacuum analyze')
      let done = 0
      const all = Promise.withResolvers<void>()
      const startedAt = performance.now()
      await boss.work(
        'remind',
        {
          batchSize: 500,
          localConcurrency: 2,
          burstWhenBatchFull: true,
          pollingIntervalSeconds: 0.5,
        },
        async (jobs: Job[]) => {
          await work(jobs)
          done += jobs.length
          if (done === ids.length) all.resolve()
        },
      )
      await all.promise
      const rate = rateOf(done, startedAt)
      await boss.offWork('remind', { wait: true })
      return rate
    },
    close: () => boss.stop({ graceful: false }),
  }
}

/** Each job separately, like the other peers; the jobs of a batch run concurrently. */
export const pgBossEach = (stage: Stage) =>
  pgBoss(stage, 'pg-boss', (jobs) => Promise.all(jobs.map((job) => deliver(stage, [job.data.id]))))

/** A batch of up to 500 jobs as two hand-written statements. */
export const pgBossInSets = (stage: Stage) =>
  pgBoss(stage, 'pg-boss, in sets', (jobs) =>
    deliver(
      stage,
      jobs.map((job) => job.data.id),
    ),
  )

/** Enqueues jobs inside the caller's transaction, with the `db` option of pg-boss. */
export async function openBossQueue(stage: Stage) {
  const boss = await openBoss(stage)
  return {
    name: 'pg-boss',
    put: (
      query: (text: string, values: unknown[]) => Promise<{ rows: unknown[] }>,
      jobs: { id: number; place: number; runAt: Temporal.Instant }[],
    ) =>
      boss.insert(
        'remind',
        jobs.map(({ id, place, runAt }) => ({ data: { id, place }, startAfter: runAt.toString() })),
        { db: { executeSql: query } },
      ),
    close: () => boss.stop({ graceful: false }),
  }
}
