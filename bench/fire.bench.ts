import { bellwether } from './peers/bellwether.ts'
import { bullmq } from './peers/bullmq.ts'
import { floor } from './peers/floor.ts'
import { graphileWorker } from './peers/graphile-worker.ts'
import { pgBossEach, pgBossInSets } from './peers/pg-boss.ts'
import { book, median, openStage, type Contender } from './peers/stage.ts'
import { DELIVERIES } from './peers/work.ts'

/**
 * Due reminders fired and recorded, compared with graphile-worker, pg-boss, BullMQ and the floor: the
 * same server, the same run, in turn, and the same work (see peers/work.ts, peers/floor.ts).
 * `node bench/fire.bench.ts [jobs] [rounds] [names…]`. The peers come from bench/package.json
 * (`npm --prefix bench install`), Redis from Debian's redis-server.
 */
const [JOBS, ROUNDS] = [Number(process.argv[2] ?? 10_000), Number(process.argv[3] ?? 3)]
const NAMES = process.argv.slice(4)

const stage = await openStage()
const { pool } = stage
await pool.query(DELIVERIES)

/** Books appointments whose reminders are due, and lets a contender fire them. */
async function measure({ name, fire }: Contender) {
  await pool.query('truncate bench_delivery')
  const dueFrom = Temporal.Now.instant().subtract({ seconds: 30 })
  const ids = await book(stage, JOBS, { dueFrom, spreadMs: 1_000 })
  // The peers use their own queues.
  if (name !== 'Bellwether' && name !== 'floor') await pool.query('delete from pending_trigger')
  await pool.query('vacuum analyze')
  await pool.query('checkpoint')
  return fire(ids)
}

const makers = {
  Bellwether: bellwether,
  floor,
  'graphile-worker': graphileWorker,
  'pg-boss': pgBossEach,
  'pg-boss, in sets': pgBossInSets,
  BullMQ: bullmq,
}
const contenders: Contender[] = []
for (const [name, make] of Object.entries(makers)) {
  const made = NAMES.length === 0 || NAMES.includes(name) ? await make(stage) : undefined
  if (made) contenders.push(made)
}
const rates = new Map<string, number[]>(contenders.map(({ name }) => [name, []]))
for (let round = 0; round < ROUNDS; round += 1) {
  for (const contender of contenders) {
    const rate = await measure(contender)
    rates.get(contender.name)!.push(rate)
    console.log(`round ${round + 1}  ${contender.name.padEnd(16)} ${Math.round(rate)}/s`)
  }
}
console.log(`\nfired and recorded, ${JOBS} due, median of ${ROUNDS}:`)
const own = median(rates.get('Bellwether') ?? [NaN])
for (const [name, values] of rates) {
  const rate = median(values)
  console.log(`  ${name.padEnd(16)} ${Math.round(rate)}/s  ${(own / rate).toFixed(2)}`)
}
for (const { close } of contenders) await close?.()
await stage.close()
process.exit(0)
