import { Node } from '@tiptap/core'
import { EditorContent, useEditor, type Editor } from '@tiptap/react'
import StarterKit from '@tiptap/starter-kit'
import { useId, useMemo } from 'react'
import { Conditions } from './conditions.ts'
import { splitPieces } from './pieces.ts'
import classes from './template.module.css'
import { TokenNode, type TokenOptions } from './token-node.ts'

/** A document of one paragraph. */
const OneLine = Node.create({ name: 'doc', topNode: true, content: 'paragraph' })

const PLAIN = StarterKit.configure({
  document: false,
  blockquote: false,
  bold: false,
  bulletList: false,
  code: false,
  codeBlock: false,
  hardBreak: false,
  heading: false,
  horizontalRule: false,
  italic: false,
  link: false,
  listItem: false,
  listKeymap: false,
  orderedList: false,
  strike: false,
  trailingNode: false,
  underline: false,
})

type Props = {
  label: string
  value: string | null
  tokens: TokenOptions
  placeholder?: string | undefined
  fault?: string | undefined
  isStrong?: boolean
  /** Absent: the field cannot be changed. */
  onChange?: ((value: string | null) => void) | undefined
  onFocus: (editor: Editor) => void
}

/** One line of text in which tokens are chips. A new `key` shows another value. */
export function LineField({
  label,
  value,
  tokens,
  placeholder,
  fault,
  isStrong,
  onChange,
  onFocus,
}: Props) {
  const faultId = useId()
  const extensions = useMemo(
    () => [OneLine, PLAIN, TokenNode.configure(tokens), Conditions],
    [tokens],
  )
  const editor = useEditor({
    extensions,
    content: lineContent(value ?? '', tokens),
    editable: onChange !== undefined,
    injectCSS: false,
    onUpdate: ({ editor }) => onChange?.(editor.getText().trim() || null),
    onFocus: ({ editor }) => onFocus(editor),
    editorProps: {
      attributes: {
        role: 'textbox',
        'aria-label': label,
        'aria-multiline': 'false',
        ...(fault ? { 'aria-invalid': 'true', 'aria-describedby': faultId } : {}),
      },
      handleKeyDown: (_view, { key }) => key === 'Enter',
      transformPastedText: (text) => text.replace(/\s+/g, ' '),
    },
  })
  return (
    <div className={classes.line} data-strong={isStrong} data-fault={fault ? true : undefined}>
      {!value && placeholder && (
        <span className={`faint ellipsis ${classes.placeholder}`} aria-hidden>
          {placeholder}
        </span>
      )}
      <EditorContent editor={editor} className={classes.lineText} dir="auto" />
      {fault && (
        <div id={faultId} role="alert" className="clay tiny">
          {fault}
        </div>
      )}
    </div>
  )
}

const lineContent = (text: string, { names }: TokenOptions) => ({
  type: 'doc',
  content: [
    {
      type: 'paragraph',
      content: splitPieces(text.replace(/\s+/g, ' '), names).map((part) =>
        typeof part === 'string'
          ? { type: 'text', text: part }
          : { type: 'token', attrs: { piece: part.piece } },
      ),
    },
  ],
})
