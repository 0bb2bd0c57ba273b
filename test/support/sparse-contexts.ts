import assert from 'node:assert/strict'
import type { MailContext } from '../../src/contract/mail-context.ts'

/** Contexts that lack values which a mail may lack: each replaces parts of a full one. */
export function sparseContexts(full: MailContext): Partial<MailContext>[] {
  const { business, client, calendar, classSchedule, invitation, location } = full
  const none = { phone: null, website: null, bookingUrl: null, postalAddress: null }
  const unsaid = { note: null, changeNote: null, answerNote: null }
  const open = { campaignDescription: null, expiresTime: null, link: null }
  const { answerLinks: _, ...withoutLinks } = full
  return [
    { reason: null, location: null, professional: null },
    { reason: null },
    { location: null },
    { professional: null },
    { business: { ...business, ...none } },
    ...(client ? [{ client: { ...client, firstName: '', lastName: '', phone: null } }] : []),
    ...(calendar ? [{ calendar: { ...calendar, ...unsaid } }] : []),
    ...(classSchedule
      ? [{ classSchedule: { ...classSchedule, answeredBy: null, answer: null, answerNote: null } }]
      : []),
    ...(invitation ? [{ invitation: { ...invitation, ...open } }] : []),
    ...(location
      ? [{ location: { ...location, phone: null, address: null, directions: null } }]
      : []),
    { ...withoutLinks, answerLinks: undefined as never },
  ]
}

/** Whether a sentence has lost a value: ", ,", ": .", "( )", two spaces, a comma at its beginning. */
const DEBRIS = /[:,(] *[.!?]|, *,|\( *\)|  |^[ ,:·–]+|[(–·] *$| [,.] *$| ,| \./

export function assertNoDebris({ subject, text }: { subject: string; text: string }, name: string) {
  const whole = `${name}: ${subject}\n${text}`
  assert.equal(subject, subject.trim(), whole)
  assert.doesNotMatch(subject, /: *$/, whole)
  const [body] = text.split('\n-- \n')
  for (const line of [subject, ...body!.split('\n')]) assert.doesNotMatch(line, DEBRIS, whole)
}
