import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { openDatabase } from '../../src/database/postgres.ts'
import type { PostgresOptions } from '../../src/database/pool.ts'
import { cleanUpLater, type Lifetime } from './clean-up.ts'

/** A new database with the schema and without rows; dropped when the test ends. */
export const cloneDatabase = (
  t: Lifetime,
  connections = 5,
  settings: PostgresOptions['settings'] = {},
) => clone(t, testServer().template, { connections, settings })

/** A new database with the business of `startWorld`. */
export const cloneWorld = (t: Lifetime) => clone(t, testServer().world, { connections: 10 })

/** A new database with the demo, the business 1, and its reminders planned. */
export function cloneDemo(t: Lifetime) {
  const demo = process.env.TEST_DEMO_TEMPLATE
  if (!demo) throw new Error('Only tests whose path contains "console" have the demo')
  return clone(t, demo, { connections: 1 })
}

async function clone(t: Lifetime, template: string, options: Omit<PostgresOptions, 'url'>) {
  const { url, drop } = await createDatabase(testServer().server, template)
  const database = openDatabase({ url, ...options })
  cleanUpLater(t, async () => {
    await database.close()
    await drop()
  })
  return { database, url }
}

/** A new database without the schema; dropped after what the test opened on it is closed. */
export async function createEmptyDatabase(t: Lifetime) {
  const { url, drop } = await createDatabase(testServer().server, 'template0')
  cleanUpLater(t, drop)
  return { url }
}

function testServer() {
  const server = process.env.TEST_SERVER_URL
  const template = process.env.TEST_TEMPLATE
  const world = process.env.TEST_WORLD_TEMPLATE
  if (!server || !template || !world)
    throw new Error('Run the tests with: node test/run.ts [files]')
  return { server, template, world }
}

async function createDatabase(server: string, template: string) {
  const name = `test_${randomBytes(6).toString('hex')}`
  // Copying the files takes a third of the time of writing them to the WAL, and their pages are in
  // no buffers that a drop would have to find.
  await onServer(server, `create database ${name} template ${template} strategy file_copy`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    drop: () => onServer(server, `drop database if exists ${name} with (force)`),
  }
}

async function onServer(server: string, statement: string) {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}
