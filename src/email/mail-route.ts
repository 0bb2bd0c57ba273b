import type { Config } from '../config.ts'
import { domainOf } from '../contract/addresses.ts'
import { spfMechanismOf, type MailRoute } from './sender-check.ts'
import { parseSmtpUrl } from './smtp.ts'

type RouteSettings = Pick<Config, 'smtpUrl' | 'smtpSpf' | 'mailFrom' | 'bounceDomain'>

/** The domain to which bounces are sent. */
export const envelopeDomainOf = ({ mailFrom, bounceDomain }: Omit<RouteSettings, 'smtpUrl'>) =>
  bounceDomain ?? domainOf(mailFrom.address)

/** How mails reach other servers, according to the settings. */
export function mailRouteOf(settings: RouteSettings): MailRoute {
  const { smtpUrl, smtpSpf } = settings
  const ofServer = smtpUrl === undefined ? undefined : spfMechanismOf(parseSmtpUrl(smtpUrl).host)
  return { spfMechanism: smtpSpf ?? ofServer, envelopeDomain: envelopeDomainOf(settings) }
}
