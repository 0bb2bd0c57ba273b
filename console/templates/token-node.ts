import { InputRule, Node, PasteRule, type Editor } from '@tiptap/core'
import { PluginKey } from '@tiptap/pm/state'
import Suggestion from '@tiptap/suggestion'
import { t } from '../texts/translate.ts'
import { focusNow } from './focus.ts'
import { lastPiece, piecesIn, type KnownNames } from './pieces.ts'
import { closeMenu, moveInMenu, openMenu, type MenuToken } from './token-menu-state.ts'

export type TokenOptions = {
  names: KnownNames
  /** The tokens that fit a text typed after `%`. */
  find: (query: string) => MenuToken[]
}

/** A token in an editor: one chip that cannot be edited, only removed. */
export const TokenNode = Node.create<TokenOptions>({
  name: 'token',
  group: 'inline',
  inline: true,
  atom: true,
  draggable: true,

  addOptions: () => ({ names: new Set(), find: () => [] }),

  addAttributes: () => ({
    piece: {
      default: '',
      parseHTML: (element: HTMLElement) => element.dataset.token ?? '',
      renderHTML: ({ piece }: { piece: string }) => ({ 'data-token': piece }),
    },
  }),

  parseHTML: () => [{ tag: 'span[data-token]' }],

  renderHTML: ({ node, HTMLAttributes }) => ['span', HTMLAttributes, `%${node.attrs.piece}%`],

  renderText: ({ node }) => `%${node.attrs.piece}%`,

  addNodeView:
    () =>
    ({ node }) => {
      const dom = document.createElement('span')
      const piece = String(node.attrs.piece)
      const condition = /^IF:(.*)/.exec(piece)
      dom.className = 'token'
      dom.textContent = condition ? t('template.condition.if', { token: condition[1]! }) : piece
      if (condition) dom.dataset.condition = 'if'
      if (piece === 'END:IF') {
        dom.dataset.condition = 'end'
        dom.textContent = t('template.condition.end')
      }
      return { dom }
    },

  addInputRules() {
    return [
      new InputRule({
        find: (text) => {
          const last = lastPiece(text, this.options.names)
          return last ? { index: last.index, text: last.text, data: { piece: last.piece } } : null
        },
        handler: ({ state, range, match }) => {
          state.tr.replaceWith(range.from, range.to, this.type.create(match.data))
        },
      }),
    ]
  },

  addPasteRules() {
    return [
      new PasteRule({
        find: (text) =>
          piecesIn(text, this.options.names).map(({ piece, ...place }) => ({
            ...place,
            data: { piece },
          })),
        handler: ({ state, range, match }) => {
          state.tr.replaceWith(range.from, range.to, this.type.create(match.data))
        },
      }),
    ]
  },

  addProseMirrorPlugins() {
    const { editor, options } = this
    return [
      Suggestion<MenuToken, MenuToken>({
        editor,
        pluginKey: new PluginKey('token menu'),
        char: '%',
        allowedPrefixes: null,
        items: ({ query }) => options.find(query),
        // "50%" is a number, not the beginning of a token.
        allow: ({ state, range }) => !/\d/.test(state.doc.textBetween(range.from - 1, range.from)),
        command: ({ editor, range, props }) => insertPiece(editor, props.name, range),
        render: () => ({
          onStart: (props) => openMenu({ ...props, element: editor.view.dom }),
          onUpdate: (props) => openMenu({ ...props, element: editor.view.dom }),
          onKeyDown: ({ event }) => moveInMenu(event),
          onExit: closeMenu,
        }),
      }),
    ]
  },
})

/** Inserts a token at the cursor, or in place of a range. */
export function insertPiece(editor: Editor, piece: string, range?: { from: number; to: number }) {
  const { from, to } = range ?? editor.state.selection
  focusNow(editor)
    .insertContentAt({ from, to }, { type: 'token', attrs: { piece } })
    .scrollIntoView()
    .run()
}
