import { flushCompileCache } from 'node:module'
import { openDatabase } from '../../src/database/postgres.ts'
import { startEngine } from './bellwether.ts'

/** A node that only fires, in a process of its own; tells how late each was, and its memory. */
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
// It is killed in the end; a service that is stopped keeps what it compiled by itself.
flushCompileCache()
await engine.run(new AbortController().signal)
