import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noDatabase, startApp } from '../support/app.ts'

test('a file of the console that does not exist is 404, and another method is 405', async (t) => {
  const { app } = await startApp(t, { database: noDatabase })
  for (const place of ['assets/nothing.js', 'nothing.png']) {
    for (const method of ['GET', 'HEAD'] as const) {
      const answer = await app.inject({ method, url: `/console/${place}` })
      assert.equal(answer.statusCode, 404, `${method} ${place}`)
      assert.match(String(answer.headers['content-type']), /^application\/problem\+json/)
    }
  }
  const answer = await app.inject({ method: 'POST', url: '/console/nothing.png' })
  assert.deepEqual([answer.statusCode, answer.headers.allow], [405, 'GET, HEAD'])
})

test('a path that leaves the console folder is refused', async (t) => {
  const { app } = await startApp(t, { database: noDatabase })
  for (const place of ['..%2f..%2fpackage.json', 'assets/..%2f..%2f..%2fpackage.json']) {
    const answer = await app.inject(`/console/${place}`)
    assert.equal(answer.statusCode, 403, place)
  }
})
