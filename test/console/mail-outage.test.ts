import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import { skipInShortRun, startConsole } from '../support/console.ts'
import { startMailServer } from '../support/mail-server.ts'
import { until } from '../support/until.ts'

const lifetime = { after } as Pick<TestContext, 'after'>
const mailServer = await startMailServer(lifetime, {
  at: 'connect',
  act: { next: 'close' },
  times: Infinity,
})
const { openAs, call } = await startConsole([{ username: 'sofia', role: 'OWNER' }], {
  SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
})

const DAY_MS = 86_400_000

/** Books an appointment whose confirmation stays in the queue. */
async function bookDuringOutage() {
  const client = { firstName: 'Zoe', lastName: 'Novak', emailAddress: 'zoe@example.org' }
  const { clientId } = await call('POST', '/client', client)
  const startTime = Math.floor(Date.now() / 60_000) * 60_000 + 20 * DAY_MS
  const place = { clientId, professionalId: 1, reasonId: 1, locationId: 1 }
  const times = { startTime, endTime: startTime + 1_800_000 }
  const { calendarId } = await call('POST', '/calendar', { ...place, ...times })
  type Mail = { status: string; eventTriggerId: number }
  const list = (): Promise<Mail[]> => call('GET', `/emails/calendar/${calendarId}`)
  await until(async () => (await list()).some(({ status }) => status === 'QUEUED'))
  await until(async () => (await call('GET', '/overview')).mail.failingSince !== null)
  const [mail] = await list()
  return { clientId: clientId as number, eventTriggerId: mail!.eventTriggerId }
}

const { clientId, eventTriggerId } = await bookDuringOutage()

test('a mail that is still in the queue cannot be sent again', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', `/activity/${eventTriggerId}`)
  await page.getByText('zoe@example.org').first().waitFor()
  assert.equal(await page.getByRole('button', { name: 'Send again' }).count(), 0)

  await page.goto(
    page.url().replace(/\/activity.*/, `/activity?outcome=sending&client=${clientId}`),
  )
  await page.getByLabel('Select all shown messages').check()
  const bar = page.getByRole('region', { name: 'Selected messages' })
  await bar.getByRole('button', { name: /^Export \d/ }).waitFor()
  assert.equal(await bar.getByRole('button', { name: /again/ }).count(), 0)
})
