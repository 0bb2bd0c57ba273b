import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntry } from '../../console/api/audit.ts'
import type { Setup } from '../../console/api/setup.ts'
import {
  changedFields,
  clientsOf,
  fieldInWords,
  valueInWords,
} from '../../console/audit/changes.ts'
import { kindInWords, nameOf, type EntryWords } from '../../console/audit/describe.ts'
import { formatIn } from '../../console/components/time.ts'
import { enPages } from '../../console/texts/en-pages.ts'
import { en } from '../../console/texts/en.ts'
import { setTexts, t } from '../../console/texts/translate.ts'

setTexts('en', [en, enPages])

const words: EntryWords = {
  t,
  format: formatIn('Europe/Zurich'),
  automations: [],
  reportNameOf: (reportId) => `Report ${reportId}`,
  setup: {
    locations: [{ locationId: 1, name: 'Zürich' }],
    professionals: [],
    services: [],
    templates: [],
    statuses: [{ objectType: 'CALENDAR', status: 'NO_SHOW', label: 'Missed' }],
  } as unknown as Setup,
}

const changeOf = (object: string, after: AuditEntry['after'], before?: AuditEntry['after']) =>
  ({ object, id: 5, time: 0, user: 'sofia', change: 'CHANGED', before, after }) as AuditEntry

test('an entry is never named by its number', () => {
  const names = [
    changeOf('location', { name: 'Bern' }),
    changeOf('reportSchedule', { name: null, reportId: 103 }),
    changeOf('reportTarget', { name: null, reportId: 104 }),
    changeOf('eventDefinition', { description: null }),
    changeOf('client', { firstName: '', lastName: '' }),
  ].map((entry) => nameOf(entry, words))
  assert.deepEqual(names, ['Bern', 'Report 103', 'Report 104', 'Unnamed automation', undefined])
  assert.equal(kindInWords('client'), 'Clients')
  assert.equal(kindInWords('someNewKind'), 'some new kind')
})

test('fields name clients and what is no longer active in words', () => {
  const entry = changeOf('calendar', { clientId: 7, locationId: 1 }, { clientId: 6, locationId: 9 })
  const fields = changedFields(entry)
  assert.deepEqual(clientsOf(fields), [6, 7])
  const clients = [
    { clientId: 6, name: 'Anna Keller' },
    { clientId: 7, name: undefined },
  ]
  const said = fields.map(({ name, from, to }) =>
    [from, to].map((value) =>
      valueInWords({ object: 'calendar', name, value }, { ...words, clients }),
    ),
  )
  assert.deepEqual(said, [
    ['Anna Keller', 'no longer active'],
    ['no longer active', 'Zürich'],
  ])
})

test('what an automation waits for is said in words, not in names and codes of the API', () => {
  const entry = changeOf('eventDefinition', { newStatus: 'NO_SHOW' }, { newStatus: null })
  const [field] = changedFields(entry)
  assert.equal(fieldInWords(field!.name), 'new status')
  const value = { object: entry.object, name: field!.name, value: field!.to }
  assert.equal(valueInWords(value, words), 'Missed')
  assert.equal(fieldInWords('invitationUUID'), 'invitation')
})
