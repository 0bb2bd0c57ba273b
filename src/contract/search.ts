import { Type, type Static } from 'typebox'
import { Moment, OrNull } from './schema.ts'

/** What a search finds. */
export const FOUND_KINDS = ['client', 'calendar', 'eventDefinition', 'emailTemplate'] as const

export const Found = Type.Object(
  {
    kind: Type.Enum([...FOUND_KINDS], { title: 'SearchResultKind' }),
    id: Type.Integer({ description: 'Its `clientId`, `calendarId`, `eventDefnId`, …' }),
    title: Type.String({ description: 'What people call it.' }),
    detail: OrNull(
      Type.String({
        description:
          'A client’s address, an appointment’s location, an automation’s templates, a template’s subject.',
      }),
    ),
    time: OrNull({
      ...Moment,
      description: 'When an appointment starts; for a client the next one that the caller sees.',
    }),
  },
  { title: 'SearchResult' },
)
export type Found = Static<typeof Found>
