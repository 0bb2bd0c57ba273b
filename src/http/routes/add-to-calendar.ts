import { Type } from 'typebox'
import { calendarEntry, withoutClient } from '../../automation/compose.ts'
import { googleCalendarLink, outlookCalendarLink } from '../../email/calendar-links.ts'
import { linkedEntry } from '../../email/layout-tokens.ts'
import { isSealOf, readUnsubscribe } from '../../email/unsubscribe.ts'
import { RequestError } from '../../errors.ts'
import { findEmail } from '../../store/emails.ts'
import { listMailContexts, type ContextRow } from '../../store/mail-contexts.ts'
import { operation, type Routes } from '../server/services.ts'
import { cancelledPage, explainDeadLinks } from './answer-pages.ts'
import { HtmlPage, readSender, sendMailPage } from './mail-page.ts'

const LINKS = { google: googleCalendarLink, outlook: outlookCalendarLink }
const ByToken = Type.Object({ token: Type.String({ maxLength: 100 }) })

/** The calendar file behind the button of a mail: the appointment as it is now. */
export const addToCalendar: Routes = async (app, { config, database, linkSeal }) => {
  explainDeadLinks(app)
  const host = new URL(config.publicUrl).hostname

  const findVisit = async (token: string) => {
    const link = readUnsubscribe(token)
    if (!link) return null
    const { businessId, emailId, seal } = link
    const db = database.forBusiness(businessId, 'SYSTEM')
    const email = await findEmail(db, businessId, emailId, null)
    if (!email || !isSealOf(email, seal, linkSeal, 'addToCalendar')) return null
    const { objectType } = email
    const row = objectType && chooseRow(await listMailContexts(db, objectType, [email]), email)
    if (!objectType || !row) return null
    return { email, objectType, row }
  }

  const fileOf = ({
    email,
    objectType,
    row,
  }: NonNullable<Awaited<ReturnType<typeof findVisit>>>) => {
    const from = { name: row.context.business.name, address: config.mailFrom.address }
    const to = { name: '', address: email.to }
    const { client, business } = row.context
    const mail = { subject: email.subject, to, language: client?.language ?? business.language }
    return calendarEntry(objectType, { mail, row, recipient: to }, from, host)
  }

  app.get(
    '/addToCalendar/:token',
    operation('addToCalendar', 'Get the calendar file of an appointment, by the link in an email', {
      config: { open: true },
      tags: ['email'],
      description:
        'With `to` it leads to a new entry in the calendar of Google or Outlook, or to a page that says ' +
        'that the appointment is cancelled.',
      params: ByToken,
      querystring: Type.Object({
        to: Type.Optional(
          Type.Enum(['google', 'outlook'], {
            title: 'WebCalendar',
            description: 'The calendar on the web that gets a new entry.',
          }),
        ),
      }),
      response: {
        200: { content: { 'text/calendar': { schema: Type.String() }, ...HtmlPage.content } },
        404: HtmlPage,
      },
    }),
    async ({ params, query }, reply) => {
      const found = await findVisit(params.token)
      const { calendar, classSchedule, location } = found?.row.context ?? {}
      const visit = calendar ?? classSchedule
      if (found && query.to && visit) {
        if (!visit.isCancelled)
          return reply.redirect(LINKS[query.to](linkedEntry(found.row.context)))
        const { businessId } = found.email
        const db = database.forBusiness(businessId, 'SYSTEM')
        const sender = await readSender(db, businessId, location)
        return sendMailPage(reply, 200, cancelledPage(found.row, sender))
      }
      const file = found && fileOf(found)
      if (!file) throw new RequestError(404, 'This link is not valid.')
      return reply
        .type(`text/calendar; charset=utf-8; method=${file.method}`)
        .header('content-disposition', `attachment; filename="${file.fileName}"`)
        .send(file.content)
    },
  )
}

/**
 * The row of the client that the mail was about; undefined if the appointment now has another client.
 * For a class, a former student and a mail about all students get the row without a client.
 */
function chooseRow(rows: ContextRow[], { clientId }: { clientId: number | null }) {
  const [first] = rows
  const theirs = rows.find((row) => row.clientId === clientId)
  return theirs ?? (first?.context.classSchedule ? withoutClient(first) : undefined)
}
