import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import type { Setup } from '../../console/api/setup.ts'
import { withOwnWords } from '../../console/api/status-labels.ts'
import {
  sentenceOf,
  sentenceText,
  type DescribedDefinition,
  type DescribedMail,
} from '../../console/automations/sentence.ts'
import { faultsIn } from '../../console/components/faults.ts'
import { formatIn, placeOf } from '../../console/components/time.ts'
import { dePages } from '../../console/texts/de-pages.ts'
import { de } from '../../console/texts/de.ts'
import { enPages } from '../../console/texts/en-pages.ts'
import { en } from '../../console/texts/en.ts'
import { frPages } from '../../console/texts/fr-pages.ts'
import { fr } from '../../console/texts/fr.ts'
import { fillText, setTexts, t, type Language } from '../../console/texts/translate.ts'
import { ProblemError } from '../../src/client/client.ts'
import { BUSINESS_BODY } from '../../src/contract/business.ts'
import { CHECK_CODES } from '../../src/contract/check.ts'
import { findFaults } from '../../src/contract/find-faults.ts'
import deCities from '../../src/texts/cities/de.json' with { type: 'json' }
import enCities from '../../src/texts/cities/en.json' with { type: 'json' }
import frCities from '../../src/texts/cities/fr.json' with { type: 'json' }
import { REASON_TEXTS } from '../../src/texts/texts.ts'

const TEXTS = {
  en: [en, enPages, { cities: enCities }],
  de: [de, dePages, { cities: deCities }],
  fr: [fr, frPages, { cities: frCities }],
}
const speak = (language: Language) => setTexts(language, TEXTS[language])
afterEach(() => speak('en'))

test('everything that a check can find has words, and the words need no term of the API', () => {
  const { codes, bare } = enPages.why
  assert.deepEqual(Object.keys(codes).toSorted(), CHECK_CODES.toSorted())
  const words = [
    ...Object.values(codes),
    ...Object.values(bare),
    ...Object.values(REASON_TEXTS.en!),
  ]
  assert.deepEqual(
    words.filter((text) => /definition|object|fired|trigger|#|[A-Z]{3}/.test(text)),
    [],
  )
})

test('the two text files have no section of the same name', () => {
  assert.deepEqual(
    Object.keys(en).filter((name) => name in enPages),
    [],
  )
})

test('the time of an answer is written with the comma of the language', () => {
  const said = (language: Language) => {
    speak(language)
    return t('today.databaseAnswers', { ms: 8.5 })
  }
  assert.deepEqual(
    [said('en'), said('de'), said('fr')],
    ['answers in 8.5 ms', 'antwortet in 8,5 ms', 'répond en 8,5 ms'],
  )
})

test('a text has the plural form and the numbers of its language', () => {
  const mails = (count: number) => t('settings.mail.works.waiting', { count })
  const said = (language: Language) => {
    speak(language)
    return [0, 1, 1234].map(mails)
  }
  assert.deepEqual(said('en'), [
    'No mail waits.',
    '1 mail is being sent or retried.',
    '1,234 mails are being sent or retried.',
  ])
  assert.deepEqual(said('de'), [
    'Keine E-Mail wartet.',
    '1 E-Mail wird gerade gesendet oder noch einmal versucht.',
    '1.234 E-Mails werden gerade gesendet oder noch einmal versucht.',
  ])
  assert.equal(said('fr')[1], '1 e-mail est en cours d’envoi ou de nouvel essai.')
  // French has a form of its own for millions; the texts use the usual one.
  assert.match(mails(1_000_000), /^1.000.000 e-mails sont en cours/)
})

test('a value is inserted as it is, also if it looks like a placeholder', () => {
  assert.equal(fillText('{{a}} and {{b}}', { a: '{{b}}', b: 'two' }), '{{b}} and two')
})

test('days are written in the chosen language', () => {
  const at = Date.parse('2026-11-19T13:00:00Z')
  const now = Date.parse('2026-11-18T13:00:00Z')
  const said = (language: Language) => {
    speak(language)
    const format = formatIn('Europe/Zurich')
    return [format.moment(at, now), format.longDay(at), format.headingDay(at, now)]
  }
  assert.deepEqual(said('en'), [
    'tomorrow 14:00',
    'Thursday, 19 November',
    'Tomorrow, Thursday 19 November',
  ])
  assert.deepEqual(said('de'), [
    'morgen 14:00',
    'Donnerstag, 19. November',
    'Morgen, Donnerstag, 19. November',
  ])
  assert.deepEqual(said('fr'), ['demain 14:00', 'Jeudi 19 novembre', 'Demain, jeudi 19 novembre'])
})

test('a clock is named after its city, as the chosen language writes it', () => {
  const zones = ['Europe/Zurich', 'Europe/Vienna', 'America/New_York', 'America/Sao_Paulo', 'UTC']
  const said = (language: Language) => {
    speak(language)
    return zones.map(placeOf)
  }
  assert.deepEqual(said('en'), ['Zürich', 'Vienna', 'New York', 'São Paulo', 'UTC'])
  assert.deepEqual(said('de'), ['Zürich', 'Wien', 'New York', 'São Paulo', 'UTC'])
  assert.deepEqual(said('fr'), ['Zurich', 'Vienne', 'New York', 'São Paulo', 'UTC'])
})

const setup = {
  locations: [
    { locationId: 1, name: 'Zürich' },
    { locationId: 2, name: 'Bern' },
  ],
  professionals: [{ professionalId: 5, firstName: 'Anna', lastName: 'Keller' }],
  services: [{ reasonId: 7, name: 'Massage' }],
  statuses: [
    { objectType: 'CALENDAR', status: 'CANCELLED', label: 'Abgesagt' },
    { objectType: 'CALENDAR', status: 'OPEN', label: 'Offen' },
  ],
  templates: [{ emailTemplateId: 9, templateName: 'Reminder' }],
} as unknown as Setup

const definition = (changes: object): DescribedDefinition => ({
  eventType: {
    eventTypeId: 3,
    eventType: 'APPT_REMINDER',
    objectType: 'CALENDAR',
    eventCategory: 'REMINDER',
  },
  triggerMonths: 0,
  triggerHours: -48,
  triggerMinutes: 0,
  triggerAnchor: 'START',
  oldStatus: null,
  newStatus: null,
  locationIdList: [],
  professionalIdList: [],
  reasonIdList: [],
  filterTagMapJson: null,
  ...changes,
})

const changed = {
  eventType: {
    eventTypeId: 2,
    eventType: 'APPT_CHANGED',
    objectType: 'CALENDAR',
    eventCategory: 'EVENT',
  },
  triggerHours: 0,
}
const toClient: DescribedMail = { emailTemplateId: 9, recipient: { value: 'client' } }
const toStaff: DescribedMail = { emailTemplateId: 9, recipient: { value: 'staff' } }

const SENTENCES: [
  what: string,
  DescribedDefinition,
  DescribedMail[],
  Record<Language, string>,
  { isEditor?: boolean }?,
][] = [
  [
    'a reminder',
    definition({ locationIdList: [1, 2], professionalIdList: [5], reasonIdList: [7] }),
    [toClient],
    {
      en: '2 days before an appointment starts at Zürich or Bern with Anna Keller for Massage, mail the client Reminder.',
      de: '2 Tage vor dem Beginn eines Termins am Standort Zürich oder Bern bei Anna Keller für Massage, Reminder an den Kunden senden.',
      fr: '2 jours avant le début d’un rendez-vous sur le site Zürich ou Bern avec Anna Keller pour Massage, envoyer Reminder au client.',
    },
  ],
  [
    'a change of the status, with two mails',
    definition({ ...changed, newStatus: 'CANCELLED', oldStatus: 'OPEN' }),
    [toClient, toStaff],
    {
      en: 'as soon as an appointment becomes Abgesagt from Offen, mail the client Reminder and the staff Reminder.',
      de: 'sofort bei dem Wechsel eines Termins von Offen auf Abgesagt, Reminder an den Kunden und Reminder an die Mitarbeitenden senden.',
      fr: 'dès le passage d’un rendez-vous de Offen à Abgesagt, envoyer Reminder au client et Reminder au personnel.',
    },
  ],
  [
    'a change of time or location, for tagged clients',
    definition({
      ...changed,
      changes: ['TIME', 'LOCATION'],
      filterTagMapJson: '{"level":["gold"]}',
    }),
    [],
    {
      en: 'as soon as an appointment changes its time or location of a client tagged level gold, send nothing yet.',
      de: 'sofort bei der Änderung von Zeit oder Standort eines Termins von Kunden mit dem Merkmal level gold, noch nichts senden.',
      fr: 'dès un changement concernant l’heure ou le site d’un rendez-vous d’un client avec l’étiquette level gold, ne rien envoyer pour l’instant.',
    },
  ],
  [
    'a new automation in the editor',
    definition({}),
    [{ emailTemplateId: null, recipient: { value: 'client' } }],
    {
      en: '2 days before an appointment starts, at any location, with any staff, for any service, mail the client choose a mail.',
      de: '2 Tage vor dem Beginn eines Termins, an jedem Standort, bei allen Mitarbeitenden, für jede Leistung, E-Mail wählen an den Kunden senden.',
      fr: '2 jours avant le début d’un rendez-vous, sur tous les sites, avec tout le personnel, pour toute prestation, envoyer choisir un e-mail au client.',
    },
    { isEditor: true },
  ],
]

for (const [what, automation, mails, expected, options] of SENTENCES) {
  test(`the sentence of ${what} has the word order of each language`, () => {
    for (const language of ['en', 'de', 'fr'] as const) {
      speak(language)
      assert.equal(
        sentenceText(sentenceOf(automation, mails, setup, options)),
        expected[language],
        language,
      )
    }
  })
}

test('a status has the word of the language until the business gives it a label of its own', () => {
  const labelIn = (language: Language, status: string, label: string) => {
    speak(language)
    return withOwnWords({ status, label }).label
  }
  assert.equal(labelIn('de', 'NO_SHOW', 'No-show'), 'Nicht erschienen')
  assert.equal(labelIn('fr', 'CHECKED_IN', 'Checked in'), 'Arrivé')
  assert.equal(labelIn('en', 'OPEN', 'Open'), 'Open')
  assert.equal(labelIn('de', 'OPEN', 'Booked'), 'Booked')
  assert.equal(labelIn('de', 'ON_THE_WAITING_LIST', 'On the waiting list'), 'On the waiting list')
})

test('what is wrong with a field is said in the language of the user', () => {
  const errors = findFaults(BUSINESS_BODY.schema, {
    name: '',
    emailAddress: 'desk',
    website: 'example.com',
    accentColor: 'green',
    cancelUntilHours: -1,
    phone: 'x'.repeat(300),
  })
  const problem = { title: '', status: 422, detail: '', errors }
  const said = (language: Language) => {
    speak(language)
    return faultsIn(new ProblemError(422, problem))
  }
  assert.equal(errors.length, 6)
  assert.equal(
    said('de').find(({ pointer }) => pointer === '/name')?.detail,
    'darf nicht leer sein',
  )
  const english = said('en').map(({ detail }) => detail)
  for (const language of ['de', 'fr'] as const) {
    const unsaid = said(language).filter(({ detail }) => english.includes(detail))
    assert.deepEqual(unsaid, [], language)
  }
})
