import { deepEqual } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { DatabaseClock } from '../../src/clock.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/postgres.ts'
import { startApp } from './app.ts'
import { addBusiness, FIRST_BUSINESS, startEngine } from './world.ts'

/** Databases that tests clone, as environment variables for their processes. */
export async function makeTemplates(server: string, { demo }: { demo: boolean }) {
  const made: string[] = []
  const make = async (from: string, fill: (url: string) => Promise<unknown>) => {
    // A server that is shared may still have the template of a run that was killed.
    const template = `bellwether_template_${randomBytes(6).toString('hex')}`
    await onServer(server, `create database ${template} template ${from}`)
    made.push(template)
    const url = new URL(server)
    url.pathname = `/${template}`
    await fill(url.href)
    return template
  }
  const drop = async () => {
    for (const template of made)
      await onServer(server, `drop database if exists ${template} with (force)`)
  }
  try {
    const template = await make('template0', migrate)
    const environment = {
      TEST_SERVER_URL: server,
      TEST_TEMPLATE: template,
      TEST_WORLD_TEMPLATE: await make(template, fillWorld),
      ...(demo ? { TEST_DEMO_TEMPLATE: await make(template, fillAnalyzedDemo) } : {}),
    }
    return { environment, drop }
  } catch (error) {
    await drop()
    throw error
  }
}

async function fillAnalyzedDemo(url: string) {
  await fillDemo(url)
  // The service runs ANALYZE on tables that grew; in a clone it cannot see that they did.
  await onServer(url, 'analyze')
}

async function onServer(url: string, statement: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

/** Adds the business that each world begins with. */
const fillWorld = (url: string) =>
  withApp(url, {}, async (started) => {
    const { businessId, ids } = await addBusiness(started, { key: FIRST_BUSINESS.key })
    deepEqual({ ...FIRST_BUSINESS, businessId, ids }, FIRST_BUSINESS)
  })

/** Adds the business of the demo, with its reminders planned from now on. */
export const fillDemo = (url: string) => {
  const clock = new DatabaseClock()
  const env = { ADMIN_API_KEY: 'operator-key-of-this-test' }
  return withApp(url, { clock, env }, async ({ app, database, ...started }) => {
    const post = async (path: string, payload: object) => {
      const headers = { authorization: `Bearer ${env.ADMIN_API_KEY}` }
      const { statusCode, body } = await app.inject({ method: 'POST', url: path, headers, payload })
      if (statusCode > 201) throw new Error(`POST ${path}: ${statusCode} ${body}`)
    }
    await post('/business', { name: 'Lindenhof Physiotherapy', timeZone: 'Europe/Zurich' })
    await post('/business/1/seed', {})
    await startEngine({ ...started, app, database }, { clock }).plan()
  })
}

type Given = NonNullable<Parameters<typeof startApp>[1]>
type Started = Awaited<ReturnType<typeof startApp>>

async function withApp(url: string, given: Given, fill: (started: Started) => Promise<unknown>) {
  const database = openDatabase({ url, connections: 2 })
  const closing: (() => unknown)[] = []
  const lifetime = { after: (close: () => unknown) => void closing.push(close) }
  try {
    await fill(await startApp(lifetime, { ...given, database }))
  } finally {
    for (const close of closing) await close()
    await database.close()
  }
}
