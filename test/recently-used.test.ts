import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecentlyUsed } from '../src/recently-used.ts'

test('a full cache evicts the least recently used entry and keeps the others', () => {
  const cache = new RecentlyUsed<number, string>(3)
  for (const key of [1, 2, 3]) cache.set(key, `value ${key}`)
  cache.get(1)
  cache.set(2, 'value 2')
  cache.set(4, 'value 4')
  assert.deepEqual(
    [1, 2, 3, 4].map((key) => cache.get(key)),
    ['value 1', 'value 2', undefined, 'value 4'],
  )
})

test('a cache with sizes evicts until the sizes of its entries fit', () => {
  const cache = new RecentlyUsed<string, string>(10, { sizeOf: (key) => key.length })
  for (const key of ['aaaa', 'bbb', 'cc']) cache.set(key, 'value')
  cache.set('aaaa', 'replaced')
  cache.set('dddddd', 'value')
  assert.deepEqual(
    ['aaaa', 'bbb', 'cc', 'dddddd'].map((key) => cache.get(key)),
    ['replaced', undefined, undefined, 'value'],
  )
  cache.set('more than ten', 'value')
  assert.equal(cache.get('more than ten'), undefined)
})

test('a value is made once, and again after its eviction', () => {
  const cache = new RecentlyUsed<number, string>(1)
  const made: number[] = []
  const find = (key: number) => cache.getOrMake(key, () => `value ${made.push(key)}`)
  assert.deepEqual([1, 1, 2, 1].map(find), ['value 1', 'value 1', 'value 2', 'value 3'])
  assert.deepEqual(made, [1, 2, 1])
})
