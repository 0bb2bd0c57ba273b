import type { Editor } from '@tiptap/core'

/** The editor's own `focus` waits for the next frame: by then the user may be in another field. */
export function focusNow(editor: Editor) {
  editor.view.focus()
  return editor.chain()
}
