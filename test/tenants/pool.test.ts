import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { isFull } from '../proofs/random.ts'
import { startApp } from '../support/app.ts'
import { ask, createBusiness, createKey } from '../support/callers.ts'

const REQUESTS = isFull ? 100_000 : 2_000
const AT_ONCE = 32

test('alternating requests of four businesses over one pool never mix data', async (t) => {
  const { app, database, clock } = await startApp(t, {
    env: { RATE_LIMIT: '1000000/s,1000000' },
    checkAnswers: false,
  })
  const callers = await Promise.all(
    ['A', 'B', 'C', 'D'].map(async (name) => {
      const { businessId } = await createBusiness(database, clock, name)
      const { key } = await createKey(database, clock, businessId)
      const call = ask(app, { authorization: `Bearer ${key}` })
      const { body } = await call('POST', '/location', { name })
      return { businessId, name, call, locationId: Number(body.locationId) }
    }),
  )
  let asked = 0
  const mixed: string[] = []
  const work = async () => {
    while (asked < REQUESTS) {
      const turn = (asked += 1)
      const { name, businessId, locationId, call } = callers[turn % callers.length]!
      const foreign = callers[(turn + 1) % callers.length]!.locationId
      // Refused and failed statements must also leave no setting on the connection.
      if (turn % 7 === 0) {
        const { status } = await call('POST', '/location', { locationId: foreign, name: 'taken' })
        if (status !== 404) mixed.push(`${name} changed ${foreign}: ${status}`)
      } else if (turn % 11 === 0) {
        const db = database.forBusiness(businessId, name)
        await assert.rejects(db.query(sql`select 1 / 0`), /division by zero/)
      } else if (turn % 2 === 0) {
        const { body } = await call('GET', `/location/${locationId}`)
        if (body.businessId !== businessId || body.name !== name) mixed.push(JSON.stringify(body))
      } else {
        const { body } = await call('GET', '/location')
        const names = body.items.map((item: { name: string }) => item.name).join()
        if (names !== name) mixed.push(`${name} saw ${names}`)
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  assert.deepEqual(mixed, [])
})
