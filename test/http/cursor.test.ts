import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestError } from '../../src/errors.ts'
import { pageOf, readPage } from '../../src/http/server/cursor.ts'

type Row = { time: string; id: number }
const rows = (count: number): Row[] =>
  Array.from({ length: count }, (_, i) => ({ time: `2026-03-0${i + 1}`, id: i + 1 }))
const TYPES = ['text', 'id'] as const
const positionOf = ({ time, id }: Row) => [time, id]

test('a page that is not full is the last one', () => {
  assert.equal(pageOf(rows(2), 2, 'things', positionOf).nextCursor, null)
  assert.deepEqual(pageOf([], 2, 'things', positionOf), { items: [], nextCursor: null })
})

test('an extra row gives a cursor to continue after the last row of the page', () => {
  const page = pageOf(rows(3), 2, 'things', positionOf)
  assert.deepEqual(page.items, rows(2))
  const { after, limit } = readPage({ limit: 2, cursor: page.nextCursor! }, 'things', TYPES)
  assert.deepEqual(after, ['2026-03-02', 2])
  assert.equal(limit, 2)
})

test('without a cursor a list starts at the first row, with pages of 50', () => {
  assert.deepEqual(readPage({}, 'things'), { limit: 50, after: undefined })
})

test('a cursor of another list, a forged and a broken one are 422', () => {
  const { nextCursor } = pageOf(rows(3), 2, 'others', positionOf)
  const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const own = pageOf(rows(3), 2, 'things', positionOf).nextCursor!
  const [things] = JSON.parse(Buffer.from(own, 'base64url').toString())
  const cursors = [
    nextCursor!,
    '',
    'x',
    '%%%',
    forged([things]),
    forged([things, null]),
    forged([things, { $ne: 1 }]),
    forged([things, 'a\0b']),
    forged([things, 1e300]),
    forged(['things', 1]),
    forged({ things: 1 }),
  ]
  for (const cursor of cursors) {
    assert.throws(
      () => readPage({ cursor }, 'things', TYPES),
      (error) => error instanceof RequestError && error.errors?.[0]?.pointer === '?cursor',
      cursor,
    )
  }
})

test('a cursor stays short even if the filters of the list are long', () => {
  const list = JSON.stringify(['client', '"'.repeat(200)])
  const { nextCursor } = pageOf(rows(3), 2, list, positionOf)
  assert.ok(nextCursor!.length < 200, nextCursor!)
  assert.deepEqual(readPage({ cursor: nextCursor! }, list, TYPES).after, ['2026-03-02', 2])
})
