import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getSchema } from '@tiptap/core'
import type { Node } from '@tiptap/pm/model'
import { EditorState, NodeSelection, TextSelection, type Transaction } from '@tiptap/pm/state'
import { buttonHtml, type MailButton } from '../../console/templates/button-html.ts'
import {
  completeConditions,
  conditionAdded,
  isInOwnCondition,
} from '../../console/templates/conditions.ts'
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
  const { doc } = state.apply(edit(state.tr))
  const lines = linesOf({ doc })
  const stored = lines.map((line, i) =>
    doc.child(i).type.name === 'mailButton'
      ? buttonHtml(doc.child(i).attrs as MailButton, line)
      : line,
  )
  const text = stored.join('\n').replaceAll(/\{([AB])/g, (_, name) => IF(name))
  assert.deepEqual(findTokenFaults(text.replaceAll('}', '%END:IF%')), [])
  return lines
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

const button = (address: string, text = 'Pay') =>
  schema.nodes.mailButton!.create({ address, color: '#000000', textColor: '#ffffff' }, inline(text))
const LINK = 'https://example.org'
const OWN = '%LOCATION_PHONE%'

const select = (state: EditorState, from: number, to = from) =>
  state.apply(state.tr.setSelection(TextSelection.create(state.doc, from, to)))

test('a condition of a button is around the button, not in its text', () => {
  const state = stateOf('Hello', button(LINK), 'Bye')
  const around = ['Hello', '{A', `[Pay](${LINK})`, '}', 'Bye']
  const inside = select(state, placeOf(state, 'Pay') + 1)
  const place = placeOf(state, 'Pay') - 1
  const chosen = state.apply(state.tr.setSelection(NodeSelection.create(state.doc, place)))
  for (const selected of [inside, select(inside, place + 1, place + 4), chosen]) {
    assert.equal(isInOwnCondition(selected), false)
    assert.deepEqual(
      after(selected, () => conditionAdded(selected, TOKEN.A!)),
      around,
    )
  }
  const text = select(state, 1, 6)
  assert.deepEqual(
    after(text, () => conditionAdded(text, TOKEN.A!)),
    ['{AHello}', `[Pay](${LINK})`, 'Bye'],
  )
})

test('a button with its own condition is left out of a condition around it', () => {
  const state = stateOf('Hello', button(OWN), 'Bye')
  const place = placeOf(state, 'Pay')
  assert.equal(isInOwnCondition(select(state, place)), true)
  assert.equal(isInOwnCondition(select(state, 1)), false)
  const all = select(state, 1, placeOf(state, 'Bye') + 3)
  assert.equal(isInOwnCondition(all), false)
  assert.deepEqual(
    after(all, () => conditionAdded(all, TOKEN.A!)),
    ['{A', 'Hello', '}', `[Pay](${OWN})`, '{A', 'Bye', '}'],
  )
  const within = stateOf('{A', 'Hello', button(LINK), 'Bye', '}')
  const linked = placeOf(within, 'Pay') - 1
  assert.deepEqual(
    after(within, (tr) => tr.setNodeAttribute(linked, 'address', OWN)),
    ['{A', 'Hello', '}', `[Pay](${OWN})`, '{A', 'Bye', '}'],
  )
})

test('a button that is inserted into a condition of one line leaves both marks in texts', () => {
  const state = stateOf('Hello {A dear friend} bye')
  const insert = (address: string) =>
    after(state, (tr) =>
      tr.replaceWith(placeOf(state, 'friend'), placeOf(state, 'friend'), button(address)),
    )
  assert.deepEqual(insert(LINK), [
    'Hello ',
    '{A',
    ' dear ',
    `[Pay](${LINK})`,
    'friend',
    '}',
    ' bye',
  ])
  assert.deepEqual(insert(OWN), ['Hello {A dear }', `[Pay](${OWN})`, '{Afriend} bye'])
})
