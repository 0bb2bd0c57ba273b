import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linesOf, tagsInWords, tagsOf } from '../../console/components/tags.ts'

test('lines of a form become tags: equal names are one tag, and empty lines none', () => {
  const tags = tagsOf([
    { tag: ' level ', values: ['gold'] },
    { tag: 'level', values: ['vip, first'] },
    { tag: '', values: ['lost'] },
    { tag: 'area', values: [] },
  ])
  assert.deepEqual(tags, { level: ['gold', 'vip, first'] })
  assert.equal(tagsInWords(tags), 'level: gold, vip, first')
})

test('tags with names of properties of objects are tags like others', () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    const line = { tag: name, values: ['yes'] }
    const tags = tagsOf([line, { tag: 'level', values: ['gold'] }])
    assert.deepEqual(Object.keys(tags), [name, 'level'])
    assert.equal(Object.getPrototypeOf(tags), Object.prototype)
    assert.deepEqual(linesOf(tags)[0], line)
    assert.equal(JSON.stringify(tags), `{"${name}":["yes"],"level":["gold"]}`)
  }
})

test('without tags the form has an empty line', () => {
  assert.deepEqual(linesOf({}), [{ tag: '', values: [] }])
})
