import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBusiness } from './business.ts'
import { print } from './measured-business.ts'

test('501 and 502 count the same clients as new: by the local day of the first visit', async (t) => {
  const business = await openBusiness(t)
  const { book, client, newYork, zurich } = business
  const early = await client('Eve', 'Early')
  // In New York it is still October, although November has begun in Zurich.
  await book({ at: '2025-10-31T22:00-04:00', clientId: early, locationId: newYork })
  await book({ at: '2025-11-05T10:00-05:00', clientId: early, locationId: newYork })
  const fresh = await client('Fred', 'Fresh')
  await book({ at: '2025-11-01T00:30+01:00', clientId: fresh, locationId: zurich })
  const gone = await client('Gil', 'Gone')
  await book({ at: '2025-11-02T09:00+01:00', clientId: gone, status: 'CANCELLED' })

  const range = { startDate: '2025-11-01', endDate: '2025-11-30' }
  const kpisOf = async (reportId: number) => {
    const { kpis } = await print(business, { reportId, ...range })
    return Object.fromEntries(kpis.map(({ name, value }) => [name, value]))
  }
  const { newClients, returning, clients } = await kpisOf(501)
  const { firstTimeClients, activeClients, returningClients } = await kpisOf(502)
  assert.deepEqual([clients, newClients, returning], [3, 1, 50])
  assert.deepEqual([activeClients, firstTimeClients, returningClients], [2, 1, 1])
})
