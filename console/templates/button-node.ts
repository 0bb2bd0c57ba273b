import { Node, type Editor } from '@tiptap/core'
import type { MailButton } from './button-html.ts'
import { focusNow } from './focus.ts'

const kept = (name: string) => ({
  default: '',
  parseHTML: (element: HTMLElement) => element.dataset[name] ?? '',
  renderHTML: (attributes: Record<string, unknown>) => ({
    [`data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`]: attributes[name],
  }),
})

/** A button of the mail. Its text is edited in place; body-html.ts writes its table. */
export const ButtonNode = Node.create({
  name: 'mailButton',
  group: 'block',
  content: '(text | token)*',
  marks: '',
  defining: true,

  addAttributes: () => ({
    address: kept('address'),
    color: kept('color'),
    textColor: kept('textColor'),
  }),

  parseHTML: () => [{ tag: 'div[data-address]' }],

  renderHTML: ({ HTMLAttributes }) => ['div', HTMLAttributes, 0],
})

/** Inserts a button at the cursor, or gives another address to the one that has the cursor. */
export function setButton(editor: Editor, button: MailButton, text: string) {
  if (editor.isActive('mailButton')) {
    focusNow(editor).updateAttributes('mailButton', { address: button.address }).run()
    return
  }
  const content = text ? [{ type: 'text', text }] : []
  focusNow(editor).insertContent({ type: 'mailButton', attrs: button, content }).run()
}

/** The address of the button that has the cursor. */
export const addressOfButton = (editor: Editor): string | undefined =>
  editor.isActive('mailButton') ? editor.getAttributes('mailButton').address : undefined
