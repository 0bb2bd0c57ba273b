import { Type, type Static } from 'typebox'
import { Named, about, Moment, OrNull } from './schema.ts'

/** The kinds of objects that a search finds. */
export const FOUND_KINDS = [
  'client',
  'calendar',
  'eventTrigger',
  'eventDefinition',
  'emailTemplate',
] as const

export const Found = Named('SearchResult', {
  kind: about(Type.Enum([...FOUND_KINDS], { title: 'SearchResultKind' }), 'The kind of object.'),
  id: Type.Integer({
    description:
      'The `clientId`, `calendarId`, `eventTriggerId`, `eventDefnId` or `emailTemplateId`.',
  }),
  title: Type.String({
    examples: ['Anna Müller'],
    description: 'The name to show; of a trigger the subject of its newest mail.',
  }),
  detail: OrNull(
    Type.String({
      examples: ['anna@example.com'],
      description:
        'A client’s address, an appointment’s location, the client of a trigger, an automation’s templates, a template’s subject.',
    }),
  ),
  time: OrNull({
    ...Moment,
    description:
      'The start of an appointment; for a client the start of the next appointment that the caller may see; for a trigger when its newest mail was created.',
  }),
})
export type Found = Static<typeof Found>
