import { domainOf, type Mailbox } from '../contract/addresses.ts'
import type { Db } from '../database/database.ts'
import { getBusiness } from '../store/businesses.ts'
import { findSenderDomain } from '../store/sender-domains.ts'

/** What is wrong with the sender of a template, and what to do. */
export type SenderWarning = { property: 'fromAddress'; detail: string }

/** Warns if mails of the template are not sent from its address, or not aligned with its domain. */
export async function findSenderWarnings(
  db: Db,
  { businessId, fromAddress }: { businessId: number; fromAddress: string | null },
  mailFrom: Mailbox,
): Promise<SenderWarning[]> {
  const domain = domainOf(fromAddress ?? '')
  // With a token in it, the domain is known only when a mail is made.
  if (!fromAddress || domain.includes('%') || fromAddress === mailFrom.address) return []
  const warn = (detail: string): SenderWarning[] => [{ property: 'fromAddress', detail }]
  const { senderDomains } = await getBusiness(db, businessId)
  if (!senderDomains.includes(domain)) {
    return warn(
      `Mails are sent from ${mailFrom.address}, and replies go to ${fromAddress}: the business may not send from ${domain}. Ask the operator to add it to senderDomains.`,
    )
  }
  const found = await findSenderDomain(db, { businessId, domain })
  const dmarc = found?.checks.find(({ check }) => check === 'DMARC')
  if (dmarc?.result === 'PASS') return []
  if (!dmarc) {
    return warn(
      `The DNS records of ${domain} are not checked yet. GET /senderDomain lists the records to publish.`,
    )
  }
  // Alignment needs both; SPF alone does not align the domain of a business.
  const open = found!.checks.filter(({ check, result }) => check !== 'SPF' && result !== 'PASS')
  const todo = [...new Set(open.flatMap((one) => one.todo ?? []))].map((one) => ` ${one}`).join('')
  return warn(
    dmarc.result === 'FAIL'
      ? `Mails from ${domain} are not aligned, so receivers may reject them: ${dmarc.detail}.${todo}`
      : `Whether mails from ${domain} are aligned could not be checked: ${dmarc.detail}.${todo}`,
  )
}
