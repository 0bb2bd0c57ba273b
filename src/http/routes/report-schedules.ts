import { Type } from 'typebox'
import { PageOf, PageQuery } from '../../contract/page.ts'
import { ReportSchedule, ReportScheduleWrite } from '../../contract/report-delivery.ts'
import type { Db } from '../../database/database.ts'
import { notFound } from '../../errors.ts'
import { saveSchedule } from '../../report-delivery/save-schedule.ts'
import {
  findSchedule,
  listScheduleRuns,
  listSchedules,
  lockSchedule,
  updateSchedule,
  type ScheduleRow,
} from '../../store/report-schedules.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce, created, ok } from '../server/idempotency.ts'
import { toWire } from '../server/serialize.ts'
import { inOrder, operation, type Routes } from '../server/services.ts'

const tags = ['Reports']
const access = { scope: 'admin', function: 'SCHEDULE_REPORTS' } as const
/** `delivery` changes with every run, so it is not part of the ETag. */
const tagged = { etag: true, untagged: 'delivery' } as const
const ById = Type.Object({ reportScheduleId: Type.Integer({ minimum: 1 }) })

const MAX_RUNS = 20
const RUNS_IN_LISTS = 1

export const reportSchedules: Routes = inOrder(() => [
  getSchedules,
  getSchedule,
  postSchedule,
  deleteSchedule,
])

const getSchedules: Routes = async (app) => {
  app.get(
    '/reportSchedule',
    operation('listReportSchedules', 'List the active report schedules', {
      config: access,
      tags,
      description: 'Each with its last run.',
      querystring: Type.Object(PageQuery),
      response: { 200: PageOf(ReportSchedule, 'ReportSchedulePage') },
    }),
    async ({ caller: { db, businessId }, query }) => {
      const { limit, after } = readPage(query, 'reportSchedule')
      const position = { after: Number(after?.[0] ?? 0), limit: limit + 1 }
      const rows = await listSchedules(db, businessId, position)
      const page = pageOf(rows, limit, 'reportSchedule', ({ schedule }) => [
        schedule.reportScheduleId,
      ])
      return toWire({ ...page, items: await answersOf(db, page.items, RUNS_IN_LISTS) })
    },
  )
}

const getSchedule: Routes = async (app) => {
  app.get(
    '/reportSchedule/:reportScheduleId',
    operation('getReportSchedule', 'Read a report schedule with its last runs', {
      config: { ...access, ...tagged },
      tags,
      params: ById,
      response: { 200: ReportSchedule },
    }),
    async ({ caller: { db, businessId }, params: { reportScheduleId } }) => {
      const row = await findSchedule(db, businessId, reportScheduleId)
      if (!row) throw notFound('report schedule', reportScheduleId)
      return toWire(await answerOf(db, row))
    },
  )
}

const postSchedule: Routes = async (app, { clock }) => {
  app.post(
    '/reportSchedule',
    operation('createReportSchedule', 'Create or change a report schedule', {
      config: { ...access, ...tagged, idempotent: true, readsBody: true },
      tags,
      description:
        'The report is mailed to the people of `userIdList`, as each of them may see it. Rights are ' +
        'checked at every run: a person who may no longer see the report gets no mail. The addresses of ' +
        '`addressList` get a link that expires and has the rights of the signed-in person who added them.',
      body: ReportScheduleWrite,
      response: { 200: ReportSchedule, 201: ReportSchedule },
    }),
    (request, reply) => {
      const { db, businessId, user, person } = request.caller
      const now = clock.now()
      const onCurrent = (current: object) => requireMatch(request, current)
      return answerOnce(db, request, reply, now, async (tx) => {
        const saving = { businessId, user, userId: person?.userId ?? null, now, onCurrent }
        const { row, isNew } = await saveSchedule(tx, request.body, saving)
        const answer = await answerOf(tx, row)
        return isNew ? created(answer, `/reportSchedule/${answer.reportScheduleId}`) : ok(answer)
      })
    },
  )
}

const deleteSchedule: Routes = async (app, { clock }) => {
  app.delete(
    '/reportSchedule/:reportScheduleId',
    operation('deleteReportSchedule', 'Deactivate a report schedule', {
      config: { ...access, ...tagged },
      tags,
      description: 'Also revokes the links in its mails.',
      params: ById,
      response: { 200: ReportSchedule },
    }),
    async (request) => {
      const { db, businessId, user } = request.caller
      const { reportScheduleId } = request.params
      const answer = await db.transaction(async (tx) => {
        const row = await lockSchedule(tx, businessId, reportScheduleId)
        if (!row) throw notFound('report schedule', reportScheduleId)
        const { schedule, state } = row
        requireMatch(request, schedule)
        if (!schedule.active) return answerOf(tx, row)
        const by = { user, now: clock.now() }
        const fields = { ...schedule, active: false }
        return answerOf(tx, await updateSchedule(tx, schedule, fields, state, by))
      })
      return toWire(answer)
    },
  )
}

async function answerOf(db: Db, row: ScheduleRow) {
  const [answer] = await answersOf(db, [row], MAX_RUNS)
  return answer!
}

async function answersOf(db: Db, rows: ScheduleRow[], maxRuns: number) {
  const [first] = rows
  if (!first) return []
  const ids = rows.map(({ schedule }) => schedule.reportScheduleId)
  const runs = await listScheduleRuns(db, first.schedule.businessId, ids, maxRuns)
  return rows.map(({ schedule, state }) => {
    const { active, paused, reportScheduleId } = schedule
    const { nextRunTime, attempts, lastError } = state
    const delivery = {
      nextRunTime: active && !paused ? nextRunTime : null,
      attempts,
      lastError,
      runs: runs
        .filter((run) => run.reportScheduleId === reportScheduleId)
        .map(({ reportScheduleId: _schedule, ...run }) => run),
    }
    return Object.assign({}, schedule, { delivery })
  })
}
