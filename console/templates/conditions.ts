import { Extension, type Editor } from '@tiptap/core'
import type { Node as Document } from '@tiptap/pm/model'
import {
  NodeSelection,
  Plugin,
  PluginKey,
  TextSelection,
  type EditorState,
  type Transaction,
} from '@tiptap/pm/state'
import { Mapping } from '@tiptap/pm/transform'
import { Decoration, DecorationSet } from '@tiptap/pm/view'
import { tokenOfAddress } from './button-html.ts'
import { focusNow } from './focus.ts'

/**
 * Conditions in an editor. Their two marks stay tokens of the text, so that it is stored unchanged; what is
 * between them is drawn as a block, and neither mark stays without the other.
 */

/** The token that must have a value, and the places of the two marks. */
export type Condition = { token: string; start: number; end: number }

const IF = /^IF:/
const END = 'END:IF'

/**
 * The pairs of marks, and the marks without one. Conditions are not nested: of nested ones the outer one
 * counts, so that no text becomes unconditional. `kept` are pairs that no mark between them can change.
 */
function marksIn(doc: Document, kept: Condition[] = []) {
  const conditions: Condition[] = []
  const orphans: number[] = []
  let open: Condition | undefined
  const inner: { count: number; end?: number } = { count: 0 }
  const giveUp = () => {
    if (open && inner.end !== undefined) {
      orphans.splice(orphans.indexOf(inner.end), 1)
      conditions.push({ ...open, end: inner.end })
    } else if (open) orphans.push(open.start)
    open = undefined
  }
  for (const { piece, place } of listMarks(doc)) {
    const around = kept.find(({ start, end }) => start <= place && place <= end)
    if (around?.start === place) {
      giveUp()
      conditions.push({ ...around, token: piece.replace(IF, '') })
    } else if (around) {
      if (around.end !== place) orphans.push(place)
    } else if (open && IF.test(piece)) {
      orphans.push(place)
      inner.count += 1
    } else if (IF.test(piece)) {
      open = { token: piece.replace(IF, ''), start: place, end: place }
      inner.count = 0
      delete inner.end
    } else if (open && inner.count === 0) {
      conditions.push({ ...open, end: place })
      open = undefined
    } else {
      orphans.push(place)
      if (open) {
        inner.count -= 1
        inner.end = place
      }
    }
  }
  giveUp()
  return { conditions, orphans }
}

function listMarks(doc: Document) {
  const marks: { piece: string; place: number }[] = []
  doc.descendants((node, place) => {
    const piece = node.type.name === 'token' ? String(node.attrs.piece) : ''
    if (IF.test(piece) || piece === END) marks.push({ piece, place })
  })
  return marks
}

/** The condition that the selection touches. */
export function chosenCondition({ doc, selection }: EditorState): Condition | undefined {
  const { from, to } = selection
  return marksIn(doc).conditions.find(({ start, end }) =>
    from === to ? start < from && from <= end : start < to && from <= end,
  )
}

/** Whether the selection is a button that has its own condition, or is in one. */
export function isInOwnCondition({ selection }: EditorState) {
  const { $from, $to } = selection
  const button = selection instanceof NodeSelection ? selection.node : $from.parent
  return hasOwnCondition(button) && ($from.sameParent($to) || button !== $from.parent)
}

const hasOwnCondition = ({ type, attrs }: Document) =>
  type.name === 'mailButton' && tokenOfAddress(attrs.address) !== undefined

/** Shows the selection only if the token has a value; without a selection, what is typed next. */
export function addCondition(editor: Editor, token: string) {
  editor.view.dispatch(conditionAdded(editor.state, token))
  focusNow(editor).run()
}

/** The marks are around the selection if it is text of one block, else around its blocks. */
export function conditionAdded({ selection, schema, tr }: EditorState, token: string) {
  const { from, to, $from, $to } = selection
  const paragraph = schema.nodes.paragraph!
  const mark = (piece: string) => schema.nodes.token!.create({ piece })
  const { parent } = $from
  const isText = parent.inlineContent && parent.type.name !== 'mailButton'
  const blocks =
    isText && $from.sameParent($to)
      ? null
      : $from.blockRange($to, (node) => node.type.contentMatch.matchType(paragraph) !== null)
  if (blocks) {
    tr.insert(blocks.end, paragraph.create(null, mark(END)))
    return tr.insert(blocks.start, paragraph.create(null, mark(`IF:${token}`)))
  }
  tr.insert(to, mark(END)).insert(from, mark(`IF:${token}`))
  return from === to ? tr.setSelection(TextSelection.create(tr.doc, from + 1)) : tr
}

export function changeCondition(editor: Editor, { start }: Condition, token: string) {
  editor.view.dispatch(editor.state.tr.setNodeAttribute(start, 'piece', `IF:${token}`))
  focusNow(editor).run()
}

/** Its content stays and is always shown. */
export function removeCondition(editor: Editor, { start, end }: Condition) {
  const { tr } = editor.state
  removeMarks(tr, [start, end])
  editor.view.dispatch(tr)
  focusNow(editor).run()
}

/** Removes marks, and paragraphs that hold nothing else. */
function removeMarks(tr: Transaction, places: number[]) {
  for (const place of places.toSorted((a, b) => b - a)) {
    const around = tr.doc.resolve(place)
    const isAlone = around.parent.childCount === 1 && around.node(-1).childCount > 1
    if (isAlone) tr.delete(around.before(), around.after())
    else tr.delete(place, place + 1)
  }
}

export const Conditions = Extension.create({
  name: 'conditions',
  addProseMirrorPlugins: () => [completeConditions()],
})

/** Draws the conditions, and keeps them as the service takes them. */
export const completeConditions = () =>
  new Plugin({
    key: new PluginKey('conditions'),
    props: { decorations: ({ doc }) => DecorationSet.create(doc, decorationsOf(doc)) },
    appendTransaction: (transactions, before, after) =>
      transactions.some(({ docChanged }) => docChanged)
        ? completed(transactions, before, after)
        : null,
  })

function decorationsOf(doc: Document) {
  return marksIn(doc).conditions.flatMap(({ start, end }) => {
    const from = doc.resolve(start)
    const to = doc.resolve(end)
    if (from.sameParent(to)) return Decoration.inline(start, end + 1, { class: 'condition' })
    const range = from.blockRange(to)
    if (!range) return []
    const blocks: Decoration[] = []
    let place = range.start
    for (let i = range.startIndex; i < range.endIndex; i += 1) {
      const { nodeSize } = range.parent.child(i)
      blocks.push(Decoration.node(place, place + nodeSize, { class: 'condition-block' }))
      place += nodeSize
    }
    return blocks
  })
}

/** After an edit: a mark whose other one was deleted goes too, and a condition that was split becomes several. */
function completed(
  transactions: readonly Transaction[],
  { doc: before }: EditorState,
  { doc, tr, schema }: EditorState,
) {
  const earlier = marksIn(before)
  const mapping = new Mapping(transactions.flatMap(({ mapping: { maps } }) => maps))
  const placeNow = (place: number) => {
    const now = mapping.mapResult(place)
    return now.deletedAfter ? undefined : now.pos
  }
  const kept = earlier.conditions.flatMap(({ token, ...places }) => {
    const [start, end] = [placeNow(places.start), placeNow(places.end)]
    return start === undefined || end === undefined ? [] : { token, start, end }
  })
  const { conditions, orphans } = marksIn(doc, kept)
  const mark = (piece: string) => schema.nodes.token!.create({ piece })
  // A text that was stored with faults is left to its author.
  if (orphans.length > 0 && earlier.orphans.length === 0) {
    const [place] = orphans
    const piece = String(doc.nodeAt(place!)?.attrs.piece)
    const isTyped =
      IF.test(piece) &&
      !conditions.some(({ start, end }) => start < place! && place! < end) &&
      !earlier.conditions.some(({ start }) => placeNow(start) === place)
    if (orphans.length === 1 && isTyped) return tr.insert(place! + 1, mark(END))
    removeMarks(tr, orphans)
    return tr
  }
  // From the last one, so that the places of the others stay.
  for (let i = conditions.length - 1; i >= 0; i -= 1) {
    if (!areMarksTogether(tr.doc, conditions[i]!)) splitCondition(tr, conditions[i]!)
    // It may have got other places.
    leaveOutButtons(tr, marksIn(tr.doc).conditions[i]!)
  }
  return tr.docChanged ? tr : null
}

/** The service takes marks in one block, and those that are alone in theirs. */
function areMarksTogether(doc: Document, { start, end }: Condition) {
  const from = doc.resolve(start)
  const to = doc.resolve(end)
  const areAlone = from.parent.childCount === 1 && to.parent.childCount === 1
  return from.sameParent(to) || areAlone
}

const HAS_MARKS = new Set(['paragraph', 'heading'])

/** Gives each block its own condition; if one of them is not a text, the marks get their own blocks. */
function splitCondition(tr: Transaction, { token, start, end }: Condition) {
  const { nodes } = tr.doc.type.schema
  const mark = (piece: string) => nodes.token!.create({ piece })
  const inner: { from: number; to: number }[] = []
  let isText = true
  tr.doc.nodesBetween(start, end, (node, place) => {
    if (hasOwnCondition(node)) return false
    if (HAS_MARKS.has(node.type.name)) {
      inner.push({ from: place + 1, to: place + node.nodeSize - 1 })
    } else if (node.isTextblock || (node.isBlock && node.isLeaf)) isText = false
    return !node.isTextblock
  })
  if (!isText && tr.doc.resolve(start).sharedDepth(end) === tr.doc.resolve(start).depth - 1) {
    isolate(tr, end)
    isolate(tr, start)
    return
  }
  for (const [i, { from, to }] of [...inner.entries()].toReversed()) {
    if (i < inner.length - 1) tr.insert(to, mark(END))
    if (i > 0) tr.insert(from, mark(`IF:${token}`))
  }
}

/** Splits the block of a mark, so that the mark is alone. */
function isolate(tr: Transaction, place: number) {
  const { parent, parentOffset } = tr.doc.resolve(place)
  if (parentOffset + 1 < parent.content.size) tr.split(place + 1)
  if (parentOffset > 0) tr.split(place)
}

/** Ends a condition before each button that has its own, and begins it again after it. */
function leaveOutButtons(tr: Transaction, { token, start, end }: Condition) {
  const { nodes } = tr.doc.type.schema
  const from = tr.doc.resolve(start)
  const to = tr.doc.resolve(end)
  if (from.sameParent(to) || from.parent.childCount > 1) return
  const line = (piece: string) => nodes.paragraph!.create(null, nodes.token!.create({ piece }))
  const buttons: { place: number; size: number }[] = []
  tr.doc.nodesBetween(start, end, (node, place, parent) => {
    const isBetween = parent === from.node(-1) && parent === to.node(-1)
    if (isBetween && hasOwnCondition(node)) buttons.push({ place, size: node.nodeSize })
  })
  for (const { place, size } of buttons.toReversed()) {
    tr.insert(place + size, line(`IF:${token}`)).insert(place, line(END))
  }
}
