import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { createReportScheduleLoops } from '../../src/report-delivery/schedule-loops.ts'
import type { RunParts } from '../../src/report-delivery/run-schedule.ts'
import type { Role } from '../../src/contract/roles.ts'
import { sql } from '../../src/database/sql.ts'
import { fillBusiness } from '../reports/business.ts'
import { ask, createKey, createPerson, startWithBusiness } from '../support/callers.ts'
import { startEngine } from '../support/world.ts'
import { readStored } from '../support/stored-mails.ts'

/** The app with a business of two locations, people, and the loop that runs report schedules. */
export async function openDelivery(t: TestContext, more: Partial<RunParts> = {}) {
  const started = await startWithBusiness(t)
  const { app, clock, database } = started
  const business = await fillBusiness(database)
  const { businessId, db } = business
  const { key } = await createKey(database, clock, businessId)
  const call = ask(app, { authorization: `Bearer ${key}` })
  const errors: unknown[] = []
  /** The loops of one node. */
  const startNode = () =>
    createReportScheduleLoops({
      database,
      now: () => clock.now(),
      random: randomBytes,
      leaseSeconds: 10,
      pageSize: 'A4',
      publicUrl: 'https://bellwether.example',
      mailFrom: { name: 'Bellwether', address: 'no-reply@localhost' },
      host: 'localhost',
      linkSeal: 'test',
      onError: (error) => void errors.push(error),
      ...more,
    })
  const [loop] = startNode()
  const addPerson = (username: string, role: Role, fields: object = {}) =>
    createPerson(database, clock, businessId, {
      username,
      role,
      emailAddress: `${username}@example.org`,
      ...fields,
    })
  const engine = startEngine({ ...started, ...business })
  return {
    ...started,
    ...business,
    call,
    errors,
    startNode,
    addPerson,
    /** Runs all schedules that are due; returns how many steps that took. */
    runDue: async () => {
      let steps = 0
      while ((await loop!.runOnce()) > 0) steps += 1
      return steps
    },
    runEngine: engine.runEngine,
    listMails: async () => {
      const mails = await db.query<StoredMail>(sql`
        select email_id as "emailId", to_address as "to", subject, message is not null as "isStored"
        from email where business_id = ${businessId} order by email_id`)
      const read = async ({ isStored, ...mail }: StoredMail) => ({
        ...mail,
        message: isStored ? await readStored(db, mail.emailId) : null,
      })
      return Promise.all(mails.map(read))
    },
  }
}

type StoredMail = { emailId: number; to: string; subject: string; isStored: boolean }

/** A schedule: every Monday at seven, about the previous week. */
export const MONDAYS = {
  reportId: 101,
  format: 'csv',
  frequency: 'WEEKLY',
  weekday: 'MONDAY',
  timeOfDay: '07:00',
  range: 'LAST_WEEK',
}
