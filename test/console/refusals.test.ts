import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { sayRefusal } from '../../console/imports/refusals.ts'
import { dePages } from '../../console/texts/de-pages.ts'
import { de } from '../../console/texts/de.ts'
import { enPages } from '../../console/texts/en-pages.ts'
import { en } from '../../console/texts/en.ts'
import { frPages } from '../../console/texts/fr-pages.ts'
import { fr } from '../../console/texts/fr.ts'
import { setTexts } from '../../console/texts/translate.ts'
import { ask, createPerson, signInAs } from '../support/callers.ts'
import { shareWorld } from '../support/world.ts'

const enterWorld = shareWorld()
afterEach(() => setTexts('en', [en, enPages]))

const HEADER = 'Datum;Zeit;Dauer;Kunde;E-Mail;Leistung;Status'
const ROWS = [
  '31.02.2032;9:00;30;Ida Frei;;Massage; ',
  '03.05.2032;9:00;lang;Ida Frei;;Massage; ',
  '03.05.2032;9:00;30;Ida Frei;ida;Massage; ',
  `03.05.2032;9:00;30;${'Ida '.repeat(90)};;Massage; `,
  '03.05.2032;;30;Ida Frei;;Massage; ',
  ';;;Ida Frei;;Massage; ',
  '03.05.2032;9:00;;Ida Frei;;Massage; ',
  '03.05.2032;9:00;30;;;Massage; ',
  '03.05.2032;9:00;30;Ida Frei;;; ',
  '03.05.2032;9:00;30;Anna Müller;;Massage; ',
  '03.05.2032;9:00;30;Ida Frei;;Massage;blau',
  '03.05.2032;9:00;30;Ida Frei;;Massage;;x',
  '03.05.2032;9:00;30;"Ida" Frei;;Massage; ',
]

test('why a row is refused is said in the language of the user', async (t) => {
  const { call, save } = await enterWorld(t)
  await save('/client', { firstName: 'Anna', lastName: 'Müller' })
  await save('/reason', { name: 'Yoga' })
  await save('/professional', { firstName: 'Otto', lastName: 'Berg' })
  const file = [HEADER, ...ROWS].join('\n')
  const { body } = await call('POST', '/import/csv?dryRun=true', Buffer.from(file) as never, {
    'content-type': 'text/csv',
  })
  assert.equal(body.refusedCount, ROWS.length)
  const reasons: string[] = body.refused.map(({ reason }: { reason: string }) => reason)
  for (const [language, texts] of [
    ['de', [de, dePages]],
    ['fr', [fr, frPages]],
  ] as const) {
    setTexts(language, [...texts])
    const said = reasons.map(sayRefusal)
    for (const english of reasons.flatMap((reason) => reason.split('; ')))
      assert.ok(!said.some((text) => text.includes(english)), `${language}: ${english}`)
    assert.match(said[0]!, /31\.02\.2032/)
  }
})

test('that a person may not create a service is said in the language of the user', async (t) => {
  const { app, database, clock, businessId, ids, save } = await enterWorld(t)
  await save('/reason', { name: 'Yoga' })
  await createPerson(database, clock, businessId, {
    username: 'udo',
    role: 'LOCATION_SUPER_USER',
    locationIdList: [ids.locationId],
  })
  const call = ask(app, { cookie: await signInAs(app, 'udo') })
  const file = [HEADER, '03.05.2032;9:00;30;Anna Müller;;Massage;'].join('\n')
  const type = { 'content-type': 'text/csv' }
  const { body } = await call('POST', '/import/csv?dryRun=true', Buffer.from(file) as never, type)
  setTexts('de', [de, dePages])
  const said = '„Massage“ gibt es nicht, und Sie haben nicht das Recht, es anzulegen'
  assert.equal(sayRefusal(body.refused[0].reason), said)
})

test('a file that is not a table is refused in the language of the user', async (t) => {
  const { call } = await enterWorld(t)
  setTexts('de', [de, dePages])
  for (const file of [
    'BEGIN:VCALENDAR\n',
    '<html>',
    '%PDF-1.7',
    'a,b\n1,2',
    '',
    '[{"a":1}]',
    'PK\x03\x04',
  ]) {
    const { status, body } = await call(
      'POST',
      '/import/csv?dryRun=true',
      Buffer.from(file) as never,
      {
        'content-type': 'text/csv',
      },
    )
    assert.equal(status, 422, file)
    assert.notEqual(sayRefusal(body.detail), body.detail, file)
  }
})
