import { flushCompileCache } from 'node:module'
import { openDatabase } from '../../src/database/postgres.ts'
import { startEngine } from './bellwether.ts'

/** A node in its own process that only fires; reports the lateness of each trigger, and its memory. */
const database = openDatabase({
  url: process.env.DATABASE_URL!,
  connections: 4,
  analyzesGrownTables: true,
})
const engine = startEngine(database, (endings) => {
  const now = Date.now()
  process.send!({ late: endings.map((one) => now - one.scheduledTime.epochMilliseconds) })
})
setInterval(() => process.send!({ memory: process.memoryUsage().rss }), 500)
// The benchmark kills this process, so it must write the compile cache itself.
flushCompileCache()
await engine.run(new AbortController().signal)
