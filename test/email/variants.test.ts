import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseVariant, type Variant } from '../../src/email/variants.ts'

const variant = (emailTemplateId: number, changes: Partial<Variant> = {}): Variant => ({
  emailTemplateId,
  language: null,
  reasonIdList: [],
  level: null,
  location: null,
  sortOrder: null,
  ...changes,
})

const own = variant(1)
const occasion = { language: 'fr-CA', reasonId: 7, locationId: 3 }

const cases: { name: string; variants: Variant[]; expected: number; language?: string | null }[] = [
  { name: 'the action’s own if there is no other', variants: [], expected: 1 },
  {
    name: 'the reader’s language',
    variants: [variant(2, { language: 'fr' }), variant(3, { language: 'de' })],
    expected: 2,
  },
  {
    name: 'the exact language tag before the language',
    variants: [variant(2, { language: 'fr' }), variant(3, { language: 'fr_CA' })],
    expected: 3,
  },
  {
    name: 'the language and the service before the exact language tag',
    variants: [
      variant(2, { language: 'fr-CA' }),
      variant(3, { language: 'fr', reasonIdList: [7] }),
      variant(4, { language: 'de', reasonIdList: [7] }),
    ],
    expected: 3,
  },
  {
    name: 'the service',
    variants: [variant(2, { reasonIdList: [7] }), variant(3, { reasonIdList: [8] })],
    expected: 2,
  },
  {
    name: 'a language before a service',
    variants: [variant(2, { reasonIdList: [7] }), variant(3, { language: 'fr' })],
    expected: 3,
  },
  {
    name: 'language and service before language only',
    variants: [variant(2, { language: 'fr' }), variant(3, { language: 'fr', reasonIdList: [7] })],
    expected: 3,
  },
  {
    name: 'the shorter list of services',
    variants: [variant(2, { reasonIdList: [6, 7] }), variant(3, { reasonIdList: [7] })],
    expected: 3,
  },
  {
    name: 'the location',
    variants: [
      variant(2, { level: 'LOCATION', location: 4 }),
      variant(3, { level: 'LOCATION', location: 3 }),
    ],
    expected: 3,
  },
  {
    name: 'equal matches by sortOrder',
    variants: [
      variant(2, { language: 'fr', sortOrder: 9 }),
      variant(3, { language: 'fr', sortOrder: 1 }),
    ],
    expected: 3,
  },
  {
    name: 'no variant by language if the language is unknown',
    variants: [variant(2, { language: 'fr' })],
    expected: 1,
    language: null,
  },
]

for (const { name, variants, expected, language = occasion.language } of cases)
  test(`the most specific matching template is used: ${name}`, () => {
    const chosen = chooseVariant([own, ...variants], { ...occasion, language })
    assert.equal(chosen.emailTemplateId, expected)
  })

test('the action’s own template is used if no variant matches', () => {
  const chosen = chooseVariant(
    [variant(1, { language: 'de' }), variant(2, { language: 'it' })],
    occasion,
  )
  assert.equal(chosen.emailTemplateId, 1)
})
