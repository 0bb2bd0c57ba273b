import type { Config } from '../config.ts'
import type { Db } from '../database/database.ts'
import { mailRouteOf } from '../email/mail-route.ts'
import { makeResolver } from '../email/resolver.ts'
import { checkSenderDomain } from '../email/sender-check.ts'
import { listSenderDomains } from '../store/sender-domains.ts'
import { WorkQueue } from '../work-queue.ts'
import type { Finding } from './check-mail.ts'

/** Checks the DNS records of sender domains now, and stores nothing. */
export async function checkSenders(config: Config, operator: Db): Promise<Finding[]> {
  const domains = await listSenderDomains(operator, { after: undefined, limit: MAX_DOMAINS + 1 })
  const route = mailRouteOf(config)
  const resolver = makeResolver(config.dnsServers)
  const queue = new WorkQueue({ total: 10 })
  const findings = await Promise.all(
    domains.slice(0, MAX_DOMAINS).map((domain) =>
      queue.run({}, async (): Promise<Finding> => {
        const checks = await checkSenderDomain(domain, route, resolver)
        const about = 'Sender'
        const results = checks.map(({ check, result }) => `${check} ${result}`).join(', ')
        const says = `${domain.domain} of business ${domain.businessId}: ${results}`
        const todo = checks.flatMap((check) => check.todo ?? [])
        return todo.length === 0
          ? { state: 'ok', about, says }
          : { state: 'note', about, says, todo: [...new Set(todo)].join(' ') }
      }),
    ),
  )
  if (domains.length <= MAX_DOMAINS) return findings
  const says = `only the first ${MAX_DOMAINS} sender domains were checked`
  const todo = 'GET /senderDomain lists all with their last check'
  return [...findings, { state: 'note', about: 'Sender', says, todo }]
}

const MAX_DOMAINS = 100
