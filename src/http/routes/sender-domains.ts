import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { checkDomain } from '../../automation/sender-domains.ts'
import { parseDomain } from '../../contract/addresses.ts'
import { PageOf, PageQuery } from '../../contract/page.ts'
import { SenderDomain } from '../../contract/sender-domain.ts'
import { mailRouteOf } from '../../email/mail-route.ts'
import { makeResolver } from '../../email/resolver.ts'
import { dnsRecordsOf, statusOf, type MailRoute } from '../../email/sender-check.ts'
import { RequestError } from '../../errors.ts'
import { getBusiness } from '../../store/businesses.ts'
import {
  findSenderDomain,
  listSenderDomains,
  saveSenderChecks,
  type SenderDomainRow,
} from '../../store/sender-domains.ts'
import { abortOnDisconnect } from '../server/connections.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { answerOnce, ok } from '../server/idempotency.ts'
import { toWire } from '../server/serialize.ts'
import { inOrder, operation, type Routes } from '../server/services.ts'

const tags = ['sender domain']
const ByDomain = Type.Object({
  domain: Type.String({
    maxLength: 254,
    description: 'A domain of `senderDomains`.',
    examples: ['praxis.example'],
  }),
})

/** The domains from which a business may send, with their DNS records. The operator sets them. */
export const senderDomains: Routes = inOrder(() => [
  getSenderDomains,
  getSenderDomain,
  postSenderDomainCheck,
])

const getSenderDomains: Routes = async (app, { config, database }) => {
  const route = mailRouteOf(config)
  app.get(
    '/senderDomain',
    operation(
      'listSenderDomains',
      'List sender domains with their DNS records and the last check',
      {
        config: { operator: true, scope: 'mail:read', function: 'MANAGE_BUSINESS' },
        tags,
        description: 'All for the operator, those of their own business for others.',
        querystring: Type.Object(PageQuery),
        response: { 200: PageOf(SenderDomain, 'SenderDomainPage') },
      },
    ),
    async (request) => {
      const { limit, after } = readPage(request.query, 'senderDomain', ['id', 'text'])
      const db = request.isOperator ? database.operator : request.caller.db
      const rows = await listSenderDomains(db, { after, limit: limit + 1 })
      const page = pageOf(rows, limit, 'senderDomain', (row) => [row.businessId, row.domain])
      return toWire({ ...page, items: page.items.map((row) => shown(row, route)) })
    },
  )
}

const getSenderDomain: Routes = async (app, { config }) => {
  const route = mailRouteOf(config)
  app.get(
    '/senderDomain/:domain',
    operation('getSenderDomain', 'Read a sender domain with its DNS records and the last check', {
      config: { scope: 'mail:read', function: 'MANAGE_BUSINESS', etag: true },
      tags,
      params: ByDomain,
      response: { 200: SenderDomain },
    }),
    async (request) => toWire(shown(await requireDomain(request, request.params.domain), route)),
  )
}

const postSenderDomainCheck: Routes = async (app, { clock, config, queues }) => {
  const route = mailRouteOf(config)
  const resolver = makeResolver(config.dnsServers)
  app.post(
    '/senderDomain/:domain/check',
    operation('checkSenderDomain', 'Check the DNS records of a sender domain now', {
      config: {
        scope: 'mail:write',
        function: 'MANAGE_BUSINESS',
        idempotent: true,
        emptyBody: true,
      },
      tags,
      description: 'Domains are also checked after they are saved, and every night.',
      params: ByDomain,
      response: { 200: SenderDomain },
    }),
    async (request, reply) => {
      const { db, businessId } = request.caller
      const row = await requireDomain(request, request.params.domain)
      const { timeZone } = await getBusiness(db, businessId)
      // Before the transaction: DNS can take seconds.
      const result = await queues.interactive.run(
        { businessId, signal: abortOnDisconnect(reply) },
        () => checkDomain({ ...row, timeZone }, { route, resolver, now: () => clock.now() }),
      )
      return answerOnce(db, request, reply, clock.now(), async (tx) => {
        await saveSenderChecks(tx, row, result)
        return ok(shown({ ...row, ...result }, route))
      })
    },
  )
}

async function requireDomain({ caller }: FastifyRequest, name: string) {
  const domain = parseDomain(name) ?? ''
  const found = await findSenderDomain(caller.db, { businessId: caller.businessId, domain })
  if (!found) {
    throw new RequestError(404, 'There is no such sender domain. GET /senderDomain lists yours.')
  }
  return found
}

function shown(row: SenderDomainRow, route: MailRoute) {
  const { businessId, domain, checks, checkedTime, nextCheckTime, createdDate } = row
  return {
    businessId,
    domain,
    status: statusOf(checks),
    dnsRecords: dnsRecordsOf(row, route),
    checks,
    checkedTime,
    nextCheckTime,
    createdDate,
  }
}
