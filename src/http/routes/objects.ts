import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { ClientLanguage } from '../../contract/client-language.ts'
import { bodyOf, idOf, pascalCase, withArticle } from '../../contract/object-body.ts'
import { OBJECT_KINDS, orderedBy, type ObjectKind } from '../../contract/objects.ts'
import { ExpandObject } from '../../contract/object-names.ts'
import { ChangesPageOf, ChangesQuery } from '../../contract/page.ts'
import { SavePlan as SavePlanAnswer } from '../../contract/save-plan.ts'
import type { Caller } from '../../auth/caller.ts'
import { FUNCTIONS_OF_ROLE } from '../../auth/permissions.ts'
import { findTemplateWarnings } from '../../automation/template-warnings.ts'
import type { Mailbox } from '../../contract/addresses.ts'
import { findTemplate } from '../../automation/templates.ts'
import type { Db } from '../../database/database.ts'
import { notFound } from '../../errors.ts'
import { checkHtmlOf, removedFrom } from '../../scheduling/email-templates.ts'
import { hasPlan, planSave, type SavePlan } from '../../scheduling/plan-save.ts'
import { saveObject } from '../../scheduling/save.ts'
import { sharedSaves, type Saved, type SharedSaves } from '../../scheduling/shared-saves.ts'
import type { Allow } from '../../scheduling/saving.ts'
import { countClientLanguages } from '../../store/client-languages.ts'
import { countTriggersOfObjects } from '../../store/event-triggers.ts'
import { readObjectNames } from '../../store/object-names.ts'
import {
  countAppointmentDays,
  findObject,
  idIn,
  listChangedObjects,
  listObjects,
  ofKind,
  type StoredObject,
} from '../../store/objects.ts'
import { abortOnDisconnect } from '../server/connections.ts'
import { readList } from '../server/change-list.ts'
import type { PositionType } from '../server/cursor.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce, created, hasKey, ok, send } from '../server/idempotency.ts'
import { toWire } from '../server/serialize.ts'
import {
  answerOf,
  describeSaving,
  filtersOf,
  listedObject,
  momentQuery,
  savedObject,
} from './object-schemas.ts'
import { untilTimeLimit } from './forecasts.ts'
import { operation, type Routes, type Services } from '../server/services.ts'
import { about, Counts } from '../../contract/schema.ts'

/** The routes of all scheduling objects: see contract/objects.ts. */
export const objects: Routes = async (app, services) => {
  const shared = sharedSaves(() => services.clock.now())
  for (const kind of OBJECT_KINDS) {
    for (const route of routesOf(kind, shared)) await route(app, services)
  }
  await appointmentDays(app, services)
  await clientLanguages(app, services)
}

const appointmentDays: Routes = async (app) => {
  app.get(
    '/calendar/days',
    operation('countAppointmentsByDay', 'Count the active appointments of each day', {
      config: { scope: 'scheduling:read' },
      tags: ['appointment'],
      description:
        'Days are in the time zone of the business. Days without appointments are left out.',
      querystring: Type.Object({
        from: momentQuery('Starting at or after this time.'),
        to: momentQuery('Starting before this time.'),
        locationId: Type.Optional(Type.Integer({ minimum: 1 })),
        professionalId: Type.Optional(Type.Integer({ minimum: 1 })),
      }),
      response: {
        200: about(Counts, 'How many appointments start on each day.', {
          '2026-11-19': 39,
          '2026-11-20': 35,
        }),
      },
    }),
    async ({ caller: { db, businessId, visibility }, query }) => {
      const filters = {
        from: Temporal.Instant.fromEpochMilliseconds(query.from),
        to: Temporal.Instant.fromEpochMilliseconds(query.to),
        locationId: query.locationId,
        professionalId: query.professionalId,
      }
      const days = await countAppointmentDays(db, businessId, filters, visibility)
      return Object.fromEntries(days.map(({ day, count }) => [day, count]))
    },
  )
}

const clientLanguages: Routes = async (app) => {
  app.get(
    '/client/languages',
    operation('countClientsByLanguage', 'Count the active clients of each language', {
      config: { scope: 'scheduling:read' },
      tags: ['client'],
      description: 'The most frequent language first.',
      response: { 200: Type.Array(ClientLanguage) },
    }),
    async ({ caller: { db, businessId } }) => countClientLanguages(db, businessId),
  )
}

/** The routes that every kind of object has; for those that triggers depend on also `/plan`. */
const routesOf = (kind: ObjectKind, shared: SharedSaves) => [
  getObjects(kind),
  getObject(kind),
  postObject(kind, shared),
  ...(hasPlan(kind) ? [postObjectPlan(kind)] : []),
  deleteObject(kind),
  deleteObjectByExternalId(kind),
]

const getObjects =
  (kind: ObjectKind): Routes =>
  async (app) => {
    app.get(
      kind.path,
      operation(`list${pascalCase(kind.titles)}`, `List ${kind.titles}`, {
        config: readAccess(kind),
        tags: [kind.title],
        description: `Ordered by ${kind.listedBy ? `\`${kind.listedBy}\`, then ` : ''}\`${kind.id}\`${kind.listedBy ? `, with \`active=false\` or \`all\` by \`${kind.id}\` alone` : ''}; with \`modifiedSince\` by \`modifiedDate\`, with \`changedSince\` in the order of the changes. A page starts after the last object of the previous page, even if objects were saved meanwhile.`,
        querystring: Type.Object({
          ...ChangesQuery,
          ...filtersOf(kind),
          ...(kind.objectType ? { expand: ExpandObject } : {}),
        }),
        response: { 200: ChangesPageOf(listedObject(kind), `${pascalCase(kind.title)}Page`) },
      }),
      async (request) => {
        const { caller } = request
        const { db, businessId, visibility } = caller
        const query = request.query as ListQuery
        const given = Object.keys(kind.filters).map((name) => [name, query[name]])
        const filters = asMoments(kind, Object.fromEntries(given))
        const first = orderedBy(kind, filters)
        const page = await readList(db, query, {
          kind: kind.kind,
          name: JSON.stringify([kind.kind, ...given.map(([, value]) => value)]),
          seen: caller,
          types: positionTypesOf(kind, first),
          positionOf: (object: StoredObject) => [
            ...(first ? [String(object[first])] : []),
            idIn(kind, object),
          ],
          read: ({ after, changes, limit }) =>
            changes
              ? listChangedObjects(db, businessId, kind, { filters, changes, limit, visibility })
              : listObjects(db, businessId, kind, { filters, after, limit, visibility }),
        })
        const { expand } = query
        const shown = hidesPrices(caller, kind)
          ? {
              ...page,
              items: page.items.map(({ price: _price, ...object }) => object as StoredObject),
            }
          : page
        return expand
          ? { ...shown, items: await expandObjects(caller, kind, shown.items, expand) }
          : shown
      },
    )
  }

/** Prices of many appointments are the revenue. A key of the business is limited by its scopes alone. */
const hidesPrices = ({ account }: Caller, { kind }: ObjectKind) =>
  kind === 'calendar' &&
  account !== null &&
  !FUNCTIONS_OF_ROLE[account.role].includes('VIEW_REVENUE_REPORTS')

const getObject =
  (kind: ObjectKind): Routes =>
  async (app) => {
    app.get(
      `${kind.path}/:${kind.id}`,
      operation(`get${pascalCase(kind.title)}`, `Read ${withArticle(kind.title)}`, {
        config: { ...readAccess(kind), etag: true },
        tags: [kind.title],
        description: 'Also answers a deleted one, with `active: false`.',
        params: byId(kind),
        response: { 200: answerOf(kind) },
      }),
      async ({ caller, params }) => {
        const id = (params as Record<string, number | string>)[kind.id]!
        const object = await findObject(caller.db, caller.businessId, kind, id, caller.visibility)
        if (!object) throw notFound(kind.title, id)
        return object
      },
    )
  }

const postObject =
  (kind: ObjectKind, shared: SharedSaves): Routes =>
  async (app, { clock, config, settings }) => {
    const isTemplate = kind.kind === 'emailTemplate'
    const saved = savedObject(kind)
    app.post(
      kind.path,
      operation(`create${pascalCase(kind.title)}`, `Create or change ${withArticle(kind.title)}`, {
        config: {
          ...writeAccess(kind),
          etag: true,
          idempotent: true,
          ...(isTemplate && WARNED),
          readsBody: true,
        },
        tags: [kind.title],
        description: describeSaving(kind),
        body: bodyOf(kind),
        response: { 200: saved, 201: saved },
      }),
      async (request, reply) => {
        const { caller, body } = request
        const allow: Allow = (current) => requireMatch(request, current)
        const answer = ({ object, isNew }: Saved, more = {}) =>
          isNew
            ? created({ ...object, ...more }, `${kind.path}/${idIn(kind, object)}`)
            : ok({ ...object, ...more })
        const { db, businessId, user, visibility } = caller
        if (!isTemplate && !hasKey(request)) {
          const who = { db, businessId, user, visibility, settings }
          const saved = await shared.run({ ...who, kind, body, allow })
          return send(reply, answer(saved))
        }
        const html = await checkHtmlOf(kind, [body], businessId)
        const now = clock.now()
        return answerOnce(db, request, reply, now, async (tx) => {
          const saving = { businessId, user, now, settings, visibility, html }
          const { object, before } = await saveObject(tx, kind, body, saving, allow)
          const stored = (await findObject(tx, businessId, kind, idIn(kind, object)))!
          const saved = { object: stored, isNew: !before }
          const template = ofKind('emailTemplate', kind, object)
          if (!template) return answer(saved)
          const { emailTemplateId: id } = template
          const warnings = await warningsOf(tx, caller, id, config.mailFrom, removedFrom(html))
          return answer(saved, { warnings })
        })
      },
    )
  }

const postObjectPlan =
  (kind: ObjectKind): Routes =>
  async (app, services) => {
    app.post(
      `${kind.path}/plan`,
      operation(
        `plan${pascalCase(kind.title)}`,
        `Show what saving ${withArticle(kind.title)} would schedule, move, cancel and send`,
        {
          config: { ...readAccess(kind), readsBody: true },
          tags: [kind.title],
          description: `The body is that of \`POST ${kind.path}\`; \`{ "${kind.id}", "active": false }\` means deletion. The service saves in a transaction and rolls it back, so nothing changes.`,
          body: bodyOf(kind),
          response: { 200: SavePlanAnswer },
        },
      ),
      async (request, reply) => {
        const { caller, body } = request
        const { db, businessId, user, visibility } = caller
        const { settings } = services
        const allow: Allow = (current) => requireMatch(request, current)
        const html = await checkHtmlOf(kind, [body], businessId)
        return answerPlan(services, request, reply, (planning) =>
          planSave(db, kind, body, { ...planning, user, settings, visibility, html, allow }),
        )
      },
    )
  }

type Planning = { businessId: number; now: Temporal.Instant; hasTimeLeft: () => boolean }

/** The plan of a save, which holds the locks of the save while it is computed. */
export const answerPlan = async (
  { clock, queues }: Services,
  { caller: { businessId } }: FastifyRequest,
  reply: FastifyReply,
  plan: (planning: Planning) => Promise<SavePlan>,
) => {
  const disconnected = abortOnDisconnect(reply)
  return toWire(
    await queues.interactive.run({ businessId, signal: disconnected }, () =>
      plan({
        businessId,
        now: clock.now(),
        hasTimeLeft: untilTimeLimit(disconnected, MAX_LOCKED_MS),
      }),
    ),
  )
}

const MAX_LOCKED_MS = 3_000

const deleteObject =
  (kind: ObjectKind): Routes =>
  async (app, services) => {
    app.delete(
      `${kind.path}/:${kind.id}`,
      operation(`delete${pascalCase(kind.title)}`, `Delete ${withArticle(kind.title)}`, {
        config: { ...writeAccess(kind), etag: true },
        tags: [kind.title],
        description: aboutDeletion(kind),
        params: byId(kind),
        response: { 200: answerOf(kind) },
      }),
      async (request) => {
        const id = (request.params as Record<string, number | string>)[kind.id]!
        return removeObject(services, request, kind, { [kind.id]: id })
      },
    )
  }

const deleteObjectByExternalId =
  (kind: ObjectKind): Routes =>
  async (app, services) => {
    app.delete(
      kind.path,
      operation(
        `delete${pascalCase(kind.title)}ByExternalId`,
        `Delete ${withArticle(kind.title)} by its externalId`,
        {
          config: { ...writeAccess(kind), etag: true },
          tags: [kind.title],
          description: aboutDeletion(kind),
          querystring: Type.Object({
            externalId: Type.String({
              minLength: 1,
              maxLength: 200,
              description: 'The id of the object in another system.',
            }),
          }),
          response: { 200: answerOf(kind) },
        },
      ),
      async (request) =>
        removeObject(services, request, kind, { externalId: request.query.externalId }),
    )
  }

const aboutDeletion = ({ objectType }: ObjectKind) =>
  objectType
    ? 'Sets `active` to false and cancels the pending reminders; no event fires. A POST with `active: true`, or with its `externalId`, restores it.'
    : 'Sets `active` to false. A POST with `active: true`, or with its `externalId`, restores it.'

/** Deletes the object with this id or `externalId`. */
function removeObject(
  { clock, settings }: Services,
  request: FastifyRequest,
  kind: ObjectKind,
  named: Record<string, number | string>,
) {
  const { db, businessId, user, visibility } = request.caller
  const saving = { businessId, user, now: clock.now(), settings, visibility }
  const allow: Allow = (current) => {
    if (!current) throw notFound(kind.title, Object.values(named)[0]!)
    requireMatch(request, current)
  }
  return db.transaction(async (tx) => {
    const { object } = await saveObject(tx, kind, { ...named, active: false }, saving, allow)
    return (await findObject(tx, businessId, kind, idIn(kind, object)))!
  })
}

const byId = (kind: ObjectKind) => Type.Object({ [kind.id]: idOf(kind) })

type ListQuery = {
  limit?: number
  cursor?: string
  changedSince?: string
  expand?: string
} & Record<string, unknown>

function positionTypesOf(kind: ObjectKind, first: string | undefined) {
  const idType: PositionType = kind.id === 'invitationUUID' ? 'text' : 'id'
  return first ? (['moment', idType] as const) : ([idType] as const)
}

const isOfMail = ({ kind }: ObjectKind) => kind.startsWith('email')

const readAccess = (kind: ObjectKind) =>
  ({ scope: isOfMail(kind) ? 'mail:read' : 'scheduling:read' }) as const

const writeAccess = (kind: ObjectKind) =>
  isOfMail(kind)
    ? ({ scope: 'mail:write', function: 'EDIT_TEMPLATES' } as const)
    : ({ scope: 'scheduling:write', function: functionToEdit(kind) } as const)

/** Adds the properties that `expand` names. */
async function expandObjects(
  { db, businessId }: Caller,
  kind: ObjectKind,
  objects: StoredObject[],
  expand: string,
) {
  const wants = (name: string) => expand.split(',').includes(name) && objects.length > 0
  const { objectType } = kind
  const ids = objects.map((object) => idIn(kind, object))
  const references = ids.map((one) => ({
    objectType: objectType!,
    objectId: typeof one === 'number' ? one : null,
    objectUUId: typeof one === 'string' ? one : null,
  }))
  const [namesOf, counts] = await Promise.all([
    wants('names') ? readObjectNames(db, businessId, references) : undefined,
    wants('messages') ? countTriggersOfObjects(db, businessId, objectType!, ids) : undefined,
  ])
  const countsOf = counts && Map.groupBy(counts, (count) => count.id)
  return objects.map((object, index) => {
    const names = namesOf?.(references[index]!)
    const own = countsOf?.get(ids[index]!) ?? []
    return {
      ...object,
      ...(names && {
        clientName: names.clientName,
        professionalName: names.professionalName,
        reasonName: names.reasonName,
        locationName: names.locationName,
      }),
      ...(counts && {
        messages: Object.fromEntries(own.map(({ status, count }) => [status, count])),
      }),
    }
  })
}

/** `warnings` is not part of the template, and so not of its `ETag`. */
const WARNED = { untagged: 'warnings' }

async function warningsOf(
  tx: Db,
  { businessId }: Caller,
  emailTemplateId: number,
  mailFrom: Mailbox,
  removed: string[],
) {
  const template = await findTemplate(tx, { businessId, emailTemplateId })
  return findTemplateWarnings(tx, template!, mailFrom, removed)
}

/** Clients belong to the schedule; locations, staff and services to the setup of the business. */
const functionToEdit = ({ kind, objectType }: ObjectKind) =>
  objectType || kind === 'client' ? ('EDIT_SCHEDULE' as const) : ('EDIT_SETUP' as const)

function asMoments(kind: ObjectKind, filters: Record<string, unknown>) {
  return Object.fromEntries(
    Object.entries(filters).map(([name, value]) => {
      const { field, match } = kind.filters[name]!
      const isMoment = match === 'from' || kind.fields[field]?.instant
      const moment = isMoment && typeof value === 'number'
      return [name, moment ? Temporal.Instant.fromEpochMilliseconds(value) : value]
    }),
  )
}
