import { deepEqual } from 'node:assert/strict'
import { DatabaseClock } from '../../src/clock.ts'
import { openDatabase } from '../../src/database/postgres.ts'
import { startApp } from './app.ts'
import { addBusiness, FIRST_BUSINESS, startEngine } from './world.ts'

/** Adds the business that each world begins with. */
export const fillWorld = (url: string) =>
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
