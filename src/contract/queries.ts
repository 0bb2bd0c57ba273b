import { Type, type Static } from 'typebox'
import { EMAIL_STATUSES } from './email.ts'
import { TRIGGER_STATUSES } from './event-trigger.ts'
import { OBJECT_TYPES } from './event-type.ts'
import { ExpandNames } from './object-names.ts'
import { ACTIVE_FILTERS } from './objects.ts'
import { ChangesQuery, PageQuery } from './page.ts'
import { Day, MomentFilter, SeveralOf } from './schema.ts'

/** The query parameters of all lists, except those of contract/objects.ts. */

const id = (description: string) => Type.Optional(Type.Integer({ minimum: 1, description }))

export const DefinitionQuery = Type.Object({
  active: Type.Optional(
    Type.Enum(['true', 'all'], {
      title: 'DefinitionFilter',
      default: 'true',
      description: '`all`: also inactive definitions, which are 404 by default.',
    }),
  ),
  expand: Type.Optional(
    Type.Enum(['actions'], {
      title: 'DefinitionExpand',
      description: '`actions` fills `eventActions`.',
    }),
  ),
})
export type DefinitionQuery = Static<typeof DefinitionQuery>

export const ABOUT_ACTIVE =
  '`true`: those that are not deleted; `false`: deleted ones; `all`: both. Default: `true`, with `changedSince` `all`.'

export const ABOUT_MODIFIED_SINCE =
  'Created or changed at or after this time. A change that is being saved is not listed yet, and may have an earlier time when it is: to miss none, use `changedSince`.'

export const BusinessesQuery = Type.Object({
  ...ChangesQuery,
  externalId: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  active: Type.Optional(
    Type.Enum([...ACTIVE_FILTERS], { title: 'ActiveFilter', description: ABOUT_ACTIVE }),
  ),
  modifiedSince: MomentFilter(ABOUT_MODIFIED_SINCE),
})
export type BusinessesQuery = Static<typeof BusinessesQuery>

export const DefinitionsQuery = Type.Object({
  ...ChangesQuery,
  active: Type.Optional(
    Type.Enum([...ACTIVE_FILTERS], {
      title: 'DefinitionsFilter',
      description:
        '`false`: inactive ones; `all`: both. Default: `true`, with `changedSince` `all`. Only `changedSince` lists deleted ones, which have a `deletedDate`.',
    }),
  ),
  eventDefnId: id('This definition only.'),
  expand: Type.Optional(
    Type.String({
      pattern: '^(actions|activity)(,(actions|activity))*$',
      description:
        '`actions` fills `eventActions`; `activity` adds the next and the last firing and the counts of the last 30 days.',
    }),
  ),
})
export type DefinitionsQuery = Static<typeof DefinitionsQuery>

export const TriggerQuery = Type.Object({
  status: Type.Optional(SeveralOf(TRIGGER_STATUSES)),
  from: MomentFilter('Scheduled at or after this time, in ms.'),
  to: MomentFilter('Scheduled before this time, in ms.'),
  eventDefnId: id('Of this definition.'),
  objectType: Type.Optional(
    Type.Enum([...OBJECT_TYPES], {
      title: 'ObjectType',
      description: 'About objects of this type.',
    }),
  ),
  clientId: id('About objects of this client.'),
  locationId: id('About objects at this location.'),
  approvalId: id('Pending triggers that wait for this approval.'),
  text: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Prefixes of words in the name or address of the client.',
    }),
  ),
})
export type TriggerQuery = Static<typeof TriggerQuery>

export const TriggersQuery = Type.Object({
  ...PageQuery,
  ...TriggerQuery.properties,
  order: Type.Optional(
    Type.Enum(['oldest', 'newest'], {
      title: 'ListOrder',
      default: 'oldest',
      description: 'Which triggers come first.',
    }),
  ),
  expand: ExpandNames,
})
export type TriggersQuery = Static<typeof TriggersQuery>

export const TriggersOfObjectQuery = Type.Object({ expand: ExpandNames })
export type TriggersOfObjectQuery = Static<typeof TriggersOfObjectQuery>

export const EmailQuery = Type.Object({
  status: Type.Optional(SeveralOf(EMAIL_STATUSES)),
  emailTemplateId: id('Created from this template.'),
  templateId: Type.Optional(
    Type.Integer({ minimum: 1, deprecated: true, description: 'Use `emailTemplateId`.' }),
  ),
  eventTriggerId: id('Created by this trigger.'),
  approvalId: id('To send again once this approval is released.'),
  clientId: id('To this client.'),
  locationId: id('About objects at this location.'),
  text: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Prefixes of words in the name or address of the client.',
    }),
  ),
  from: MomentFilter('Created at or after this time, in ms.'),
  to: MomentFilter('Created before this time, in ms.'),
})
export type EmailQuery = Static<typeof EmailQuery>

export const EmailsQuery = Type.Object({
  ...PageQuery,
  ...EmailQuery.properties,
  expand: ExpandNames,
})
export type EmailsQuery = Static<typeof EmailsQuery>

/** Lists about one object have larger pages, so that most are read at once. */
export const MAX_EMAILS_ABOUT = 500
export const EmailsAboutQuery = Type.Object({
  ...PageQuery,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_EMAILS_ABOUT,
      default: MAX_EMAILS_ABOUT,
      description: 'Page size.',
    }),
  ),
})
export type EmailsAboutQuery = Static<typeof EmailsAboutQuery>

export const SuppressionsQuery = Type.Object({
  ...PageQuery,
  emailAddress: Type.Optional(Type.String({ maxLength: 254, description: 'This address only.' })),
  text: Type.Optional(
    Type.String({
      maxLength: 254,
      description: 'Addresses that contain this text, in upper or lower case.',
      examples: ['@example.org'],
    }),
  ),
})
export type SuppressionsQuery = Static<typeof SuppressionsQuery>

export const AuditQuery = Type.Object({
  object: Type.Optional(
    Type.String({ maxLength: 100, description: 'Of this kind of object.', examples: ['calendar'] }),
  ),
  id: Type.Optional(Type.String({ maxLength: 300, description: 'Of the object with this id.' })),
  user: Type.Optional(
    Type.String({ maxLength: 300, description: 'Made by this username or `key:<name>`.' }),
  ),
  from: MomentFilter('At or after this time, in ms.'),
  to: MomentFilter('Before this time, in ms.'),
  ...PageQuery,
})
export type AuditQuery = Static<typeof AuditQuery>

export const SearchQuery = Type.Object({
  text: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'The words to look for.',
    examples: ['obrien'],
  }),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 20,
      default: 5,
      description: 'The maximum number of results of each kind.',
    }),
  ),
})
export type SearchQuery = Static<typeof SearchQuery>

export const OverviewQuery = Type.Object({
  day: Type.Optional(Day({ description: 'The first day of `quarterHours`. Default: today.' })),
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 7,
      default: 1,
      description: 'How many days `quarterHours` has.',
    }),
  ),
})
export type OverviewQuery = Static<typeof OverviewQuery>
