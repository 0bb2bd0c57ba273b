import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inflateSync } from 'node:zlib'
import PostalMime from 'postal-mime'
import { parseFragment, type DefaultTreeAdapterTypes as Tree } from 'parse5'
import { drawPicture } from '../../src/reports/formats/chart-picture.ts'
import { consoleLink } from '../../src/report-delivery/console-link.ts'
import { MONDAYS, openDelivery } from './open.ts'

for (const [language, head] of [
  ['en', ['Figure', 'Value']],
  ['de', ['Kennzahl', 'Wert']],
  ['fr', ['Chiffre', 'Valeur']],
] as const) {
  test(`the mail has its figures as a table and a picture, in ${language}`, async (t) => {
    const opened = await openDelivery(t)
    const { addPerson, book, businessId, call, clock, listMails, runDue, zurich } = opened
    const anna = await addPerson('anna', 'OWNER')
    for (const day of ['02', '03', '03'])
      await book({ at: `2026-03-${day}T09:00+01:00`, locationId: zurich })
    await book({ at: '2026-02-24T09:00+01:00', locationId: zurich })
    await book({ at: '2026-01-05T09:00+01:00', locationId: zurich })
    const name = '<b>Praxis</b> & "Co"'
    assert.equal((await call('POST', '/business', { businessId, language, name })).status, 200)
    const body = { ...MONDAYS, reportId: 102, locationId: zurich, groupBy: ['staff'] }
    await call('POST', '/reportSchedule', { ...body, userIdList: [anna.userId] })
    clock.advance({ hours: 7 * 24 })
    assert.equal(await runDue(), 1)

    const [mail] = await listMails()
    const { html, text, attachments } = await PostalMime.parse(mail!.message!)
    const table = rowsOf(html!)
    assert.deepEqual(table[0], head)
    // The change is below the name: a phone has no room for three columns.
    const [named, value] = table[1]!
    assert.equal(value, '3')
    const [, label, change] = /^(.+): 3 \((.+)\)$/m.exec(text!)!
    assert.equal(named, `${label}${change}`)
    assert.match(html!, /&lt;b&gt;Praxis&lt;\/b&gt; &amp; /)

    const [picture, file] = attachments
    assert.deepEqual(
      [picture!.mimeType, picture!.disposition, picture!.contentId],
      ['image/png', 'inline', '<chart>'],
    )
    assert.match(html!, /<img src="cid:chart" alt="[^"]{10,}"/)
    assert.equal(file!.disposition, 'attachment')
    const link = `https://bellwether.example/console/reports/102?from=2026-03-02&to=2026-03-08&location=${zurich}&groupBy=staff`
    assert.ok(html!.includes(`href="${link.replaceAll('&', '&amp;')}"`), html!)
    assert.ok(text!.includes(link))
  })
}

test('the link to the console keeps all filters as the page of the report writes them', () => {
  const days = { reportId: 101, startDate: '2026-03-02', endDate: '2026-03-08', locationId: null }
  const linkOf = (filters: object) =>
    new URL(consoleLink('https://b.example/', { ...days, filters: { ...filters }, groupBy: null }))
  const one = linkOf({ professionalIdList: [2], statusList: ['NO_SHOW'], reasonIdList: [3] })
  assert.equal(one.search, '?from=2026-03-02&to=2026-03-08&staff=2&service=3&status=NO_SHOW')
  const report = { ...days, filters: null, groupBy: null, compareWith: 'NONE' } as const
  assert.match(consoleLink('https://b.example/', report), /&compare=NONE$/)
  const more = linkOf({ professionalIdList: [2, 4], tags: { room: ['a & b'] } })
  assert.deepEqual(JSON.parse(more.searchParams.get('more')!), {
    professionalIdList: [2, 4],
    tags: { room: ['a & b'] },
  })
})

test('a chart becomes a PNG whose bars have the heights of its values', () => {
  const picture = drawPicture(
    [
      {
        kind: 'bar',
        name: 'days',
        title: 'Appointments',
        labels: ['1', '2'],
        series: [{ name: 'Kept', values: [2, 1], tone: 'kept' }],
        unit: 'count',
      },
    ],
    'en',
  )!
  const { pixelOf, width, height } = readPng(picture.png)
  assert.deepEqual([width, height], [2 * picture.width, 2 * picture.height])
  const green = [0x3c, 0x77, 0x65]
  const isGreen = (x: number, y: number) => pixelOf(x, y).join() === green.join()
  const barAt = (x: number) =>
    Array.from({ length: height }, (_, y) => isGreen(x, y)).filter((is) => is).length
  const [high, low] = [barAt(width / 4), barAt((3 * width) / 4)]
  assert.ok(Math.abs(high - 2 * low) <= 2, `${high} and ${low}`)
  assert.equal(barAt(2), 0)
})

/** The texts of the cells of the table of figures. */
function rowsOf(html: string) {
  const rows: string[][] = []
  const visit = (node: Tree.Node) => {
    if (!('childNodes' in node)) return
    for (const child of node.childNodes) {
      if (child.nodeName === 'tr') rows.push(cellsOf(child as Tree.Element))
      visit(child)
    }
  }
  visit(parseFragment(/<table role="table"[^]*?<\/table>/.exec(html)![0]))
  return rows
}

const cellsOf = (row: Tree.Element) => row.childNodes.map((cell) => textOf(cell))

const textOf = (node: Tree.Node): string =>
  'value' in node ? node.value : 'childNodes' in node ? node.childNodes.map(textOf).join('') : ''

function readPng(png: Buffer) {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  const at = png.indexOf('IDAT')
  const lines = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)))
  const pixelOf = (x: number, y: number) =>
    [0, 1, 2].map((i) => lines[y * (3 * width + 1) + 1 + 3 * x + i])
  return { width, height, pixelOf }
}
