import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getSchema } from '@tiptap/core'
import type { Node } from '@tiptap/pm/model'
import { EditorState, type Transaction } from '@tiptap/pm/state'
import { completeConditions } from '../../console/templates/conditions.ts'
import { splitPieces } from '../../console/templates/pieces.ts'
import { findTokenFaults } from '../../src/email/token-syntax.ts'

/** Loaded by its address, because it uses types of browsers. */
const { bodyExtensions } = await import(
  new URL('../../console/templates/body-extensions.ts', import.meta.url).href
)
const names = new Set(['CLIENT_FIRSTNAME', 'LOCATION_PHONE'])
const schema = getSchema(bodyExtensions({ names, find: () => [] }))

/** `A` and `B` are the tokens of conditions. */
const TOKEN: Record<string, string> = { A: 'CLIENT_FIRSTNAME', B: 'LOCATION_PHONE' }
const IF = (name: string) => `%IF:${TOKEN[name]}%`

/** The nodes of a line such as `Hello {A you}`. */
function inline(line: string): Node[] {
  const text = line.replaceAll(/\{([AB])/g, (_, name) => IF(name)).replaceAll('}', '%END:IF%')
  return splitPieces(text, names).map((part) =>
    typeof part === 'string' ? schema.text(part) : schema.nodes.token!.create(part),
  )
}

const paragraph = (line: string) => schema.nodes.paragraph!.create(null, inline(line))

const stateOf = (...blocks: (string | Node)[]) =>
  EditorState.create({
    doc: schema.nodes.doc!.create(
      null,
      blocks.map((block) => (typeof block === 'string' ? paragraph(block) : block)),
    ),
    plugins: [completeConditions()],
  })

/** The lines of a document, in the same form. */
const linesOf = ({ doc }: { doc: Node }) =>
  doc.children.map((block) => {
    const text = block.children
      .map((child) => child.text ?? `%${child.attrs.piece}%`)
      .join('')
      .replaceAll(IF('A'), '{A')
      .replaceAll(IF('B'), '{B')
      .replaceAll('%END:IF%', '}')
    return block.type.name === 'mailButton' ? `[${text}](${block.attrs.address})` : text
  })

/** Where a text begins. */
function placeOf({ doc }: EditorState, text: string) {
  let found = -1
  doc.descendants((node, place) => {
    if (node.text?.includes(text)) found = place + node.text.indexOf(text)
  })
  assert.notEqual(found, -1, text)
  return found
}

/** The lines after an edit; the service accepts their conditions. */
function after(state: EditorState, edit: (tr: Transaction) => Transaction) {
  const next = state.apply(edit(state.tr))
  const stored = next.doc.textBetween(0, next.doc.content.size, '\n', (node) =>
    node.type.name === 'token' ? `%${node.attrs.piece}%` : '',
  )
  assert.deepEqual(findTokenFaults(stored), [])
  return linesOf(next)
}

const insertedBefore = (state: EditorState, text: string, line: string) =>
  after(state, (tr) => tr.insert(placeOf(state, text), inline(line)))

test('a condition that is typed or pasted inside another one leaves its text conditional', () => {
  const outer = stateOf('Hello {A dear friend} bye')
  for (const pasted of ['{B', '}', '{Bx', '{B}']) {
    const text = pasted.replaceAll(/\{B|\}/g, '')
    const expected = `Hello {A dear ${text}friend} bye`
    assert.deepEqual(insertedBefore(outer, 'friend', pasted), [expected], pasted)
  }
  assert.deepEqual(insertedBefore(outer, 'friend', '{Bx} y'), ['Hello {A dear x yfriend} bye'])
  const block = stateOf('{A', 'one', 'two', '}', 'three {B four}')
  assert.deepEqual(insertedBefore(block, 'two', '{B'), ['{A', 'one', 'two', '}', 'three {B four}'])
})

test('of nested conditions that are pasted together, the outer one stays', () => {
  const state = stateOf('Hello', 'friend {B z}')
  assert.deepEqual(insertedBefore(state, 'friend', '{A x {B y} w} '), [
    'Hello',
    '{A x  y w} friend {B z}',
  ])
  assert.deepEqual(insertedBefore(state, 'friend', '{A x {B y} '), [
    'Hello',
    '{A x  y} friend {B z}',
  ])
})

test('a typed start of a condition gets its end, and a mark that loses its other one goes', () => {
  const state = stateOf('Hello {A dear friend} bye')
  assert.deepEqual(insertedBefore(state, 'Hello', '{B'), ['{B}Hello {A dear friend} bye'])
  assert.deepEqual(insertedBefore(state, ' bye', '{B'), ['Hello {A dear friend}{B} bye'])
  const end = placeOf(state, ' bye') - 1
  assert.deepEqual(
    after(state, (tr) => tr.delete(end, end + 1)),
    ['Hello  dear friend bye'],
  )
  const two = stateOf('Hello {A dear friend} and {B more} bye')
  const first = placeOf(two, ' and') - 1
  assert.deepEqual(
    after(two, (tr) => tr.delete(first, first + 1)),
    ['Hello  dear friend and {B more} bye'],
  )
})
