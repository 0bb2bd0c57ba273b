import { Type, type TObject, type TSchema } from 'typebox'
import { TemplateWarnings } from '../../contract/email-template.ts'
import { answerProperties, orNull } from '../../contract/fields.ts'
import { externalName, idOf, pascalCase } from '../../contract/object-body.ts'
import { ExpandedObject } from '../../contract/object-names.ts'
import { Named, MomentQuery, stamps } from '../../contract/schema.ts'
import { ABOUT_ACTIVE, ABOUT_MODIFIED_SINCE } from '../../contract/queries.ts'
import { ACTIVE_FILTERS, type Filter, type ObjectKind } from '../../contract/objects.ts'

/** An object of a list, with the properties that `expand` adds. */
export function listedObject(kind: ObjectKind) {
  const answer = answerOf(kind)
  return kind.objectType
    ? Type.Object(
        {
          ...ExpandedObject,
          ...answer.properties,
          ...(kind.kind === 'calendar' ? { price: Type.Optional(answer.properties.price!) } : {}),
        },
        { title: `Listed${pascalCase(kind.title)}`, examples: [exampleOf(kind)] },
      )
    : answer
}

/** The answer to a POST. */
export function savedObject(kind: ObjectKind) {
  const answer = answerOf(kind)
  return kind.kind === 'emailTemplate'
    ? Named('SavedEmailTemplate', { ...answer.properties, warnings: TemplateWarnings })
    : answer
}

/** The description of a POST. */
export function describeSaving({ objectType, id, fields, references }: ObjectKind) {
  const needed = Object.keys(fields).filter((property) => fields[property]!.required)
  const parts = [
    `Changes the object with this \`${id}\` or \`externalId\`; without them creates one. Absent properties stay unchanged; \`null\` clears one. A deleted object that is named by its \`externalId\` alone is restored, unless the body says \`active: false\`.`,
    `Required to create one: ${needed.map((property) => `\`${property}\``).join(', ')}.`,
  ]
  if (objectType) {
    parts.push(
      'The same transaction writes the triggers of every matching definition and updates pending reminders.',
    )
  }
  const [first] = references
  if (first) {
    parts.push(
      `A reference can use the \`externalId\` of its object: \`${externalName(first.property)}\` instead of \`${first.property}\`.`,
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

export function answerOf(kind: ObjectKind): TObject<Record<string, TSchema>> {
  const isTemplate = kind.kind === 'emailTemplate'
  const category = orNull(
    Type.Object({}, { title: 'EmailCategoryOfTemplate', additionalProperties: true }),
  )
  return Type.Object(
    {
      [kind.id]: idOf(kind),
      businessId: Type.Integer(),
      ...answerProperties(kind.fields),
      ...(isTemplate ? { emailCategory: category } : {}),
      externalId: orNull(Type.String({ description: 'The id of the object in another system.' })),
      active: Type.Boolean({ description: 'False if the object was deleted.' }),
      ...stamps,
    },
    {
      title: pascalCase(kind.title),
      examples: [
        { ...exampleOf(kind), ...(isTemplate ? { emailCategory: CATEGORY_EXAMPLE } : {}) },
      ],
    },
  )
}

const CATEGORY_EXAMPLE = {
  emailCategoryId: 1,
  name: 'Appointments',
  code: 'APPT',
  transactional: true,
}

export const momentQuery = (description: string) =>
  MomentQuery(`${description} Milliseconds since 1970-01-01 00:00 UTC.`)

export function filtersOf(kind: ObjectKind) {
  const schemaOf = ({ field, match }: Filter): TSchema => {
    if (match === 'words')
      return Type.String({
        maxLength: 200,
        description: 'Prefixes of words in the name or address.',
      })
    if (match === 'among')
      return Type.String({
        minLength: 1,
        maxLength: 400,
        description: 'One or several, separated by commas.',
      })
    if (match === 'active')
      return Type.Enum([...ACTIVE_FILTERS], {
        title: 'ActiveFilter',
        description: ABOUT_ACTIVE,
      })
    if (match === 'contains') return Type.Integer({ minimum: 1 })
    if (field === 'modifiedDate') return momentQuery(ABOUT_MODIFIED_SINCE)
    if (match === 'from') return momentQuery(`\`${field}\` at or after this time.`)
    if (match === 'before') return momentQuery(`\`${field}\` before this time.`)
    return kind.fields[field]?.schema ?? Type.String({ minLength: 1, maxLength: 200 })
  }
  return Object.fromEntries(
    Object.entries(kind.filters).map(([name, filter]) => [name, Type.Optional(schemaOf(filter))]),
  )
}
