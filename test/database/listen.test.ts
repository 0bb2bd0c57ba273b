import assert from 'node:assert/strict'
import net from 'node:net'
import { test } from 'node:test'
import { openDatabase } from '../../src/database/postgres.ts'
import { sql } from '../../src/database/sql.ts'
import { cloneDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

test('a notification reaches every listener, and none that has stopped', async (t) => {
  const { database } = await cloneDatabase(t)
  const received: string[][] = [[], []]
  const [stopFirst, stopSecond] = received.map((own) =>
    database.listen('bellwether_due', (text) => void own.push(text)),
  )
  /** Sends `text` until all these listeners have received it. */
  const sendUntilReceived = (text: string, listeners: string[][]) =>
    until(async () => {
      await database.engine.query(sql`select pg_notify('bellwether_due', ${text})`)
      return listeners.every((own) => own.includes(text))
    })
  await sendUntilReceived('first', received)
  await stopFirst!()
  await sendUntilReceived('second', [received[1]!])
  await stopSecond!()
  assert.deepEqual(new Set(received[0]), new Set(['first']))
})

test('while the database is down, only one attempt at a time is made to listen again', async (t) => {
  let attempts = 0
  let maxOpen = 0
  const open = new Set<net.Socket>()
  // A server that closes every connection, and counts them.
  const server = net.createServer((socket) => {
    attempts += 1
    open.add(socket)
    maxOpen = Math.max(maxOpen, open.size)
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
  assert.equal(maxOpen, 1)
  assert.equal(attempts, 3)
  await stopListening()
  await database.close()
})
