import { domainOf, type Mailbox } from '../contract/addresses.ts'
import type { Db } from '../database/database.ts'
import { getBusiness } from '../store/businesses.ts'
import { findPostalAddress } from '../store/postal-addresses.ts'
import { findSenderDomain } from '../store/sender-domains.ts'
import { findEmptyTokens } from './preview.ts'
import type { RenderedTemplate } from './templates.ts'

/** The warnings about a saved template: removed HTML, its sender, and tokens that are empty for recent objects. */
export const findTemplateWarnings = async (
  db: Db,
  template: RenderedTemplate,
  mailFrom: Mailbox,
  removed: string[] = [],
) => [
  ...warnOfRemoved(removed),
  ...(await findSenderWarnings(db, template, mailFrom)),
  ...(await warnOfMissingAddress(db, template)),
  ...(await findEmptyTokens(db, template)),
]

const MAX_NAMED = 10

function warnOfRemoved(removed: string[]) {
  if (removed.length === 0) return []
  const named = removed.slice(0, MAX_NAMED).map((part) => `<${part}>`)
  const more = removed.length > MAX_NAMED ? ` and ${removed.length - MAX_NAMED} more` : ''
  const detail = `Removed, because mails cannot have it: ${named.join(', ')}${more}.`
  return [{ property: 'emailBody', detail }]
}

/** Laws such as CAN-SPAM require a postal address in mails that readers can unsubscribe from. */
async function warnOfMissingAddress(db: Db, { businessId, transactional }: RenderedTemplate) {
  if (transactional) return []
  if (await findPostalAddress(db, businessId)) return []
  const { postalAddressRequired } = await getBusiness(db, businessId)
  const detail = postalAddressRequired
    ? 'The business has no postalAddress and requires one in mails that are not transactional: it sends none that are about no location with an address.'
    : 'The business has no postalAddress, which many countries require in mails that are not transactional.'
  return [{ property: 'emailCategory', detail }]
}

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
