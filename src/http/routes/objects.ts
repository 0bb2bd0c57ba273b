import { Type, type Static, type TSchema } from 'typebox'
import { bodyOf, externalName, idOf, orNull, pascalCase } from '../../contract/object-body.ts'
import { OBJECT_KINDS, type Filter, type ObjectKind } from '../../contract/objects.ts'
import { OBJECT_TYPES } from '../../contract/event-type.ts'
import { ExpandedObject, ExpandObject } from '../../contract/object-names.ts'
import { PageOf, PageQuery } from '../../contract/page.ts'
import { SavePlan } from '../../contract/save-plan.ts'
import type { Caller } from '../../auth/caller.ts'
import { findEmptyTokens } from '../../automation/preview.ts'
import { findTemplate } from '../../automation/templates.ts'
import type { Db } from '../../database/database.ts'
import { notFound } from '../../errors.ts'
import { checkHtmlOf } from '../../scheduling/email-templates.ts'
import { planSave } from '../../scheduling/plan-save.ts'
import { saveObject, type Saved } from '../../scheduling/save.ts'
import { SharedSaves } from '../../scheduling/save-together.ts'
import type { Allow } from '../../scheduling/saving.ts'
import { countTriggersOfObjects } from '../../store/event-triggers.ts'
import { readObjectNames } from '../../store/object-names.ts'
import {
  countAppointmentDays,
  findObject,
  listObjects,
  type StoredObject,
} from '../../store/objects.ts'
import { clientGone } from '../server/client-gone.ts'
import { pageOf, readPage, type PositionType } from '../server/cursor.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce, created, hasKey, ok, send } from '../server/idempotency.ts'
import type { Routes } from '../server/services.ts'

/** Spec's own objects aside, every scheduling object has these four routes. */
export const objects: Routes = async (app, services) => {
  const shared = new SharedSaves(() => services.clock.now())
  for (const kind of OBJECT_KINDS) await app.register(routesOf(kind, shared), services)
  await app.register(appointmentDays, services)
}

const appointmentDays: Routes = async (app) => {
  app.get(
    '/calendar/days',
    {
      config: { scope: 'scheduling:read' },
      schema: {
        tags: ['appointment'],
        summary: 'How many active appointments start on each day',
        description:
          'Days are those of the business’s clock; a day without appointments is left out.',
        querystring: Type.Object({
          from: moment('Starting from this moment on.'),
          to: moment('Starting before this moment.'),
          locationId: Type.Optional(Type.Integer({ minimum: 1 })),
        }),
        response: {
          200: Type.Record(Type.String(), Type.Integer(), {
            examples: [{ '2026-11-19': 39, '2026-11-20': 35 }],
          }),
        },
      },
    },
    async ({ caller: { db, businessId, scope }, query }) => {
      const during = {
        from: Temporal.Instant.fromEpochMilliseconds(query.from),
        to: Temporal.Instant.fromEpochMilliseconds(query.to),
        locationId: query.locationId,
      }
      const days = await countAppointmentDays(db, businessId, during, scope)
      return Object.fromEntries(days.map(({ day, count }) => [day, count]))
    },
  )
}

const routesOf =
  (kind: ObjectKind, shared: SharedSaves): Routes =>
  async (app, { clock, queues, settings }) => {
    const answer = answerOf(kind)
    const byId = Type.Object({ [kind.id]: idOf(kind) })
    const expanded = kind.objectType
      ? Type.Object(
          { ...ExpandedObject, ...answer.properties },
          { title: `Listed${pascalCase(kind.title)}`, examples: [exampleOf(kind)] },
        )
      : answer
    const list = PageOf(expanded, `${pascalCase(kind.title)}Page`)
    const query = Type.Object({
      ...PageQuery,
      ...filtersOf(kind),
      ...(kind.objectType ? { expand: ExpandObject } : {}),
    })
    const isMail = kind.kind.startsWith('email')
    const reading = { scope: isMail ? 'mail:read' : 'scheduling:read' } as const
    const writing = {
      scope: isMail ? 'mail:write' : 'scheduling:write',
      function: isMail ? 'EDIT_TEMPLATES' : kind.objectType ? 'EDIT_SCHEDULE' : editSetup(kind),
    } as const
    const tags = [kind.title]
    const isTemplate = kind.kind === 'emailTemplate'
    const saved = isTemplate
      ? Type.Object({ ...answer.properties, warnings: Warnings }, { title: 'SavedEmailTemplate' })
      : answer

    const idType: PositionType = kind.id === 'invitationUUID' ? 'text' : 'id'
    const positionTypes = kind.listedBy ? (['moment', idType] as const) : ([idType] as const)

    app.get(
      kind.path,
      {
        config: reading,
        schema: {
          tags,
          summary: `Active ${kind.titles}, in pages`,
          description: `Ordered by ${kind.listedBy ? `\`${kind.listedBy}\`, then ` : ''}\`${kind.id}\`. A page goes on after the last object of the one before, whatever was saved meanwhile.`,
          querystring: query,
          response: { 200: list },
        },
      },
      async (request) => {
        const { caller } = request
        const {
          limit: asked,
          cursor,
          expand,
          ...filters
        } = request.query as never as Record<string, never>
        const name = JSON.stringify([
          kind.kind,
          ...Object.keys(kind.filters).map((one) => filters[one]),
        ])
        const { limit, after } = readPage(
          { ...(asked ? { limit: asked } : {}), ...(cursor === undefined ? {} : { cursor }) },
          name,
          positionTypes,
        )
        const found = await listObjects(caller.db, caller.businessId, kind, {
          filters: asMoments(kind, filters),
          after,
          limit: limit + 1,
          visibility: caller.scope,
        })
        const page = pageOf(found, limit, name, (object) =>
          (kind.listedBy ? [String(object[kind.listedBy])] : []).concat(object[kind.id] as never),
        )
        return expand
          ? { ...page, items: await expandObjects(caller, kind, page.items, expand) }
          : page
      },
    )

    app.get(
      `${kind.path}/:${kind.id}`,
      {
        config: { ...reading, etag: true },
        schema: {
          tags,
          summary: `One ${kind.title}`,
          description: 'Also one that was deleted: it has `active: false`.',
          params: byId,
          response: { 200: answer },
        },
      },
      async ({ caller, params }) => {
        const id = (params as Record<string, number | string>)[kind.id]!
        const object = await findObject(caller.db, caller.businessId, kind, id, caller.scope)
        if (!object) throw notFound(kind.title, id)
        return object
      },
    )

    app.post(
      kind.path,
      {
        config: { ...writing, etag: true, idempotent: true, ...(isTemplate && WARNED) },
        // The declaration reads the body, so that an import and a POST refuse in the same words.
        validatorCompiler: () => (value) => ({ value }),
        schema: {
          tags,
          summary: `Create or change ${withArticle(kind.title)}`,
          description: aboutSaving(kind),
          body: bodyOf(kind),
          response: { 200: saved, 201: saved },
        },
      },
      async (request, reply) => {
        const { caller, body } = request
        const allow: Allow = (current) => requireMatch(request, current)
        const answerOf = ({ object, isNew }: Saved, more = {}) =>
          isNew
            ? created({ ...object, ...more }, `${kind.path}/${object[kind.id] as number}`)
            : ok({ ...object, ...more })
        const { db, businessId, user, scope: visibility } = caller
        if (!isTemplate && !hasKey(request)) {
          const who = { db, businessId, user, visibility, settings }
          const saved = await shared.save({ ...who, kind, body, allow })
          return send(reply, answerOf(saved))
        }
        const html = await checkHtmlOf(kind, [body], businessId)
        const now = clock.now()
        return answerOnce(db, request, reply, now, async (tx) => {
          const saving = { businessId, user, now, settings, visibility, html }
          const { object, before } = await saveObject(tx, kind, body, saving, allow)
          const stored = (await findObject(tx, businessId, kind, object[kind.id] as number))!
          const warnings = isTemplate ? { warnings: await warningsOf(tx, caller, object) } : {}
          return answerOf({ object: stored, isNew: !before }, warnings)
        })
      },
    )

    if (kind.objectType) {
      app.post(
        `${kind.path}/plan`,
        {
          config: reading,
          validatorCompiler: () => (value) => ({ value }),
          schema: {
            tags,
            summary: `What saving a ${kind.title} would schedule, move, cancel and send; nothing is saved`,
            description: `The body is that of \`POST ${kind.path}\`; \`{ "${kind.id}", "active": false }\` is a deletion. The save runs in a transaction that is rolled back, so the answer is what the real save would do now.`,
            body: bodyOf(kind),
            response: { 200: SavePlan },
          },
        },
        async (request, reply) => {
          const { db, businessId, user, scope: visibility } = request.caller
          const allow: Allow = (current) => requireMatch(request, current)
          const planned = await queues.interactive.run(
            { businessId, signal: clientGone(reply) },
            () => {
              const saving = { businessId, user, now: clock.now(), settings, visibility }
              return planSave(db, kind, request.body, saving, allow)
            },
          )
          return planned as unknown as Static<typeof SavePlan>
        },
      )
    }

    app.delete(
      `${kind.path}/:${kind.id}`,
      {
        config: { ...writing, etag: true },
        schema: {
          tags,
          summary: `Delete ${withArticle(kind.title)}`,
          description: kind.objectType
            ? 'Sets `active` to false and cancels its pending reminders; fires nothing. A POST with `active: true` brings it back.'
            : 'Sets `active` to false. A POST with `active: true` brings it back.',
          params: byId,
          response: { 200: answer },
        },
      },
      async (request) => {
        const { caller, params } = request
        const id = (params as Record<string, number | string>)[kind.id]!
        const saving = {
          businessId: caller.businessId,
          user: caller.user,
          now: clock.now(),
          settings,
          visibility: caller.scope,
        }
        return caller.db.transaction(async (tx) => {
          const body = { [kind.id]: id, active: false }
          await saveObject(tx, kind, body, saving, (current) => requireMatch(request, current))
          return (await findObject(tx, caller.businessId, kind, id))!
        })
      },
    )
  }

/** A page of objects with what `expand` asks for. */
async function expandObjects(
  { db, businessId }: Caller,
  { id, objectType }: ObjectKind,
  objects: StoredObject[],
  expand: string,
) {
  const wants = (name: string) => expand.split(',').includes(name) && objects.length > 0
  const ids = objects.map((object) => object[id] as number | string)
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
  return objects.map((object, place) => {
    const names = namesOf?.(references[place]!)
    const own = countsOf?.get(ids[place]!) ?? []
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

const withArticle = (title: string) => `${/^[aeiou]/i.test(title) ? 'an' : 'a'} ${title}`

/** What is told beside a saved template is no part of it. */
const WARNED = { untagged: 'warnings' }

const Warnings = Type.Array(
  Type.Object({
    token: Type.String({ examples: ['%CLIENT_PHONE%'] }),
    objects: Type.Integer({ description: 'how many recent objects leave it empty' }),
    of: Type.Integer({ description: 'how many were looked at' }),
    example: Type.Object({
      objectType: Type.Enum([...OBJECT_TYPES]),
      objectId: Type.Union([Type.Integer(), Type.String()]),
    }),
  }),
  { description: 'Tokens that recent real objects would leave empty.' },
)

async function warningsOf(tx: Db, { businessId }: Caller, { emailTemplateId }: StoredObject) {
  const id = emailTemplateId as number
  const template = await findTemplate(tx, { businessId, emailTemplateId: id })
  return findEmptyTokens(tx, template!)
}

/** Clients come with the schedule; places, staff and services are the business's own setup. */
const editSetup = (kind: ObjectKind) =>
  kind.kind === 'client' ? ('EDIT_SCHEDULE' as const) : ('EDIT_SETUP' as const)

const Moment = Type.Integer({ description: 'Milliseconds since 1970-01-01 00:00 UTC.' })

/** What happens beside the saving itself. */
function aboutSaving({ objectType, id, references }: ObjectKind) {
  const parts = [
    `Creates one, or changes the one whose \`${id}\` or \`externalId\` is given: what is absent stays as it is, \`null\` clears.`,
  ]
  if (objectType) {
    parts.push(
      'Writes the triggers of every definition that asks for this change, and lets pending reminders follow, in the same transaction.',
    )
  }
  const [first] = references
  if (first) {
    parts.push(
      `What is referred to may be named by its own id elsewhere: \`${externalName(first.property)}\` in the place of \`${first.property}\`.`,
    )
  }
  return parts.join(' ')
}

const EXAMPLE_TIME = 1_789_000_000_000

const exampleOf = (kind: ObjectKind) => ({
  [kind.id]: kind.id === 'invitationUUID' ? '0123456789abcdef0123456789abcdef' : 1,
  businessId: 1,
  ...kind.initially,
  ...kind.example,
  externalId: 'A-4711',
  active: true,
  version: 1,
  createdDate: EXAMPLE_TIME,
  createdUser: 'key:front desk',
  modifiedDate: EXAMPLE_TIME,
  modifiedUser: 'key:front desk',
})

function answerOf(kind: ObjectKind) {
  const own = Object.entries(kind.fields).map(([property, field]) => [
    property,
    field.required || field.initially !== null ? field.schema : orNull(field.schema),
  ])
  const beside =
    kind.kind === 'emailTemplate'
      ? { emailCategory: orNull(Type.Object({}, { additionalProperties: true })) }
      : {}
  const category = kind.kind === 'emailTemplate' ? { emailCategory: CATEGORY_EXAMPLE } : {}
  return Type.Object(
    {
      [kind.id]: idOf(kind),
      businessId: Type.Integer(),
      ...Object.fromEntries(own),
      ...beside,
      externalId: orNull(Type.String({ description: 'Its id in another system.' })),
      active: Type.Boolean({ description: 'False once it was deleted.' }),
      version: Type.Integer({ description: 'Counts its changes.' }),
      createdDate: Moment,
      createdUser: Type.String(),
      modifiedDate: Moment,
      modifiedUser: Type.String(),
    },
    { title: pascalCase(kind.title), examples: [{ ...exampleOf(kind), ...category }] },
  )
}

const CATEGORY_EXAMPLE = {
  emailCategoryId: 1,
  name: 'Appointments',
  code: 'APPT',
  transactional: true,
}

const moment = (description: string) =>
  Type.Integer({
    minimum: Date.UTC(1900, 0),
    maximum: Date.UTC(2200, 0),
    description: `${description} Milliseconds since 1970-01-01 00:00 UTC.`,
  })

function filtersOf(kind: ObjectKind) {
  const schemaOf = ({ field, match }: Filter): TSchema => {
    if (match === 'words')
      return Type.String({
        maxLength: 200,
        description: 'Words that begin a word of the name or address.',
      })
    if (match === 'contains') return Type.Integer({ minimum: 1 })
    if (match === 'from') return moment(`\`${field}\` not before this moment.`)
    if (match === 'before') return moment(`\`${field}\` before this moment.`)
    return kind.fields[field]?.schema ?? Type.String({ minLength: 1, maxLength: 200 })
  }
  return Object.fromEntries(
    Object.entries(kind.filters).map(([name, filter]) => [name, Type.Optional(schemaOf(filter))]),
  )
}

function asMoments(kind: ObjectKind, filters: Record<string, unknown>) {
  return Object.fromEntries(
    Object.entries(filters)
      .filter(([name]) => name in kind.filters)
      .map(([name, value]) => {
        const { field, match } = kind.filters[name]!
        const isMoment = match === 'from' || kind.fields[field]?.instant
        const moment = isMoment && typeof value === 'number'
        return [name, moment ? Temporal.Instant.fromEpochMilliseconds(value) : value]
      }),
  )
}
