import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { answerLinks } from '../../src/email/answer-links.ts'
import { unsubscribeLink } from '../../src/email/unsubscribe.ts'
import { openPage } from '../support/browser.ts'
import { assertAccessible, isCompleteRun } from '../support/console.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

/** The pages behind the links of mails, as clients see them on a phone. */

const LANGUAGES = isCompleteRun ? ['en', 'de', 'fr'] : ['de']
const LONG = 'Donaudampfschifffahrtsgesellschaftskapitänswitwenrente'
const BODY = `<p><a href="%CONFIRM_URL%">confirm</a></p><p><a href="%CANCEL_URL%">cancel</a></p>
<p>%IF:SIGN_URL%<a href="%SIGN_URL%">sign</a>%END:IF%</p>
<p>%IF:UNSUBSCRIBE_LINK%<a href="%UNSUBSCRIBE_LINK%">unsubscribe</a>%END:IF%</p>`

for (const language of LANGUAGES) {
  test(`in ${language}, answers, signing and unsubscribing fit a phone, in light and dark`, async (t) => {
    const { ask, askForClass, askToSign, page, shows, save, businessId } = await start(t, language)
    const send = () => page.locator('main button').first().click()

    const visit = await ask()
    await page.goto(visit.confirm!)
    await shows('asks to confirm', '.card')
    await send()
    await shows('confirmed', '.links')
    await page.goto(visit.cancel!)
    await shows('asks to cancel', 'textarea')
    await page.locator('textarea').fill(LONG)
    await send()
    await shows('cancelled', '.gone')
    await page.locator('[name=undo]').click()
    await shows('kept', '.links')

    await save('/business', { businessId, cancelUntilHours: 720 })
    await page.goto(visit.cancel!)
    await shows('too late to cancel', '.card')

    await page.goto(visit.unsubscribe!)
    await shows('asks for topics', 'label.topic')
    await page.locator('[name=choice]').click()
    await shows('stopped', '[name=undo]')
    await page.locator('[name=undo]').click()
    await shows('taken back', 'h1')

    const lesson = await askForClass()
    await page.goto(lesson.confirm!)
    await shows('asks a student', '.card')
    await send()
    await shows('the place is confirmed', '.links')

    const form = await askToSign()
    await page.goto(form.sign!)
    await shows('a form to sign', '.text')
    await page.locator('input[type=text]').fill(' ')
    await send()
    await shows('the name is missing', '[role=alert]')
    await page.locator('input[type=text]').fill(`Anna ${LONG}`)
    await send()
    await shows('signed', '.text')

    await page.goto(`${visit.confirm}x`)
    await shows('an unknown link', 'h1')
  })
}

async function start(t: TestContext, language: string) {
  const world = await startWorld(t)
  const { app, businessId, call, clock, ids, save } = world
  await app.listen({ port: 0, host: '127.0.0.1' })
  const base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const { runEngine } = startEngine(world, {
    answerLinks: (mail) => answerLinks(base, 'test', mail),
    unsubscribeLink: (mail) => unsubscribeLink(base, 'test', mail),
  })
  await save('/business', {
    businessId,
    name: `Praxis ${LONG}`,
    language,
    // Hardly legible on white, and on the dark page.
    accentColor: '#ffd400',
    postalAddress: `${LONG}straße 128\n8002 Zürich`,
    phone: '+41 44 555 01 99',
    emailAddress: `${LONG.toLowerCase().replace(/[^a-z]/g, '')}@praxis.example`,
    website: `https://praxis.example/${'termine-und-preise/'.repeat(4)}`,
    bookingUrl: 'https://praxis.example/book',
  })
  await save('/client', { clientId: ids.clientId, language, timeZone: 'America/New_York' })
  await save('/location', { locationId: ids.locationId, address: `${LONG}weg 1, Zürich` })
  await save('/reason', { reasonId: ids.reasonId, name: LONG })
  const categories = ['Angebote', LONG].map((name) =>
    save('/emailCategory', { name, transactional: false }),
  )
  const [{ emailCategoryId }] = (await Promise.all(categories)) as [{ emailCategoryId: number }]
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Links',
    subject: 'Links',
    emailBody: BODY,
    emailCategoryId,
  })
  const define = (eventTypeId: number, objectType: string) =>
    save(
      '/eventDefinition',
      reminder(businessId, 0, {
        objectType,
        eventType: { eventTypeId },
        eventActions: [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }],
      }),
    )
  await define(1, 'CALENDAR')
  await define(4, 'CLASS_SCHEDULE')
  await define(12, 'CALENDAR')

  /** The links of the newest mail. */
  const readLinks = async (): Promise<Record<string, string>> => {
    await runEngine()
    const [{ emailId }] = (await call('GET', '/emails')).body.items
    const { html } = (await call('GET', `/emails/${emailId}`)).body
    const links = html.matchAll(/<a [^>]*?href="([^"]*)"[^>]*>(\w+)</g) as Iterable<string[]>
    return Object.fromEntries([...links].map(([, url, text]) => [text, url]))
  }
  const soon = { startTime: clock.in({ hours: 48 }), endTime: clock.in({ hours: 49 }) }
  const ask = async () => {
    await world.book(soon.startTime)
    return readLinks()
  }
  const askForClass = async () => {
    const { locationId, professionalId, clientId } = ids
    await save('/classSchedule', {
      name: `Yoga ${LONG}`,
      locationId,
      professionalId,
      startTime: soon.startTime.epochMilliseconds,
      endTime: soon.endTime.epochMilliseconds,
      clientIdList: [clientId],
    })
    return readLinks()
  }
  const askToSign = async () => {
    const form = {
      name: `Einwilligung ${LONG}`,
      body: `${LONG.repeat(3)}\n\nIch bin einverstanden.`,
    }
    const { disclaimerFormId } = await save('/disclaimerForm', form)
    await save('/disclaimer', { disclaimerFormId, clientId: ids.clientId })
    return readLinks()
  }

  const { page } = await openPage(t)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.setExtraHTTPHeaders({ 'accept-language': language })
  const shows = (name: string, part: string) => assertFits(page, { name, part, language })
  return { ...world, ask, askForClass, askToSign, page, shows }
}

/** Fails if the page has another language, is wider than the phone, or violates a rule of WCAG 2.2 AA. */
async function assertFits(
  page: Page,
  { name, part, language }: { name: string; part: string; language: string },
) {
  await page.locator(part).first().waitFor()
  assert.equal(await page.getAttribute('html', 'lang'), language, name)
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, name)
  const small = await page.evaluate<string[]>(
    `[...document.querySelectorAll('main button, main .button')].filter((one) => one.offsetHeight < 24).map((one) => one.outerHTML)`,
  )
  assert.deepEqual(small, [], name)
  await assertAccessible(page, ['light', 'dark'])
}
