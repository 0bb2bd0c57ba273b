import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { SECURITY_FUNCTIONS } from '../../src/auth/permissions.ts'
import { listCategories, REPORTS } from '../../src/reports/catalog/catalog.ts'

test('every report has a unique number, name and columns, and only known security functions', () => {
  const ids = REPORTS.map(({ reportId }) => reportId)
  const names = REPORTS.map(({ reportFileName }) => reportFileName)
  assert.equal(new Set(ids).size, ids.length)
  assert.equal(new Set(names).size, names.length)
  for (const { columns, reportFileName, securityFunctions, kpis } of REPORTS) {
    assert.match(reportFileName, /^[a-z]+(-[a-z]+)*$/)
    assert.equal(new Set(columns.map(({ name }) => name)).size, columns.length)
    assert.equal(new Set(columns.map(({ label }) => label)).size, columns.length, reportFileName)
    assert.ok(securityFunctions.includes('PRINT_REPORTS'))
    for (const name of securityFunctions)
      assert.ok(SECURITY_FUNCTIONS.includes(name as never), name)
    for (const { definition } of kpis) assert.match(definition, /\.$/)
    for (const { name, type, perCurrency, currencyIn } of columns) {
      const isSplit = perCurrency || columns.some((column) => column.name === currencyIn)
      assert.ok(type !== 'money' || isSplit, `${reportFileName} ${name} would add currencies`)
    }
  }
})

test('a category without printable reports is not listed', () => {
  const categories = listCategories(1, new Set(['PRINT_REPORTS', 'VIEW_STAFF_REPORTS']))
  assert.deepEqual(
    categories.map(({ category }) => category),
    ['APPOINTMENTS', 'STAFF', 'CLASSES'],
  )
  assert.deepEqual(listCategories(1, new Set()), [])
})

test('docs/reports.md lists all reports with their picture and security functions', () => {
  const text = readFileSync(path.join(import.meta.dirname, '../../docs/reports.md'), 'utf8')
  const line = /^\| (\d+) \| \[`([a-z-]+)`\]\((reports\/\1\.webp)\) \| [^|]+ \| ?([^|]*?) ?\|$/gm
  const listed = [...text.matchAll(line)].map(([, id, name, picture, needs]) => {
    assert.ok(existsSync(path.join(import.meta.dirname, '../../docs', picture!)), `${picture}`)
    return [Number(id), name, needs!.replaceAll('`', '')]
  })
  const real = REPORTS.map(({ reportId, reportFileName, securityFunctions }) => [
    reportId,
    reportFileName,
    securityFunctions.slice(1).join(', '),
  ])
  assert.deepEqual(listed, real)
})

test('every report is printed in one of the files that calculate its rows themselves', () => {
  const files = ['catalog-a', 'catalog-b', 'catalog-c', 'catalog-d', 'feeds']
  const sources = files.map((file) =>
    readFileSync(path.join(import.meta.dirname, `${file}.test.ts`), 'utf8'),
  )
  const printed = sources.flatMap((source) =>
    [...source.matchAll(/(?:reportId: |printed\((?:exported, )?)(\d{3})\b/g)].map(([, id]) =>
      Number(id),
    ),
  )
  const ids = new Set(REPORTS.map(({ reportId }) => reportId))
  assert.deepEqual([...ids.difference(new Set(printed))], [])
})
