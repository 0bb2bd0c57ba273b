import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Db } from '../../src/database/database.ts'
import { sql, type Sql } from '../../src/database/sql.ts'
import { SettingsCache } from '../../src/store/settings.ts'
import { addBusiness, startWorld } from '../support/world.ts'

test('a reader gets the settings of its version if another task replaces them meanwhile', async (t) => {
  const world = await startWorld(t)
  const { businessId } = world
  const other = await addBusiness(world)
  const { engine, operator } = world.database
  const cache = new SettingsCache()
  const oldVersion = { businessId, version: 'old' }
  const before = (await cache.read(engine, [oldVersion], [])).get(businessId)
  await operator.query(sql`update business set name = 'New' where business_id = ${businessId}`)
  const query: Db['query'] = async (statement: Sql) => {
    await cache.read(engine, [{ businessId, version: 'new' }], [])
    return engine.query(statement)
  }
  const versions = [oldVersion, { businessId: other.businessId, version: 'old' }]
  const settings = await cache.read({ ...engine, query }, versions, [])
  assert.equal(settings.get(businessId), before)
  assert.equal(settings.size, 2)
})
