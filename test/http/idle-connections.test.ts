import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { startProbe } from '../support/probe.ts'

test('a request that takes longer than the idle timeout is answered', async (t) => {
  const { app } = await startProbe(t)
  app.route({
    method: ['GET', 'POST'],
    url: '/probe/idle',
    config: { open: true, emptyBody: true },
    handler: async ({ raw: { socket } }) => {
      // Set here, so that on a busy machine the connection does not time out before the request.
      socket.setTimeout(IDLE_MS)
      await once(socket, 'timeout')
      socket.setTimeout(0)
      return { done: true }
    },
  })
  const port = await listenOn(app)
  for (const method of ['GET', 'POST']) {
    const answer = await fetch(`http://127.0.0.1:${port}/probe/idle`, { method })
    assert.deepEqual([answer.status, await answer.json()], [200, { done: true }])
  }
})

test('a connection without a request is closed after the idle timeout', async (t) => {
  const { app } = await startProbe(t)
  app.server.timeout = IDLE_MS
  const socket = connect(await listenOn(app))
  await once(socket, 'close')
})

test('a connection that stops in the middle of a body is closed after the idle timeout', async (t) => {
  const { app } = await startProbe(t)
  app.server.timeout = IDLE_MS
  const socket = connect(await listenOn(app)).on('error', () => {})
  socket.write('POST /probe HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n')
  socket.write('Content-Length: 50\r\n\r\n{')
  await once(socket, 'close')
})

test('a connection whose client does not read its answer is closed after the idle timeout', async (t) => {
  const { app } = await startProbe(t)
  app.get('/probe/long', { config: { open: true } }, async ({ raw }) => {
    raw.socket.setTimeout(IDLE_MS)
    return 'x'.repeat(50_000_000)
  })
  const closed = new Promise((resolve) => {
    app.server.once('request', (_request, response) => response.once('close', resolve))
  })
  const socket = connect(await listenOn(app)).on('error', () => {})
  t.after(() => socket.destroy())
  socket.pause()
  socket.write('GET /probe/long HTTP/1.1\r\nHost: x\r\n\r\n')
  await closed
})

const IDLE_MS = 100

async function listenOn(app: Awaited<ReturnType<typeof startProbe>>['app']) {
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}
