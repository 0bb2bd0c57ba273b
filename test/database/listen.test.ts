import assert from 'node:assert/strict'
import net from 'node:net'
import { test } from 'node:test'
import { openDatabase } from '../../src/database/postgres.ts'
import { sql } from '../../src/database/sql.ts'
import { cloneDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

test('a notification reaches every listener, and none that has stopped', async (t) => {
  const { database } = await cloneDatabase(t)
  const heard: string[][] = [[], []]
  const [stopFirst, stopSecond] = heard.map((own) =>
    database.listen('bellwether_due', (text) => void own.push(text)),
  )
  /** Sends it until both, or the second alone, have heard it. */
  const sendUntilHeard = (text: string, listeners: string[][]) =>
    until(async () => {
      await database.engine.query(sql`select pg_notify('bellwether_due', ${text})`)
      return listeners.every((own) => own.includes(text))
    })
  await sendUntilHeard('first', heard)
  await stopFirst!()
  await sendUntilHeard('second', [heard[1]!])
  await stopSecond!()
  assert.deepEqual(new Set(heard[0]), new Set(['first']))
})

test('while the database is away there is one attempt at a time to listen again', async (t) => {
  let attempts = 0
  let most = 0
  const open = new Set<net.Socket>()
  // A server that hangs up on everybody, and counts.
  const server = net.createServer((socket) => {
    attempts += 1
    open.add(socket)
    most = Math.max(most, open.size)
    socket.on('close', () => open.delete(socket)).on('error', () => {})
    socket.resume().end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => server.close())
  const { port } = server.address() as net.AddressInfo
  const database = openDatabase({ url: `postgres://nobody@127.0.0.1:${port}/none` })
  const stopListening = database.listen('bellwether_due', () => {})
  const third = Promise.withResolvers<void>()
  server.on('connection', () => attempts >= 3 && third.resolve())
  await third.promise
  assert.equal(most, 1)
  assert.equal(attempts, 3)
  await stopListening()
  await database.close()
})
