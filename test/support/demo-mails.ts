import type { MailContext } from '../../src/contract/mail-context.ts'
import { DEMO_BUSINESS } from '../../src/demo/demo.ts'
import { templateLines } from '../../src/demo/messages.ts'
import { LOCATIONS } from '../../src/demo/practice.ts'
import { compileTemplate, mergeMail } from '../../src/email/merge.ts'
import { HTML_TASKS } from '../../src/email/read-html.ts'
import { fullContext, plainTemplate } from './mail-context.ts'

/** One mail of each template of the demo, about the same appointment. */
export function renderDemoMails(changes: Partial<MailContext['business']> = {}) {
  const [zurich] = LOCATIONS
  const plain = fullContext()
  return templateLines.map(
    ({ externalId, templateName, language, subject, emailBody, ...more }) => {
      const { rendered, faults } = HTML_TASKS.check(emailBody)
      const isForStaff = more.toAddress === '%PROFESSIONAL_EMAIL%'
      const isNews = more.emailCategoryExternalId === 'demo-category-2'
      const compiled = compileTemplate(
        plainTemplate({
          ...rendered,
          subject,
          language,
          fromName: more.fromName,
          toAddress: more.toAddress,
          hasLayout: true,
        }),
      )
      const isCancelled = /cancelled/i.test(templateName)
      const context = fullContext({
        business: { ...plain.business, ...DEMO_BUSINESS, logo: null, ...changes },
        location: zurich!,
        // A mail to staff about a class names no student in its card.
        client: templateName.startsWith('Student')
          ? null
          : { ...plain.client!, firstName: 'Anna', lastName: 'Müller', timeZone: null },
        professional: {
          ...plain.professional!,
          firstName: 'Elena',
          lastName: 'García',
          timeZone: null,
        },
        reason: { ...plain.reason!, name: 'Physiotherapy' },
        calendar: {
          ...plain.calendar!,
          isCancelled,
          isLive: !isCancelled,
          changeNote: isCancelled ? 'Elena García is ill.' : plain.calendar!.changeNote,
        },
        classSchedule: /^(?:Class|Student)/.test(templateName) ? plain.classSchedule : null,
        movedFrom: templateName === 'Moved' ? plain.movedFrom : null,
        unsubscribeLink: isNews ? plain.unsubscribeLink : null,
      })
      const isAboutVisit = !/Invitation|check-up|sign/.test(templateName)
      if (context.classSchedule) Object.assign(context, { calendar: null, reason: null })
      if (!isAboutVisit) Object.assign(context, { calendar: null, location: null })
      const isAfter = /missed|How was/.test(templateName)
      const now = plain.calendar!.startTime.add({ hours: isAfter ? 24 : -48 })
      const mail = mergeMail(compiled, context, isForStaff ? 'staff' : 'client', now)
      return { ...mail, externalId, templateName, language, faults, compiled, context }
    },
  )
}
