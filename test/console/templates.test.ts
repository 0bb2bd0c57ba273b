import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { watchDialogs } from '../support/browser.ts'
import {
  assertAccessible,
  keepPictures,
  skipInShortRun,
  startConsole,
  waitUntilLoaded,
} from '../support/console.ts'
import { htmlAttacks } from '../support/html-attacks.ts'
import { until } from '../support/until.ts'

const { service, openAs, call } = await startConsole([
  { username: 'sofia', role: 'OWNER' },
  { username: 'lea', role: 'LOCATION_SUPER_USER', locationIdList: [1] },
])

/** "Reminder two days before" of the demo, in English. */
const REMINDER = 7
/** "Moved" of the demo, in English: it has a button to confirm. */
const MOVED = 37

const textOf = (page: Page) => page.getByRole('textbox', { name: 'Text of the mail' })
const subjectOf = (page: Page) => page.getByRole('textbox', { name: 'Subject' })
/** Exists in the page. */
declare const getComputedStyle: (element: unknown) => { backgroundColor: string }

const mailOf = (page: Page) => page.locator('iframe[title="The mail as the reader sees it"]')
const save = (page: Page) => page.getByRole('button', { name: /^Save/ })
const readTemplate = (id: number) => call('GET', `/emailTemplate/${id}`)

/** Saves until nothing is unsaved, because letters typed during a save need another save. */
async function saveAll(page: Page) {
  const saved = page.getByRole('button', { name: 'Saved' })
  await saved.waitFor({ state: 'detached' })
  const click = () => save(page).click({ timeout: 5_000 })
  await until(() =>
    click()
      .catch(() => {}) // still saving
      .then(() => saved.waitFor({ timeout: 5_000 }))
      .then(
        () => true,
        () => false,
      ),
  )
}

/** Delays frames, as on a busy machine. Code that waits for a frame must not move the focus. */
const drawLate = (page: Page) =>
  page.addInitScript(`{
    const draw = requestAnimationFrame
    requestAnimationFrame = (callback) => setTimeout(() => draw(callback), 300)
  }`)

/** Puts the cursor at the end of the text. */
async function goToEnd(page: Page) {
  await textOf(page).focus()
  await page.keyboard.press('Control+End')
}

test('the preview shows the mail as a dark mail program does', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', `/templates/${REMINDER}`)
  const sheet = mailOf(page).contentFrame().locator('.bw-page').first()
  const isDark = async () =>
    (await sheet.evaluate((element) => getComputedStyle(element).backgroundColor)) ===
    'rgb(19, 27, 24)'
  await page.getByText('Dark', { exact: true }).click()
  await until(isDark)
  await assertAccessible(page)
  await keepPictures(page, 'template-dark')
  await page.getByText('Phone', { exact: true }).click()
  await until(async () => !(await isDark()))
  assert.deepEqual(complaints, [])
})

test('a token is inserted by the menu after % and from the list, and the preview follows', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/templates')
  const emailBody =
    '<p>We look forward to seeing you in two days.</p>\n<p>You can also call us.</p>'
  await call('POST', '/emailTemplate', { emailTemplateId: REMINDER, emailBody })
  const before = await readTemplate(REMINDER)
  await drawLate(page)
  // The values of the tokens arrive while the menu is open.
  const values = Promise.withResolvers<void>()
  await page.route(/objectId=/, (route) => values.promise.then(() => route.continue()))
  await page.goto(`${page.url()}/${REMINDER}`)
  await mailOf(page)
    .contentFrame()
    .getByText('We look forward to seeing you in two days.')
    .waitFor()
  assert.equal(await mailOf(page).getAttribute('sandbox'), '')

  await goToEnd(page)
  await page.keyboard.type(', %location_t')
  const menu = page.getByRole('listbox', { name: 'Tokens' })
  await menu.getByRole('option', { name: 'LOCATION_TIMEZONE …' }).waitFor()
  values.resolve()
  // Which appointment the preview is about depends on the time of day.
  const [zone] = /Europe.\w+/.exec(
    await menu.getByRole('option', { name: /LOCATION_TIMEZONE .*Europe/ }).innerText(),
  )!
  await page.keyboard.press('Enter')
  await page.keyboard.type(' 50% %APPT_ID%')
  const list = page.getByRole('complementary', { name: 'Tokens' })
  await list.getByLabel('Find a token').fill('phone of the loc')
  await list.getByText('No token has these words.').waitFor()
  await list.getByLabel('Find a token').fill('number of the location')
  await list.getByRole('button', { name: /^LOCATION_PHONE/ }).click()
  await subjectOf(page).focus()
  await page.keyboard.press('End')
  // The editor learns of the moved cursor later than the browser, at the latest with a change.
  await page.keyboard.type('x')
  await page.keyboard.press('Backspace')
  await list.getByLabel('Find a token').fill('reason_n')
  await list.getByRole('button', { name: /^REASON_NAME/ }).click()

  await mailOf(page).contentFrame().getByText(zone).waitFor()
  await page.getByText('2 unsaved changes').waitFor()
  assert.deepEqual(await readTemplate(REMINDER), before, 'a preview saves nothing')
  await subjectOf(page).focus()
  await page.keyboard.press('Control+S')
  await page.getByRole('button', { name: 'Saved' }).waitFor()
  const after = await readTemplate(REMINDER)
  assert.equal(after.subject, `${before.subject}%REASON_NAME%`)
  const end = ', %LOCATION_TIMEZONE% 50% %APPT_ID%%LOCATION_PHONE%</p>'
  assert.equal(after.emailBody, emailBody.replace(/<\/p>$/, end))
  assert.deepEqual(complaints, [])
})

test('a template with a button is written as text, and the toolbar inserts and changes buttons', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/templates')
  const before = (await readTemplate(MOVED)).emailBody as string
  await page.goto(`${page.url()}/${MOVED}`)
  await goToEnd(page)
  await page.keyboard.type('!')
  await saveAll(page)
  const written = before.replace(/<\/p>$/, '!</p>')
  assert.equal((await readTemplate(MOVED)).emailBody, written)
  assert.match(written, /<td style="background-color:#[^>]*><a href="%CONFIRM_URL%"/)

  await goToEnd(page)
  const control = page.getByRole('button', { name: 'Button', exact: true })
  await control.click()
  await page.getByLabel('Text of the button').fill('Find us')
  const address = page.getByLabel('Address, or a token')
  await address.fill('https://praxis.example/?a=1&b=2')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.keyboard.type(' here')
  await saveAll(page)
  const inserted = (await readTemplate(MOVED)).emailBody as string
  assert.ok(inserted.startsWith(written))
  assert.match(
    inserted.slice(written.length),
    /^\n<div><table .*<a href="https:\/\/praxis\.example\/\?a=1&amp;b=2"[^>]*>Find us here<\/a>.*<\/div>$/,
  )

  await control.click()
  assert.equal(await address.inputValue(), 'https://praxis.example/?a=1&b=2')
  assert.equal(await page.getByLabel('Text of the button').count(), 0)
  await address.fill('%RESCHEDULE_URL%')
  await page.getByRole('button', { name: 'Apply' }).click()
  await saveAll(page)
  const changed = (await readTemplate(MOVED)).emailBody as string
  assert.match(
    changed,
    /%IF:RESCHEDULE_URL%<table .*"%RESCHEDULE_URL%"[^>]*>Find us here<\/a>.*%END:IF%<\/div>$/,
  )
  await page.reload()
  await textOf(page).getByText('Find us here').waitFor()
  await assertAccessible(page)
  assert.deepEqual(complaints, [])
})

test('the toolbar inserts a token and an image, and the text has the focus at once', async (t) => {
  if (skipInShortRun(t)) return
  const body = { templateName: 'Toolbar', subject: 'S', emailBody: '<p>Text</p>' }
  const { emailTemplateId } = await call('POST', '/emailTemplate', body)
  const { page } = await openAs(t, 'sofia', '/templates')
  await drawLate(page)
  await page.goto(`${page.url()}/${emailTemplateId}`)
  await goToEnd(page)
  // The editor learns of the moved cursor later than the browser, at the latest with a change.
  await page.keyboard.type(' ')
  await page.getByRole('button', { name: 'Insert a token' }).click()
  await page.keyboard.type('client_fulln')
  await page.getByRole('listbox', { name: 'Tokens' }).getByText('CLIENT_FULLNAME').waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Image', exact: true }).click()
  await page.getByLabel('Address of the image').fill('https://example.org/logo.png')
  await page.getByRole('button', { name: 'Apply' }).click()
  assert.equal(
    await page.evaluate('document.activeElement.getAttribute("aria-label")'),
    'Text of the mail',
  )
  await saveAll(page)
  const { emailBody } = await readTemplate(emailTemplateId)
  assert.match(emailBody, /<p>Text %CLIENT_FULLNAME%/)
  assert.match(emailBody, /<img src="https:\/\/example\.org\/logo\.png"/)
})

test('an address that is typed in the text becomes a link', async (t) => {
  if (skipInShortRun(t)) return
  const body = { templateName: 'Address', subject: 'S', emailBody: '<p>Text</p>' }
  const { emailTemplateId } = await call('POST', '/emailTemplate', body)
  const { page } = await openAs(t, 'sofia', `/templates/${emailTemplateId}`)
  await goToEnd(page)
  await page.keyboard.type(' at https://salon.example, www.salon.example and Monday.')
  await saveAll(page)
  const { emailBody } = await readTemplate(emailTemplateId)
  assert.match(emailBody, /www\.salon\.example<\/a> and Monday\./)
  assert.match(emailBody, /<a[^>]*href="https:\/\/www\.salon\.example"/)
})

const KEPT = `<h2 style="color: #2f5d50">Dear %CLIENT_FULLNAME%</h2>
<p align="center">See <b>you</b> at <a target="_blank" href="%INVITATION_LINK%">our place</a>,<br>
<span style="color: red; font-weight: bold">soon</span>: %CLIENT_FIRSTNAME|there% &amp; &lt;all&gt;</p>
<ul><li>one</li><li><i>two</i> %APPT_DATE%</li></ul>
<hr>
<p><img src="https://example.org/logo.png" alt="Logo" width="80"> %BUSINESS_NAME%</p>`
const TABLE = '<table><tbody><tr><td>%APPT_DATE%</td></tr></tbody></table>'

test('the editor keeps the HTML of a template, and HTML that it cannot keep is edited as HTML', async (t) => {
  if (skipInShortRun(t)) return
  const create = async (templateName: string, emailBody: string) => {
    const body = { templateName, subject: 'S', emailBody }
    const saved = await call('POST', '/emailTemplate', body)
    assert.equal(saved.emailBody, emailBody)
    return saved.emailTemplateId as number
  }
  const kept = await create('Kept', KEPT)
  const { page } = await openAs(t, 'sofia', `/templates/${kept}`)
  await textOf(page).waitFor()
  await subjectOf(page).focus()
  await page.keyboard.type('ubject ')
  await saveAll(page)
  assert.equal((await readTemplate(kept)).emailBody, KEPT, 'an untouched text is unchanged')
  await goToEnd(page)
  await page.keyboard.type('!')
  await saveAll(page)
  const written = KEPT.replace(/<b>(.*?)<\/b>/, '<strong>$1</strong>')
    .replace(/<i>(.*?)<\/i>/, '<em>$1</em>')
    .replace('<br>\n', '<br>')
    .replace(/<\/p>$/, '!</p>')
  assert.equal((await readTemplate(kept)).emailBody, written)

  const table = await create('Table', TABLE)
  await page.goto(page.url().replace(/\d+$/, String(table)))
  const source = page.getByRole('textbox', { name: 'HTML', exact: true })
  assert.equal(await source.inputValue(), TABLE)
  await page.getByText('Write', { exact: true }).click()
  await page.getByText('Edit this template as HTML.').waitFor()
  await page.getByRole('button', { name: 'Remove them and write' }).click()
  await textOf(page).getByText('APPT_DATE').waitFor()
})

test('faults are shown at their fields, and leaving with unsaved changes asks first', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', '/templates/1')
  await page.getByRole('button', { name: 'Cc', exact: true }).click()
  await page.getByRole('textbox', { name: 'Cc' }).fill('nobody')
  await subjectOf(page).focus()
  await page.keyboard.type('%NO_SUCH% ')
  await save(page).click()
  await page.getByText('must be one plain address or a token', { exact: true }).waitFor()
  await page.getByText('line 1, column 1: there is no token %NO_SUCH%', { exact: true }).waitFor()
  assert.equal(await subjectOf(page).getAttribute('aria-invalid'), 'true')
  await page.getByText(/^Not up to date: /).waitFor()
  await page.getByRole('link', { name: 'Activity' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Leave without saving?' })
  await dialog.getByRole('button', { name: 'Stay here' }).click()
  await page.getByRole('button', { name: /^Actions for/ }).click()
  await page.getByRole('menuitem', { name: 'Discard the changes' }).click()
  await page.getByRole('link', { name: 'Activity' }).first().click()
  await page.getByRole('heading', { name: 'Activity', level: 1 }).waitFor()
})

test('a concurrent change by another user is shown side by side', async (t) => {
  const { page } = await openAs(t, 'sofia', '/templates/2')
  await subjectOf(page).fill('Mine %APPT_DATE%')
  await call('POST', '/emailTemplate', { emailTemplateId: 2, subject: 'Theirs', fromName: 'They' })
  // The other version cannot be loaded; saving again retries.
  await page.route('**/emailTemplate/2', (route) => route.fulfill({ status: 500, body: '{}' }), {
    times: 1,
  })
  await save(page).click()
  await page.getByText('that version could not be loaded').waitFor()
  await save(page).click()
  const conflict = page.getByRole('alert').filter({ hasText: 'Saved before you by the key test' })
  await conflict.getByText(/Keeping yours replaces “Subject”\.$/).waitFor()
  await conflict.getByRole('cell', { name: 'Theirs' }).waitFor()
  await conflict.getByRole('cell', { name: 'Mine %APPT_DATE%' }).waitFor()
  await conflict.getByRole('button', { name: 'Keep mine' }).click()
  await saveAll(page)
  const saved = await readTemplate(2)
  assert.deepEqual([saved.subject, saved.fromName], ['Mine %APPT_DATE%', 'They'])
})

test('a template is created, tested, translated, copied and deactivated', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/templates')
  await page.getByRole('button', { name: 'New template' }).click()
  await page.getByLabel('Name').fill('Parking')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Parking', level: 1 }).waitFor()
  await page.getByText('not used by an automation').waitFor()
  await subjectOf(page).fill('Where to park')
  const address = page.getByRole('combobox', { name: 'Send a test to' })
  await address.fill('me@example.org')
  await address.press('Enter')
  // The address that is still in the field counts too.
  await address.fill('you@example.org')
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('Captured: no mail server is set, so no mail was sent.').waitFor()
  const emailTemplateId = page.url().split('/').at(-1)
  const { items } = await call('GET', `/emails?emailTemplateId=${emailTemplateId}`)
  assert.deepEqual(
    items.map(({ subject, test }: { subject: string; test: boolean }) => [subject, test]),
    [1, 2].map(() => ['[Test] Where to park', true]),
  )
  await saveAll(page)

  await page.getByText(/^\d+ of 400 clients read German\.$/).waitFor()
  await page.getByRole('button', { name: 'Add a version in German' }).click()
  const german = page.getByRole('link', { name: 'German', exact: true })
  const draft = page.getByRole('link', { name: 'German draft' })
  await draft.and(page.locator('[aria-current=page]')).waitFor()
  await page.getByText(/^This version is a draft/).waitFor()
  await page.getByRole('button', { name: 'Switch on …' }).click()
  const effect = page.getByRole('dialog', { name: 'Switch this template on?' })
  await effect.getByText(/^No automation sends it yet. \d+ clients read German/).waitFor()
  await effect.getByRole('button', { name: 'Switch on' }).click()
  await german.and(page.locator('[aria-current=page]')).waitFor()
  await page.getByRole('button', { name: 'Actions for Parking' }).click()
  await page.getByRole('menuitem', { name: 'Copy' }).click()
  await page.getByRole('heading', { name: 'Parking (2)', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Actions for Parking (2)' }).click()
  await page.getByRole('menuitem', { name: 'Deactivate …' }).click()
  const dialog = page.getByRole('dialog', { name: 'Deactivate this template?' })
  await dialog.getByText('No automation uses it.').waitFor()
  await dialog.getByRole('button', { name: 'Deactivate' }).click()
  await page.getByText(/^This template is inactive/).waitFor()
  await page.getByRole('link', { name: 'Templates' }).last().click()
  await page.getByLabel('Find a template').fill('parking')
  const rows = page.getByRole('link', { name: /^Parking/ })
  await rows.first().waitFor()
  await page.getByRole('link', { name: 'German', exact: true }).waitFor()
  assert.equal(await rows.count(), 1, 'one row for the mail, with its languages')
  assert.deepEqual(complaints, [])
})

test('several addresses are pasted into the field of the test mail at once, with names or as lines', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', '/templates/1')
  const address = page.getByRole('combobox', { name: 'Send a test to' })
  const paste = async (text: string) => {
    await address.focus()
    await page.evaluate(`{
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', ${JSON.stringify(text)})
      const paste = { clipboardData, bubbles: true, cancelable: true }
      document.activeElement.dispatchEvent(new ClipboardEvent('paste', paste))
    }`)
  }
  await paste('Anna Müller <anna@example.org>; "Ben, B." <ben@example.org>')
  await paste('mailto:cleo@example.org\nanna@example.org')
  await paste('dan@example.org\teve@example.org\r\nfred@example.org')
  await page.getByText('1 address was left out.').waitFor()
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('Captured: no mail server is set, so no mail was sent.').waitFor()
  const { items } = await call('GET', '/emails?emailTemplateId=1&limit=5')
  assert.deepEqual(
    items.map(({ to }: { to: string }) => to).toSorted(),
    ['anna', 'ben', 'cleo', 'dan', 'eve'].map((name) => `${name}@example.org`),
  )
})

test('the history shows the changed words of a mail, and restores an earlier state of it', async (t) => {
  const first = {
    templateName: 'Directions',
    subject: 'Where we are',
    emailBody:
      '<p>Good morning</p>\n<p>dear %CLIENT_FIRSTNAME%,</p>\n<p>see <b>you</b> soon.</p>\n<p>Bye</p>',
    fromName: 'Praxis',
  }
  const { emailTemplateId } = await call('POST', '/emailTemplate', first)
  await call('POST', '/emailTemplate', { emailTemplateId, templateName: 'The way', fromName: null })
  const emailBody = first.emailBody.replace('soon', 'on %APPT_DATE%')
  await call('POST', '/emailTemplate', { emailTemplateId, emailBody, noHeader: true })
  const { page, complaints } = await openAs(t, 'sofia', `/templates/${emailTemplateId}`)
  await subjectOf(page).fill('Not saved')
  await page.getByRole('button', { name: /^changed by the key test, / }).focus()
  await page.keyboard.press('Enter')
  const history = page.getByRole('dialog', { name: 'History of the mail' })
  const latest = history.getByRole('listitem').first()
  await latest.getByRole('button', { name: 'Text of the mail, Without the layout' }).waitFor()
  assert.deepEqual(await latest.locator('del').allInnerTexts(), ['soon', 'no'])
  assert.deepEqual(await latest.locator('ins').allInnerTexts(), ['on %APPT_DATE%', 'yes'])
  assert.doesNotMatch(await latest.innerText(), /<|Good|Restore/)

  await history.getByRole('button', { name: /Created$/ }).focus()
  await page.keyboard.press('Enter')
  await history.getByRole('button', { name: 'Restore this state …' }).focus()
  await page.keyboard.press('Enter')
  await history.getByText('Your unsaved change is discarded.').waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'template-history')
  const saving = page.waitForRequest((request) => request.method() === 'POST')
  await history.getByRole('button', { name: 'Restore and save' }).click()
  assert.notEqual((await saving).headers()['if-match'], undefined)
  await page.getByRole('button', { name: 'Saved' }).waitFor()
  const restored = await readTemplate(emailTemplateId)
  const { subject, fromName, noHeader, templateName } = restored
  assert.deepEqual(
    { subject, fromName, noHeader, templateName, emailBody: restored.emailBody },
    { ...first, noHeader: false, templateName: 'The way' },
    'all but the name is as it was created',
  )
  await page.getByRole('button', { name: /^changed by sofia, / }).waitFor()
  assert.deepEqual(complaints, [])
})

test('restoring a state whose attachment was deleted says which file is missing', async (t) => {
  const content = Buffer.from('How to find us').toString('base64')
  const { fileUUId } = await call('POST', '/fileLibrary', { name: 'way.txt', content })
  const body = { templateName: 'Attached', subject: 'S', emailBody: '<p>See the file</p>' }
  const { emailTemplateId } = await call('POST', '/emailTemplate', {
    ...body,
    attachFileLibraryUUids: [fileUUId],
  })
  await call('POST', '/emailTemplate', { emailTemplateId, attachFileLibraryUUids: [] })
  await call('POST', '/fileLibrary', { fileUUId, active: false })
  const { page } = await openAs(t, 'sofia', `/templates/${emailTemplateId}`)
  await page.getByRole('button', { name: /^changed by the key test, / }).click()
  const history = page.getByRole('dialog', { name: 'History of the mail' })
  await history.getByRole('button', { name: /Created$/ }).click()
  await history.getByRole('button', { name: 'Restore this state …' }).click()
  await history.getByRole('button', { name: 'Restore and save' }).click()
  await page
    .getByRole('alert')
    .filter({ hasText: `there is no file ${fileUUId}` })
    .waitFor()
})

test('a version is for some services and one location, and the list says so', async (t) => {
  if (skipInShortRun(t)) return
  const { items } = await call('GET', '/calendar?limit=1&expand=names')
  const { calendarId, reasonId, reasonName, locationId, locationName } = items[0]
  const body = { templateName: 'What to bring', subject: 'S', emailBody: '<p>A towel</p>' }
  const { emailTemplateId } = await call('POST', '/emailTemplate', body)
  const { page, complaints } = await openAs(t, 'sofia', `/templates/${emailTemplateId}`)
  await page.getByRole('button', { name: 'Variant' }).click()
  await page.getByRole('menuitem', { name: 'For a service or location …' }).click()
  const window = page.getByRole('dialog', { name: 'New version of this mail' })
  const add = window.getByRole('button', { name: 'Add the version' })
  assert.equal(await add.isDisabled(), true)
  const choose = async (label: string, name: string) => {
    const field = page.getByRole('combobox', { name: label })
    await field.fill(name)
    await page.getByRole('option', { name, exact: true }).waitFor()
    await field.press('ArrowDown')
    await field.press('Enter')
  }
  await choose('Services', reasonName)
  await choose('Location', locationName)
  await assertAccessible(page)
  await keepPictures(page, 'template-version')
  await add.click()
  const label = `${reasonName} · ${locationName}`
  await page
    .getByRole('link', { name: `${label} draft` })
    .and(page.locator('[aria-current=page]'))
    .waitFor()
  await page.getByText(`Only for ${reasonName}. Only at ${locationName}.`).waitFor()
  const versionId = Number(page.url().split('/').at(-1))
  const version = await readTemplate(versionId)
  assert.deepEqual(
    [version.reasonIdList, version.level, version.location, version.active],
    [[reasonId], 'LOCATION', String(locationId), false],
  )
  await call('POST', '/emailTemplate', { emailTemplateId: versionId, active: true })
  const sent = await call('POST', `/emailTemplate/${emailTemplateId}/preview`, {
    objectType: 'CALENDAR',
    objectId: calendarId,
    version: 'sent',
  })
  assert.equal(sent.emailTemplateId, versionId)

  await page.reload()
  await page.getByRole('button', { name: 'Details' }).click()
  await choose('Location', 'Every location')
  await page.keyboard.press('Escape')
  await page.getByText('1 unsaved change').waitFor()
  await saveAll(page)
  const { level, location } = await readTemplate(versionId)
  assert.deepEqual([level, location], [null, null])
  await page.getByRole('link', { name: 'Templates' }).last().click()
  await page.getByLabel('Find a template').fill('what to bring')
  await page.getByRole('link', { name: 'Every language' }).waitFor()
  await page.getByRole('link', { name: reasonName, exact: true }).waitFor()
  assert.deepEqual(complaints, [])
})

const CONDITIONS = `<p>Hello%IF:CLIENT_FIRSTNAME% %CLIENT_FIRSTNAME%%END:IF%,</p>
<p>%IF:LOCATION_PHONE%</p>
<p>Call us:</p>
<p>%LOCATION_PHONE%</p>
<p>%END:IF%</p>
<p>Goodbye</p>`

test('a condition is a block in the text that is added, kept and removed with both of its marks', async (t) => {
  const body = { templateName: 'Conditions', subject: 'S', emailBody: CONDITIONS }
  const { emailTemplateId } = await call('POST', '/emailTemplate', body)
  const storedBody = async () => (await readTemplate(emailTemplateId)).emailBody
  const { page, complaints } = await openAs(t, 'sofia', `/templates/${emailTemplateId}`)
  await textOf(page).getByText('only if LOCATION_PHONE').waitFor()
  assert.doesNotMatch(await textOf(page).innerText(), /IF/)
  assert.equal(await textOf(page).locator('.condition-block').count(), 4)
  await textOf(page).locator('p .condition').first().waitFor()
  await subjectOf(page).fill('Changed')
  await saveAll(page)
  assert.equal(await storedBody(), CONDITIONS, 'an untouched text is unchanged')

  const toolbar = page.getByRole('button', { name: 'Condition', exact: true })
  await goToEnd(page)
  await page.keyboard.press('Shift+Home')
  await toolbar.focus()
  await page.keyboard.press('Enter')
  const token = page.getByRole('combobox', { name: 'Show the text only if' })
  await token.fill('BUSINESS_PHONE')
  await page.getByRole('option', { name: 'BUSINESS_PHONE' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await assertAccessible(page)
  await keepPictures(page, 'template-condition')
  await page.getByRole('button', { name: 'Apply' }).click()
  await textOf(page).getByText('only if BUSINESS_PHONE').waitFor()
  await saveAll(page)
  const added = CONDITIONS.replace('Goodbye', '%IF:BUSINESS_PHONE%Goodbye%END:IF%')
  assert.equal(await storedBody(), added)

  // A new line splits it, because a condition ends in the element in which it begins.
  await textOf(page).getByText('Goodbye').click()
  await page.keyboard.press('Home')
  for (let i = 0; i < 5; i += 1) await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await saveAll(page)
  const mark = '%IF:BUSINESS_PHONE%'
  const lines = (await storedBody()).split('\n').slice(-2)
  for (const line of lines) assert.match(line, /^<p>%IF:BUSINESS_PHONE%\w+%END:IF%<\/p>$/)
  assert.equal(
    lines
      .join('')
      .replaceAll(/<\/?p>|%END:IF%/g, '')
      .replaceAll(mark, ''),
    'Goodbye',
  )

  await textOf(page).getByText('Call us:').click()
  await toolbar.click()
  await page.getByRole('button', { name: 'Remove the condition' }).click()
  await goToEnd(page)
  // The end mark, and with it the start.
  await page.keyboard.press('Backspace')
  await saveAll(page)
  const rest = await storedBody()
  assert.doesNotMatch(rest, /LOCATION_PHONE%<\/p>\n<p>Call|%IF:LOCATION/)
  assert.equal(rest.match(/%IF:/g).length, 2)
  assert.equal(rest.match(/%END:IF%/g).length, 2)
  assert.deepEqual(complaints, [])
})

test('users who may only read see the template and its mail', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'lea', '/templates/4')
  await page.getByText('Your role may read this, not change it.').waitFor()
  await mailOf(page).waitFor()
  assert.equal(await textOf(page).getAttribute('contenteditable'), 'false')
  assert.equal(await save(page).count(), 0)
  await assertAccessible(page)
})

type Stored = { emailTemplateId: number; attacks: number }

/** Stores attacks in as few templates as possible; those that the service refuses are left out. */
async function storeTemplates(attacks: string[]): Promise<Stored[]> {
  const template = { templateName: 'Hostile', subject: 'Hello', emailBody: attacks.join('<hr>') }
  try {
    const { emailTemplateId } = await call('POST', '/emailTemplate', template)
    return [{ emailTemplateId, attacks: attacks.length }]
  } catch {
    if (attacks.length === 1) return []
    const half = Math.ceil(attacks.length / 2)
    return [
      ...(await storeTemplates(attacks.slice(0, half))),
      ...(await storeTemplates(attacks.slice(half))),
    ]
  }
}

test('templates that contain attacks run nothing in the editor and in the preview', async (t) => {
  if (skipInShortRun(t)) return
  const stored = (await storeTemplates(htmlAttacks)).toSorted((a, b) => b.attacks - a.attacks)
  const largest = stored.slice(0, 4)
  t.diagnostic(`${largest.reduce((sum, { attacks }) => sum + attacks, 0)} attacks`)
  assert.ok(largest.reduce((sum, { attacks }) => sum + attacks, 0) >= 50)
  const { page, complaints } = await openAs(t, 'sofia')
  watchDialogs(page, complaints)
  for (const { emailTemplateId } of largest) {
    await page.goto(`${service.base}/console/templates/${emailTemplateId}`)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await waitUntilLoaded(page)
    const frame = page.locator('iframe').first()
    await frame.waitFor()
    assert.equal(await frame.getAttribute('sandbox'), '')
  }
  assert.deepEqual(complaints, [])
})
