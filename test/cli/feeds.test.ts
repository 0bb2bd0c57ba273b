import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test, type TestContext } from 'node:test'
import type { AddressInfo } from 'node:net'
import { runCommand } from '../support/command.ts'
import { cloneWorld } from '../support/database.ts'
import { startWorld } from '../support/world.ts'

const PULLING = {
  SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  FEED_PRIVATE_HOSTS: '127.0.0.1',
}

/** A published calendar, and a feed that reads it. */
async function startFeed(t: TestContext) {
  const { database, url } = await cloneWorld(t)
  const world = await startWorld(t, PULLING, { database })
  const published = { events: ['a', 'b'], status: 200 }
  const start = Temporal.Now.instant().add({ hours: 48 })
  const time = start.toString({ smallestUnit: 'second' }).replaceAll(/[-:]/g, '')
  const server = createServer((_request, response) => {
    const events = published.events.map(
      (uid) =>
        `BEGIN:VEVENT\r\nUID:${uid}\r\nDTSTART:${time}\r\nDURATION:PT30M\r\nATTENDEE:mailto:${uid}@example.org\r\nEND:VEVENT\r\n`,
    )
    response.writeHead(published.status, { 'content-type': 'text/calendar' })
    response.end(`BEGIN:VCALENDAR\r\n${events.join('')}END:VCALENDAR\r\n`)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const { professionalId, reasonId, locationId } = world.ids
  const { feedId } = await world.save('/feed', {
    name: 'Salon',
    source: 'ICS',
    mode: 'SHADOW',
    secret: `http://127.0.0.1:${port}/secret-path.ics`,
    defaults: { professionalId, reasonId, locationId },
  })
  const run = async (...words: string[]) => {
    const ended = await runCommand(words, { ...PULLING, DATABASE_URL: url })
    assert.doesNotMatch(ended.stdout + ended.stderr, /secret-path/)
    return ended
  }
  return { ...world, feedId, id: String(feedId), published, run }
}

test('feeds lists each feed with its health and cause, and exits with 1 if one is not OK', async (t) => {
  const { id, published, run, businessId } = await startFeed(t)
  const fresh = await run('feeds')
  assert.equal(fresh.code, 0, fresh.stderr)
  assert.match(fresh.stdout, /^OK +feed \d+ of business \d+ “Salon”, ICS, SHADOW, not read yet\n$/)
  published.status = 403
  const failed = await run('pull-feed', id)
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, /refuses access \(403\)/)
  const unwell = await run('feeds', '--business', String(businessId))
  assert.equal(unwell.code, 1)
  assert.match(unwell.stdout, /^NEEDS_LOGIN .*\n +for .*refuses access.*\n +→ Enter the credential/)
  const doctor = await run('doctor')
  assert.match(
    doctor.stdout,
    /^note +Feeds +1 of 1 need attention: feed \d+ of business \d+ is NEEDS_LOGIN/m,
  )
  assert.doesNotMatch(doctor.stdout, /Salon/)
})

test('pull-feed reads a feed, or shows what that would do', async (t) => {
  const { id, run, call } = await startFeed(t)
  const tried = await run('pull-feed', id, '--dry-run')
  assert.equal(tried.code, 0, tried.stderr)
  assert.equal(JSON.parse(tried.stdout).counts.mirrored, 2)
  assert.equal((await call('GET', '/calendar')).body.items.length, 0)
  const pulled = await run('pull-feed', id)
  assert.equal(JSON.parse(pulled.stdout).counts.created, 2)
  assert.equal((await call('GET', '/calendar')).body.items.length, 2)
  assert.equal(JSON.parse((await run('pull-feed', id)).stdout).counts.entries, 0)
  const missing = await run('pull-feed', '4711')
  assert.deepEqual(
    [missing.code, missing.stderr],
    [2, 'There is no feed 4711. bellwether feeds lists them.\n'],
  )
})

test('reconcile-feed exits with 1 if a difference is left', async (t) => {
  const { id, run, call, save } = await startFeed(t)
  const equal = await run('reconcile-feed', id)
  assert.equal(equal.code, 0, equal.stderr)
  assert.deepEqual(JSON.parse(equal.stdout).sums, { source: 2, mirrored: 2, held: 0, skipped: 0 })
  const [{ calendarId }] = (await call('GET', '/calendar')).body.items
  await save('/calendar', { calendarId, status: 'CANCELLED' })
  const different = await run('reconcile-feed', id)
  assert.equal(different.code, 1)
  assert.equal(JSON.parse(different.stdout).differences[0].kind, 'CHANGED_HERE')
  await save('/feed', { feedId: Number(id), mode: 'LIVE' })
  await save('/feed', { feedId: Number(id), mode: 'PAUSED' })
  const paused = await run('reconcile-feed', id)
  assert.equal(paused.code, 2)
  assert.match(paused.stderr, /not read in mode PAUSED/)
})
