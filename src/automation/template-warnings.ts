import { domainOf, type Mailbox } from '../contract/addresses.ts'
import type { Db } from '../database/database.ts'
import { getBusiness } from '../store/businesses.ts'
import { findSenderDomain } from '../store/sender-domains.ts'
import { findEmptyTokens } from './preview.ts'
import type { RenderedTemplate } from './templates.ts'

/** The warnings about a saved template: its sender, and tokens that are empty for recent objects. */
export const findTemplateWarnings = async (
  db: Db,
  template: RenderedTemplate,
  mailFrom: Mailbox,
) => [
  ...(await findSenderWarnings(db, template, mailFrom)),
  ...(await findEmptyTokens(db, template)),
]

/** A problem with the sender of a template, and what to do. */
type SenderWarning = { property: 'fromAddress'; detail: string }

/** Warns if mails are not sent from the template's address, or are not aligned with its domain. */
async function findSenderWarnings(
  db: Db,
  { businessId, fromAddress, replyToAddress }: RenderedTemplate,
  mailFrom: Mailbox,
): Promise<SenderWarning[]> {
  const domain = domainOf(fromAddress ?? '')
  // If the domain contains a token, it is known only when a mail is made.
  if (!fromAddress || domain.includes('%') || fromAddress === mailFrom.address) return []
  const warn = (detail: string): SenderWarning[] => [{ property: 'fromAddress', detail }]
  const { senderDomains } = await getBusiness(db, businessId)
  if (!senderDomains.includes(domain)) {
    return warn(
      `Mails are sent from ${mailFrom.address}, and replies go to ${replyToAddress || fromAddress}: the business may not send from ${domain}. Ask the operator to add it to senderDomains.`,
    )
  }
  const checks = (await findSenderDomain(db, { businessId, domain }))?.checks ?? []
  if (checks.some(({ check, result }) => check === 'DMARC' && result === 'PASS')) return []
  const todo = `Publish the DNS records that GET /senderDomain/${domain} lists.`
  if (checks.length === 0) return warn(`The DNS records of ${domain} are not checked yet. ${todo}`)
  // SPF alone does not align the domain of a business.
  const open = checks.filter(({ check, result }) => check !== 'SPF' && result !== 'PASS')
  const details = [...new Set(open.map(({ detail }) => detail))].join('; ')
  return warn(
    open.some(({ result }) => result === 'FAIL')
      ? `Mails from ${domain} are not aligned, so receivers may reject them: ${details}. ${todo}`
      : `Whether mails from ${domain} are aligned could not be checked: ${details}.`,
  )
}
