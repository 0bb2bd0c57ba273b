import { inPieces, peer, rateOf, type Contender, type Stage } from './stage.ts'
import { deliver } from './work.ts'

const SCHEMA = 'bench_graphile'

/** Set up as its performance guide advises: a local queue, completions in batches. */
export async function graphileWorker(stage: Stage): Promise<Contender> {
  const { Logger, makeWorkerUtils, run } = await peer('graphile-worker')
  const logger = new Logger(() => () => {})
  const utils = await makeWorkerUtils({ connectionString: stage.url, schema: SCHEMA, logger })
  await utils.migrate()
  return {
    name: 'graphile-worker',
    fire: async (ids) => {
      for (const some of inPieces(ids)) {
        await utils.addJobs(some.map((id) => ({ identifier: 'remind', payload: { id } })))
      }
      await stage.pool.query('vacuum analyze')
      let done = 0
      const all = Promise.withResolvers<void>()
      const remind = async (payload: { id: number }) => {
        await deliver(stage, [payload.id])
        done += 1
        if (done === ids.length) all.resolve()
      }
      const startedAt = performance.now()
      const runner = await run({
        pgPool: stage.pool,
        schema: SCHEMA,
        concurrency: 24,
        noHandleSignals: true,
        taskList: { remind },
        logger,
        preset: {
          worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0, maxPoolSize: 20 },
        },
      })
      await all.promise
      const rate = rateOf(done, startedAt)
      await runner.stop()
      return rate
    },
    close: () => utils.release(),
  }
}

type Job = { id: number; place: number; runAt: Temporal.Instant }

/** Enqueues and moves jobs inside the caller's transaction, all of them in one statement. */
export async function openGraphileQueue(stage: Stage) {
  const { Logger, makeWorkerUtils } = await peer('graphile-worker')
  const logger = new Logger(() => () => {})
  const utils = await makeWorkerUtils({ connectionString: stage.url, schema: SCHEMA, logger })
  await utils.migrate()
  await utils.release()
  return {
    name: 'graphile-worker',
    /** A job replaces the pending job with the same key. */
    put: (query: (text: string, values: unknown[]) => Promise<unknown>, jobs: Job[]) =>
      query(
        `select ${SCHEMA}.add_jobs(array(
           select row('remind', json_build_object('id', id), null, run_at, null::smallint,
                      'remind-' || id || '-' || place, null::smallint, null::text[])::${SCHEMA}.job_spec
           from unnest($1::bigint[], $2::int[], $3::timestamptz[]) as j (id, place, run_at)))`,
        [
          jobs.map((job) => job.id),
          jobs.map((job) => job.place),
          jobs.map((job) => job.runAt.toString()),
        ],
      ),
  }
}
