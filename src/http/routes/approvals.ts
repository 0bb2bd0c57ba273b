import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type, type Static } from 'typebox'
import type { Caller } from '../../auth/caller.ts'
import { followDecision, leaveOut } from '../../automation/approvals.ts'
import { Approval, APPROVAL_STATUSES, ReleaseApproval } from '../../contract/approval.ts'
import { PageOf, PageQuery } from '../../contract/page.ts'
import { conflict, invalid, notFound } from '../../errors.ts'
import {
  decideApproval,
  findApproval,
  listApprovals,
  lockApproval,
  type StoredApproval,
} from '../../store/approvals.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce, ok } from '../server/idempotency.ts'
import { toWire } from '../server/serialize.ts'
import { inOrder, operation, type Routes, type Services } from '../server/services.ts'
import { resendMany, sendingOf } from './emails.ts'

const tags = ['approval']
const ById = Type.Object({ approvalId: Type.Integer({ minimum: 1 }) })

const ApprovalQuery = Type.Object({
  ...PageQuery,
  status: Type.Optional(
    Type.Enum([...APPROVAL_STATUSES], {
      title: 'ApprovalStatus',
      description: 'Only approvals of this status. Default: all whose call has ended.',
    }),
  ),
})

/** Imports and bulk calls whose mails wait for a decision: see docs/approvals.md. */
export const approvals: Routes = inOrder(() => [getApprovals, getApproval, postDecision])

const getApprovals: Routes = async (app) => {
  app.get(
    '/approval',
    operation('listApprovals', 'List bulk calls whose mails wait for a decision, or waited', {
      config: { scope: 'mail:read' },
      tags,
      querystring: ApprovalQuery,
      response: { 200: PageOf(Approval, 'ApprovalPage') },
    }),
    async ({ caller, query }) => {
      const list = JSON.stringify(['approval', query.status])
      const { limit, after } = readPage(query, list)
      const found = await listApprovals(caller.db, caller.businessId, {
        status: query.status,
        after: Number(after?.[0] ?? 0),
        limit: limit + 1,
      })
      return toWire(pageOf(found.map(shown), limit, list, ({ approvalId }) => [approvalId]))
    },
  )
}

const getApproval: Routes = async (app) => {
  app.get(
    '/approval/:approvalId',
    operation('getApproval', 'Read an approval', {
      config: { scope: 'mail:read', etag: true },
      tags,
      params: ById,
      response: { 200: Approval },
    }),
    async ({ caller: { db, businessId }, params: { approvalId } }) => {
      const approval = await findApproval(db, { businessId, approvalId })
      if (!approval) throw notFound('approval', approvalId)
      return toWire(shown(approval))
    },
  )
}

const DECISIONS = [
  { word: 'release', status: 'RELEASED', summary: 'Send the mails that wait for an approval' },
  { word: 'cancel', status: 'CANCELLED', summary: 'Cancel the mails that wait for an approval' },
] as const

const postDecision: Routes = async (app, services) => {
  for (const { word, status, summary } of DECISIONS) {
    app.post(
      `/approval/:approvalId/${word}`,
      {
        ...operation(`${word}Approval`, summary, {
          // A decision is about all locations, so a person must see all of them.
          config: {
            scope: 'mail:write',
            function: 'MANAGE_BUSINESS',
            etag: true,
            idempotent: true,
            emptyBody: true,
          },
          tags,
          description: 'Only a WAITING approval can be decided; any other is 409.',
          params: ById,
          ...(word === 'release' && { body: ReleaseApproval }),
          response: { 200: Approval },
        }),
        preValidation: async (request) => {
          request.body ??= {}
        },
      },
      async (request, reply) =>
        answerDecision(services, request, reply, {
          approvalId: request.params.approvalId,
          status,
          except: (request.body as Static<typeof ReleaseApproval>).except ?? [],
        }),
    )
  }
}

type Decision = { approvalId: number; status: 'RELEASED' | 'CANCELLED'; except: number[] }

async function answerDecision(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  { approvalId, status, except }: Decision,
) {
  const { caller } = request
  const { db, businessId, user } = caller
  const now = services.clock.now()
  const key = { businessId, approvalId }
  return answerOnce(db, request, reply, now, async (tx) => {
    // Triggers are locked before the approval; see docs/engine.md, lock order.
    const isKnown = await leaveOut(tx, key, except, { user, now })
    const approval = await lockApproval(tx, key)
    if (!approval) throw notFound('approval', approvalId)
    requireMatch(request, approval)
    if (approval.status !== 'WAITING') {
      throw conflict(
        `Approval ${approvalId} is ${shown(approval).status}. Only a WAITING one can be decided.`,
      )
    }
    const faults = except.flatMap((id, i) =>
      isKnown(id) ? [] : [{ pointer: `/except/${i}`, detail: 'does not wait for this approval' }],
    )
    if (faults.length > 0) throw invalid(faults)
    const decided = await decideApproval(tx, key, status, { user, now })
    if (status === 'RELEASED' && approval.emailIds.length > 0) {
      const chosen = new Set(approval.emailIds).difference(new Set(except))
      await resendMany(tx, seesAll(caller), [...chosen], sendingOf(services, now))
    }
    return {
      ...ok(shown(decided)),
      afterCommit: async () => {
        await followDecision(db, key, now)
        return {}
      },
    }
  })
}

/** The request for the resend checked the visibility. */
const seesAll = ({ businessId }: Caller) => ({ businessId, visibility: null })

/** PASSED is internal: the API shows COUNTING until the triggers are released. */
const shown = ({ emailIds: _emailIds, status, ...approval }: StoredApproval) => ({
  ...approval,
  status: status === 'PASSED' ? 'COUNTING' : status,
})
