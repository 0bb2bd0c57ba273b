import type { TestContext } from 'node:test'
import { answerLinks } from '../../src/email/answer-links.ts'
import { reminder, startEngine, startWorld } from './world.ts'

const BODY =
  '<p><a href="%CONFIRM_URL%">I will come</a> <a href="%CANCEL_URL%">Cancel</a> <a href="%RESCHEDULE_URL%">Move</a></p>'

/** A world whose reminders, a day before, ask the client to confirm or cancel. */
export async function startAsking(t: TestContext, template: object = {}) {
  const world = await startWorld(t)
  const { app, businessId, call, clock, save } = world
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'Will you come?',
    emailBody: BODY,
    ...template,
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
  const { runEngine } = startEngine(world, {
    answerLinks: (mail) => answerLinks('http://localhost', 'test', mail),
  })

  /** Books an appointment 25 hours ahead, and reads the links of its mail an hour later. */
  const ask = async (more: object = {}) => {
    const { calendarId } = await world.book(clock.in({ hours: 25 }), more)
    clock.advance({ hours: 1 })
    await runEngine()
    const [mail] = (await call('GET', `/emails/calendar/${calendarId}`)).body
    return {
      calendarId,
      mail,
      ...linksIn((await call('GET', `/emails/${mail.emailId}`)).body.html),
    }
  }

  const open = (url: string, headers: Record<string, string> = {}) =>
    app.inject({ method: 'GET', url, headers })
  /** Opens the page and sends its form, as a browser does. */
  const answer = async (url: string, headers: Record<string, string> = {}) => {
    const page = await open(url)
    const formToken = formTokenIn(page.body)
    return app.inject({
      method: 'POST',
      url,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: 'http://127.0.0.1:8080',
        'sec-fetch-site': 'same-origin',
        ...headers,
      },
      payload: `formToken=${formToken ?? ''}`,
    })
  }
  const statusOf = async (calendarId: number) =>
    (await call('GET', `/calendar/${calendarId}`)).body.status
  return { ...world, runEngine, emailTemplateId, ask, open, answer, statusOf }
}

export const formTokenIn = (html: string) => /name="formToken" value="([^"]+)"/.exec(html)?.[1]

export const linksIn = (html: string) => {
  const links = html.matchAll(/<a [^>]*?href="([^"]*)"[^>]*>([^<]*)/g)
  const byText = new Map([...links].map(([, link, text]) => [text, link!]))
  const pathOf = (text: string) => URL.parse(byText.get(text) ?? '')?.pathname ?? ''
  const reschedule = byText.get('Move') ?? ''
  return { confirm: pathOf('I will come'), cancel: pathOf('Cancel'), reschedule }
}
