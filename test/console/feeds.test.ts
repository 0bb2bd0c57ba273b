import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, keepPictures, skipInShortRun, startConsole } from '../support/console.ts'
import {
  appointmentOf,
  bookingOf,
  startCalcom,
  startEasyAppointments,
} from '../support/feed-sources.ts'
import { needProgram } from '../support/programs.ts'
import { startRadicale } from '../support/radicale.ts'
import { until } from '../support/until.ts'

const { call, openAs } = await startConsole([{ username: 'sofia', role: 'OWNER' }], {
  FEED_PRIVATE_HOSTS: '127.0.0.1',
  SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
})

const HOUR_MS = 3_600_000
const start = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS + 48 * HOUR_MS

const entry = (key: string, more: object) => ({
  key,
  version: 1,
  startTime: start,
  endTime: start + HOUR_MS / 2,
  client: { emailAddress: `${key}@example.org`, firstName: 'Ada', lastName: key },
  ...more,
})

const send = (feedId: number, entries: { key: string }[], keys = entries.map(({ key }) => key)) =>
  call('POST', `/feed/${feedId}/entries`, {
    entries,
    complete: { from: start - 24 * HOUR_MS, to: start + 240 * HOUR_MS, keys },
  })

async function choose(page: Page, label: string, place = 0) {
  const dialog = page.getByRole('dialog')
  const form = (await dialog.count()) > 0 ? dialog : page
  await form.getByRole('combobox', { name: label, exact: true }).click()
  await page.getByRole('option').nth(place).click()
}

const feedIdOf = (page: Page) => Number(/feeds\/(\d+)/.exec(page.url())![1])

const chosenTab = (page: Page, name: string) => page.getByRole('tab', { name }).click()

test('a source is connected, checked in shadow mode, corrected, and goes live', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/settings/feeds')
  await page.getByText('No feed yet').waitFor()
  await page.getByRole('link', { name: 'Connect a source' }).click()
  await page.getByRole('heading', { level: 1, name: 'Connect a source' }).waitFor()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Salon')
  await page.getByText('App password').waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'feed-connect-caldav')
  for (const [source, picture] of [
    ['Published calendar (ICS)', 'ics'],
    ['Cal.com', 'calcom'],
    ['Easy!Appointments', 'easyappointments'],
    ['A program that sends', 'inlet'],
  ] as const) {
    await page.getByRole('combobox', { name: 'Source' }).click()
    await page.getByRole('option', { name: source }).click()
    await keepPictures(page, `feed-connect-${picture}`)
  }
  await page.getByRole('button', { name: 'Connect', exact: true }).click()

  await page.getByRole('heading', { level: 1, name: 'Salon' }).waitFor()
  await choose(page, 'Staff')
  await choose(page, 'Location')
  await page.getByRole('button', { name: 'Save and continue' }).click()
  await page.getByText('These automations will write').waitFor()
  await page.getByRole('link', { name: '5. Start' }).click()
  await page.getByText('Nothing is stored yet.').waitFor()
  await page.getByRole('button', { name: 'Start in shadow mode' }).click()
  await page.getByRole('heading', { level: 2, name: 'Shadow' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Go live' }).isDisabled(), true)
  const feedId = feedIdOf(page)
  const { name: service } = (await call('GET', '/reason?limit=1')).items[0]
  await send(feedId, [
    entry('known', { service: { name: service } }),
    entry('unknown', { title: 'Something new', service: { name: 'Moon bath' } }),
  ])

  await page.reload()
  await page.getByText('Something new').waitFor()
  await page.getByText('Its service is not known.').first().waitFor()
  await page.getByRole('button', { name: 'Dry run' }).click()
  await page.getByText('1 of 1 can get mail.').waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'feed')
  await page.getByRole('button', { name: 'Correct Something new' }).click()
  await choose(page, 'Service')
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('No entry.').waitFor()
  await page.getByText('Here (2)').click()
  await page.getByText('Something new').waitFor()
  const decided = page.getByRole('listitem').filter({ hasText: 'Something new' })
  await decided.getByText(/\d decisions/).click()
  await decided.getByText('by a correction').waitFor()

  await chosenTab(page, 'Names')
  await page.getByText('Moon bath').waitFor()
  await assertAccessible(page)
  await chosenTab(page, 'Runs')
  await page.getByText('Dry run ·').waitFor()
  await chosenTab(page, 'Differences')
  await page.getByText('It was not compared with its source yet.').waitFor()

  const captured = page.getByRole('region', { name: 'The captured mails, by automation' })

  await captured.getByText('No mail was captured yet').waitFor()
  const fresh = {
    service: { name: service },
    startTime: start + HOUR_MS,
    endTime: start + 2 * HOUR_MS,
  }
  await call('POST', `/feed/${feedId}/entries`, { entries: [entry('fresh', fresh)] })
  await until(async () => (await call('GET', `/feed/${feedId}/captured`)).length > 0)
  await page.reload()
  await captured.getByText('fresh@example.org').waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'feed-captured')

  await page.getByRole('button', { name: 'Go live' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Go live' }).click()
  await page.getByRole('heading', { level: 2, name: 'Live' }).waitFor()
  assert.equal((await call('GET', `/feed/${feedId}`)).mode, 'LIVE')
  assert.deepEqual(complaints, [])
})

const bookingTools = [
  {
    source: 'Cal.com',
    field: 'API key',
    secret: 'cal_key',
    start: (t: TestContext) => startCalcom(t, [bookingOf('b1')]),
  },
  {
    source: 'Easy!Appointments',
    field: 'API token',
    secret: 'token',
    start: (t: TestContext) => startEasyAppointments(t, [appointmentOf(1)]),
  },
]

for (const { source, field, secret, start } of bookingTools) {
  test(`${source} is connected with its key, and told where to send changes`, async (t) => {
    if (skipInShortRun(t)) return
    const { url } = await start(t)
    const { page, complaints } = await openAs(t, 'sofia', '/settings/feeds')
    await page.getByRole('link', { name: 'Connect a source' }).click()
    const window = page.getByRole('main')
    await window.getByRole('textbox', { name: 'Name', exact: true }).fill(`Bea at ${source}`)
    await window.getByRole('combobox', { name: 'Source' }).click()
    await page.getByRole('option', { name: source, exact: true }).click()
    const address = window.getByLabel('Address of the server')
    assert.equal(
      await address.inputValue(),
      source === 'Cal.com' ? 'https://api.cal.com' : '',
      'the usual address is filled in',
    )
    assert.equal(await window.getByLabel('Username').count(), 0)
    await address.fill(url)
    await window.getByLabel(field).fill('wrong')
    const tryIt = window.getByRole('button', { name: 'Test the connection' })
    await tryIt.click()
    await window.getByText('It does not work yet.').waitFor()
    await window.getByLabel(field).fill(secret)
    await tryIt.click()
    await window.getByText('It works.').waitFor()
    await assertAccessible(page)
    await keepPictures(page, `feed-connect-${field.replace(' ', '-')}`)
    await window.getByRole('button', { name: 'Connect', exact: true }).click()

    await page.getByRole('heading', { level: 1, name: `Bea at ${source}` }).waitFor()
    const feedId = feedIdOf(page)
    const stored = await call('GET', `/feed/${feedId}`)
    assert.deepEqual([stored.connection, stored.hasSecret], [{ url }, true])
    await page.getByRole('link', { name: '5. Start' }).click()
    await page.getByRole('button', { name: 'Make the address' }).click()
    await page.getByText('Both are shown only now.').waitFor()
    const shown = async (name: string) => page.getByTestId(name).innerText()
    const hook = new URL(await shown('hook-address'))
    assert.match(hook.pathname, /^\/feed\/hook\/.{20}/)
    assert.ok((await shown('hook-secret')).length >= 20)
    await assertAccessible(page)
    assert.deepEqual(complaints, [])
  })
}

const eventOf = (uid: string, minutes: number, ...more: string[]) => {
  const time = Temporal.Instant.fromEpochMilliseconds(start + minutes * 60_000)
  const basic = (at: Temporal.Instant) =>
    at.toString({ smallestUnit: 'second' }).replaceAll(/[-:]/g, '')
  return `BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Test//Test//EN
BEGIN:VEVENT
UID:${uid}
DTSTAMP:20260101T000000Z
DTSTART:${basic(time)}
DTEND:${basic(time.add({ minutes: 30 }))}
SUMMARY:${uid}
${[...more, 'END:VEVENT'].join('\n')}
END:VCALENDAR
`
}

test('a calendar of Radicale is connected in five steps, which are there after a reload', async (t) => {
  if (skipInShortRun(t)) return
  const program = needProgram(t, 'radicale')
  if (!program) return
  const { url, send: put } = await startRadicale(t, program)
  for (const calendar of ['one', 'two'])
    assert.equal((await put('MKCALENDAR', `/salon/${calendar}/`)).status, 201)
  const client = 'ATTENDEE;CN=Ada Long:mailto:ada.long@example.org'
  for (const [place, event] of [
    ['one/a.ics', eventOf('Knee', 60, client)],
    ['two/b.ics', eventOf('Hand', 120, client)],
    ['two/c.ics', eventOf('Anna 14 o’clock', 240)],
  ] as const)
    assert.equal((await put('PUT', `/salon/${place}`, event)).status, 201)

  const { page, complaints } = await openAs(t, 'sofia', '/settings/feeds/connect')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Radicale')
  await page.getByLabel('Address of the server').fill(url)
  await page.getByLabel('Username').fill('salon')
  await page.getByLabel('App password').fill('secret')
  await page.getByRole('button', { name: 'Test the connection' }).click()
  await page.getByText('It works.').waitFor()
  await keepPictures(page, 'feed-step-1')
  await page.getByRole('button', { name: 'Connect', exact: true }).click()

  await choose(page, 'Staff of the calendar salon/one', 0)
  await choose(page, 'Staff of the calendar salon/two', 1)
  await choose(page, 'Service')
  await choose(page, 'Location')
  await assertAccessible(page)
  await keepPictures(page, 'feed-step-2')
  await page.getByRole('button', { name: 'Save and continue' }).click()
  await page.getByText('These automations will write').waitFor()
  await page.reload()
  await page.getByText('These automations will write').waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'feed-step-3')
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('button', { name: 'Dry run' }).click()
  await page.getByText('2 of 2 can get mail.').waitFor()
  await page.reload()
  await page.getByText('2 of 2 can get mail.').waitFor()
  await page.getByRole('region', { name: 'Look at these' }).getByText('Anna 14 o’clock').waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'feed-step-4')
  // What was chosen before is shown again.
  await page.getByRole('link', { name: '2. Calendars and staff' }).click()
  const owner = page.getByRole('combobox', { name: 'Staff of the calendar salon/two' })
  assert.notEqual(await owner.inputValue(), '')
  await page.getByRole('link', { name: '5. Start' }).click()
  await keepPictures(page, 'feed-step-5')
  await page.getByRole('button', { name: 'Start in shadow mode' }).click()
  await page.getByText('Here (2)').waitFor()
  const { items } = await call('GET', `/calendar?feedId=${feedIdOf(page)}`)
  const { items: staff } = await call('GET', '/professional')
  assert.equal(items.length, 2)
  assert.equal(new Set(items.map((one: { professionalId: number }) => one.professionalId)).size, 2)
  assert.ok(staff.length > 1)
  await page.getByRole('button', { name: 'Go live' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('rules are saved after a dry run has shown how many entries they change', async (t) => {
  const { name: service } = (await call('GET', '/reason?limit=1')).items[0]
  const { professionalId } = (await call('GET', '/professional?limit=1')).items[0]
  const { locationId } = (await call('GET', '/location?limit=1')).items[0]
  const { feedId } = await call('POST', '/feed', {
    name: 'Ruled',
    source: 'INLET',
    mode: 'SHADOW',
    defaults: { professionalId, locationId },
  })
  const titled = (key: string, title: string, hours: number) =>
    entry(key, {
      title,
      service: { name: service },
      startTime: start + hours * HOUR_MS,
      endTime: start + (hours + 1) * HOUR_MS,
    })
  await send(feedId, [titled('r1', 'Lunch with Ada', 20), titled('r2', 'Knee', 22)])
  const { page, complaints } = await openAs(t, 'sofia', `/settings/feeds/${feedId}`)
  await chosenTab(page, 'Rules')
  await page.getByText('No rule yet.').waitFor()
  await page.getByRole('button', { name: 'Add a rule' }).focus()
  await page.keyboard.press('Enter')
  const window = page.getByRole('dialog', { name: 'Rule' })
  const use = window.getByRole('button', { name: 'Use this rule' })
  await window.getByLabel('Title').fill('lunch*')
  assert.equal(await use.isDisabled(), true, 'a rule without an effect is none')
  await window.getByLabel('Title').fill('{client} - {service}')
  assert.equal(await use.isDisabled(), false, 'names in the title are an effect')
  await window.getByLabel('Title').fill('lunch*')
  await window.getByLabel('It is not an appointment').check()
  await assertAccessible(page)
  await keepPictures(page, 'feed-rule')
  await use.click()
  await page.getByText('title “lunch*”').waitFor()

  const unsaved = page.getByRole('region', { name: 'These rules are not saved.' })
  assert.equal(await unsaved.getByRole('button', { name: /^Save/ }).count(), 0)
  await unsaved.getByRole('button', { name: 'Dry run' }).click()
  await unsaved.getByRole('button', { name: 'Save: 1 entry changes' }).waitFor()
  assert.deepEqual((await call('GET', `/feed/${feedId}`)).rules, [], 'a dry run saves nothing')
  await assertAccessible(page)
  await keepPictures(page, 'feed-rules')
  // Another tab does not lose them, and other rules need another dry run.
  await chosenTab(page, 'Runs')
  await chosenTab(page, 'Rules')
  await unsaved.getByRole('button', { name: 'Dry run' }).waitFor()
  assert.equal(await unsaved.getByRole('button', { name: /^Save/ }).count(), 0)
  await unsaved.getByRole('button', { name: 'Dry run' }).click()
  await unsaved.getByRole('button', { name: 'Save: 1 entry changes' }).click()
  await unsaved.waitFor({ state: 'detached' })
  const { rules } = await call('GET', `/feed/${feedId}`)
  assert.deepEqual(rules, [{ when: { title: 'lunch*' }, then: { skip: true } }])
  const { items } = await call('GET', `/feed/${feedId}/entry?state=SKIPPED`)
  assert.deepEqual(
    items.map(({ key }: { key: string }) => key),
    ['r1'],
  )
  assert.deepEqual(complaints, [])
})

test('a rule is made of an entry, with what a person decided about it, and saved after its effect', async (t) => {
  const { name: service, reasonId } = (await call('GET', '/reason?limit=1')).items[0]
  const { professionalId } = (await call('GET', '/professional?limit=1')).items[0]
  const { locationId } = (await call('GET', '/location?limit=1')).items[0]
  const { feedId } = await call('POST', '/feed', {
    name: 'Decided',
    source: 'INLET',
    mode: 'SHADOW',
    defaults: { professionalId, locationId },
  })
  const at = (hours: number) => ({
    startTime: start + hours * HOUR_MS,
    endTime: start + (hours + 1) * HOUR_MS,
  })
  await send(feedId, [
    entry('d1', { title: 'Knee', service: { name: 'Moon bath' }, ...at(30) }),
    entry('d2', { title: 'Knee', service: { name: 'Moon bath' }, ...at(32) }),
    entry('d3', { title: 'Hand', service: { name: service }, ...at(34) }),
  ])
  const { items } = await call('GET', `/feed/${feedId}/entry?state=HELD`)
  const { entryId } = items.find(({ key }: { key: string }) => key === 'd1')
  await call('POST', `/feed/${feedId}/entry/${entryId}`, { correction: { reasonId } })

  const { page, complaints } = await openAs(t, 'sofia', `/settings/feeds/${feedId}`)
  await page.getByText('Here (2)').click()
  await page.getByRole('button', { name: 'Make a rule: Knee' }).click()
  const window = page.getByRole('dialog', { name: 'Rule' })
  assert.equal(await window.getByLabel('Title').inputValue(), 'Knee')
  await window.getByRole('combobox', { name: 'Service' }).waitFor()
  await window.getByRole('button', { name: 'Use this rule' }).click()
  const unsaved = page.getByRole('region', { name: 'These rules are not saved.' })
  await unsaved.getByRole('button', { name: 'Dry run' }).click()
  await unsaved.getByRole('button', { name: 'Save: 1 entry changes' }).click()
  await unsaved.waitFor({ state: 'detached' })
  const { rules } = await call('GET', `/feed/${feedId}`)
  assert.deepEqual(rules, [{ when: { title: 'Knee' }, then: { reasonId } }])
  const { items: held } = await call('GET', `/feed/${feedId}/entry?state=HELD`)
  assert.deepEqual(held, [])
  assert.deepEqual(complaints, [])
})

test('unsaved rules stay with their feed, are asked about, and do not replace those of another person', async (t) => {
  if (skipInShortRun(t)) return
  const rules = [
    { when: { title: 'lunch*' }, then: { skip: true } },
    { when: { title: 'yoga*' }, then: { kind: 'CLASS' } },
  ]
  const feed = { source: 'INLET', mode: 'SHADOW', rules }
  const { feedId } = await call('POST', '/feed', { ...feed, name: 'Shared' })
  const { page } = await openAs(t, 'sofia', `/settings/feeds/${feedId}`)
  await chosenTab(page, 'Rules')
  await page.getByRole('button', { name: 'Later: title “lunch*”' }).press('Enter')
  assert.equal(
    await page.evaluate("document.activeElement?.closest('li')?.innerText.includes('lunch')"),
    true,
    'the moved rule keeps the focus',
  )
  await page.getByRole('button', { name: 'Add a rule' }).click()
  await page.getByRole('dialog', { name: 'Rule' }).getByLabel('Title').fill('break*')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Rule' }).waitFor({ state: 'detached' })
  const unsaved = page.getByRole('region', { name: 'These rules are not saved.' })
  await unsaved.waitFor()

  await page.getByRole('link', { name: 'All feeds' }).click()
  const question = page.getByRole('dialog').filter({ has: page.getByText('Stay') })
  await question.getByRole('button', { name: 'Stay' }).click()

  const theirs = [...rules, { when: { title: 'swim*' }, then: { kind: 'CLASS' } }]
  await call('POST', '/feed', { feedId, rules: theirs })
  await unsaved.getByRole('button', { name: 'Dry run' }).click()
  await unsaved.getByRole('button', { name: /^Save/ }).click()
  const conflict = page.getByRole('alert').filter({ hasText: 'Take' })
  await conflict.waitFor()
  assert.deepEqual((await call('GET', `/feed/${feedId}`)).rules, theirs)
  await conflict.getByRole('button', { name: 'Take' }).click()
  await page.getByText('title “swim*”').waitFor()
  assert.equal(await unsaved.count(), 0)
})

test('Today shows what a feed holds, and what it mirrors says where it is changed, also on a phone', async (t) => {
  const { name: service } = (await call('GET', '/reason?limit=1')).items[0]
  const { professionalId } = (await call('GET', '/professional?limit=1')).items[0]
  const { locationId } = (await call('GET', '/location?limit=1')).items[0]
  const { feedId } = await call('POST', '/feed', {
    name: 'Front desk',
    source: 'INLET',
    mode: 'SHADOW',
    severalClients: 'CLASS',
    defaults: { professionalId, locationId },
  })
  const at = (hours: number) => ({
    startTime: start + hours * HOUR_MS,
    endTime: start + (hours + 1) * HOUR_MS,
  })
  await send(feedId, [
    entry('t1', { service: { name: service }, ...at(40) }),
    entry('t2', { title: 'Salt room', service: { name: 'Salt' }, ...at(42) }),
    entry('t3', { title: 'Back', clients: [{ emailAddress: 't4@example.org' }], ...at(44) }),
    entry('t5', { service: { name: 'Salt' }, ...at(24 * 8) }),
  ])
  const { items } = await call('GET', `/feed/${feedId}/entry?state=MIRRORED`)
  const idOf = (key: string) =>
    items.find((one: { key: string }) => one.key === key).objectId as number

  const { page, complaints } = await openAs(t, 'sofia')
  const item = page.getByRole('listitem').filter({ hasText: 'Front desk' })
  await item.getByText('1 entry of the next 7 days needs a decision.').waitFor()
  await item.getByRole('link', { name: 'See the feed' }).press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Front desk' }).waitFor()
  await page.getByText('Salt room').waitFor()
  await page.setViewportSize({ width: 360, height: 740 })
  for (const tab of ['Rules', 'Names', 'Runs', 'Differences', 'Entries']) {
    await chosenTab(page, tab)
    await assertAccessible(page, ['light'])
    const overflows = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
    assert.equal(overflows, false, tab)
  }
  const why = page.getByText(
    'Its time, client, staff, service and location are changed in the source',
  )
  const open = (path: string) => page.goto(new URL(`/console${path}`, page.url()).href)
  const { startTime } = at(40)
  const day = Temporal.Instant.fromEpochMilliseconds(startTime).toString().slice(0, 10)
  for (const path of [`/calendar?day=${day}&appointment=${idOf('t1')}`, `/classes/${idOf('t3')}`]) {
    await open(path)
    await why.waitFor()
    await page.getByRole('link', { name: 'Comes from the feed Front desk' }).waitFor()
    await assertAccessible(page, ['light'])
  }
  assert.deepEqual(complaints, [])
})

test('a person decides about appointments that disappeared, and deletes the feed', async (t) => {
  const { name: service } = (await call('GET', '/reason?limit=1')).items[0]
  const { professionalId } = (await call('GET', '/professional?limit=1')).items[0]
  const { locationId } = (await call('GET', '/location?limit=1')).items[0]
  const body = { name: 'Studio', source: 'INLET', mode: 'SHADOW', vanishLimit: 1 }
  const { feedId } = await call('POST', '/feed', {
    ...body,
    defaults: { professionalId, locationId },
  })
  const keys = ['one', 'two', 'three']
  const entries = keys.map((key, i) =>
    entry(key, {
      service: { name: service },
      startTime: start + i * HOUR_MS,
      endTime: start + (i + 1) * HOUR_MS,
    }),
  )
  await send(feedId, entries)
  await send(feedId, [], ['one'])

  const { page, complaints } = await openAs(t, 'sofia')
  const today = page.getByRole('listitem').filter({ hasText: 'Studio' })
  await today.getByText('Needs your decision').waitFor()
  await page.goto(new URL('/console/settings/feeds', page.url()).href)
  await page
    .getByRole('row')
    .filter({ hasText: 'Studio' })
    .getByText('Needs your decision')
    .waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'feeds')
  await page.getByRole('link', { name: 'Studio' }).click()
  await page.getByText('Many appointments disappeared').waitFor()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Keep them' }).click()
  await page.getByRole('heading', { level: 2, name: 'Works' }).waitFor()

  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByLabel('Keep them').check()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Delete the feed' }).click()
  await page.getByRole('heading', { level: 1, name: 'Feeds' }).waitFor()
  assert.equal((await call('GET', `/feed/${feedId}`)).active, false)
  assert.deepEqual(complaints, [])
})
