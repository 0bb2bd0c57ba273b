import { AuditEntry } from '../../contract/audit.ts'
import { PageOf } from '../../contract/page.ts'
import { AuditQuery } from '../../contract/queries.ts'
import { listAudit, type AuditRow } from '../../store/audit.ts'
import { propertiesOf } from '../../store/row-properties.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { toInstant, toWire } from '../server/serialize.ts'
import { operation, type Routes } from '../server/services.ts'

export const audit: Routes = async (app, { database }) => {
  app.get(
    '/audit',
    operation(
      'listAuditEntries',
      'List all changes with their author and the values before and after, newest first',
      {
        config: { scope: 'admin', function: 'VIEW_AUDIT' },
        tags: ['Audit'],
        querystring: AuditQuery,
        response: { 200: PageOf(AuditEntry, 'AuditEntryPage') },
      },
    ),
    async ({ caller, query }) => {
      const { object, id, user, from, to } = query
      const list = JSON.stringify(['audit', object, id, user, from, to])
      const { limit, after } = readPage(query, list)
      const rows = await listAudit(
        database.replicaOr(caller.businessId, caller.db),
        caller.businessId,
        { object, id, user, from: toInstant(from), to: toInstant(to) },
        { after: after?.[0], limit: limit + 1 },
      )
      const { items, nextCursor } = pageOf(rows, limit, list, (row) => [row.auditId])
      return toWire({ items: items.map(describeEntry), nextCursor })
    },
  )
}

const describeEntry = ({ time, user, object, id, change, before, after }: AuditRow) => ({
  time,
  user,
  object,
  id: /^\d{1,15}$/.test(id) ? Number(id) : id,
  change,
  before: before && propertiesOf(before),
  after: propertiesOf(after),
})
