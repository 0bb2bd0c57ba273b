import { Button, Popover, TextInput } from '@mantine/core'
import { RichTextEditor } from '@mantine/tiptap'
import { IconRectangle, IconPercentage, IconPhoto, IconSeparator } from '../components/icons.tsx'
import { useEditor, type Editor } from '@tiptap/react'
import { useEffect, useMemo, useState, type ReactNode } from 'react'
import { useSession } from '../api/session.ts'
import { useTranslation } from '../texts/translate.ts'
import '@mantine/tiptap/styles.css'
import { bodyExtensions } from './body-extensions.ts'
import { fromEditorHtml, toEditorHtml } from './body-html.ts'
import { buttonOf } from './button-html.ts'
import { addressOfButton, setButton } from './button-node.ts'
import { ConditionControl } from './condition-control.tsx'
import { focusNow } from './focus.ts'
import type { KnownNames } from './pieces.ts'
import classes from './template.module.css'
import type { TokenOptions } from './token-node.ts'

type Props = {
  html: string
  tokens: TokenOptions
  /** Absent: the text cannot be changed. */
  onChange?: ((html: string) => void) | undefined
  onFocus: (editor: Editor) => void
  /** Called with the editor. Tokens are inserted into it until another field has the focus. */
  onReady: (editor: Editor) => void
}

/** The text of a mail with its tokens as chips. A new `key` shows another text. */
export function BodyEditor({ html, tokens, onChange, onFocus, onReady }: Props) {
  const { t } = useTranslation()
  const labels = useLabels()
  const extensions = useMemo(() => bodyExtensions(tokens), [tokens])
  const editor = useEditor({
    extensions,
    content: toEditorHtml(html, tokens.names),
    editable: onChange !== undefined,
    injectCSS: false,
    shouldRerenderOnTransaction: true,
    onUpdate: ({ editor }) => onChange?.(fromEditorHtml(editor.getHTML())),
    onFocus: ({ editor }) => onFocus(editor),
    editorProps: {
      attributes: {
        role: 'textbox',
        'aria-label': t('template.body'),
        'aria-multiline': 'true',
      },
    },
  })
  useEffect(() => onReady(editor), [editor, onReady])
  return (
    <RichTextEditor editor={editor} labels={labels} className={classes.body} variant="subtle">
      {onChange && (
        <RichTextEditor.Toolbar className={classes.toolbar}>
          <RichTextEditor.ControlsGroup>
            <RichTextEditor.Undo />
            <RichTextEditor.Redo />
          </RichTextEditor.ControlsGroup>
          <RichTextEditor.ControlsGroup>
            <RichTextEditor.H2 />
            <RichTextEditor.Bold />
            <RichTextEditor.Italic />
            <RichTextEditor.Link />
            <RichTextEditor.BulletList />
            <RichTextEditor.OrderedList />
          </RichTextEditor.ControlsGroup>
          <RichTextEditor.ControlsGroup>
            <ButtonControl editor={editor} names={tokens.names} />
            <ImageControl editor={editor} />
            <RichTextEditor.Hr icon={LineIcon} />
            <RichTextEditor.Control
              aria-label={t('template.toolbar.token')}
              title={t('template.toolbar.token')}
              onClick={() => focusNow(editor).insertContent('%').run()}
            >
              <IconPercentage size={16} stroke={1.7} aria-hidden />
            </RichTextEditor.Control>
            <ConditionControl editor={editor} tokens={tokens} />
          </RichTextEditor.ControlsGroup>
        </RichTextEditor.Toolbar>
      )}
      <RichTextEditor.Content className={classes.bodyText} dir="auto" />
    </RichTextEditor>
  )
}

const LineIcon = () => <IconSeparator size={16} stroke={1.7} aria-hidden />

function useLabels() {
  const { t } = useTranslation()
  return useMemo(
    () => ({
      undoControlLabel: t('template.toolbar.undo'),
      redoControlLabel: t('template.toolbar.redo'),
      h2ControlLabel: t('template.toolbar.heading'),
      boldControlLabel: t('template.toolbar.bold'),
      italicControlLabel: t('template.toolbar.italic'),
      linkControlLabel: t('template.toolbar.link'),
      bulletListControlLabel: t('template.toolbar.list'),
      orderedListControlLabel: t('template.toolbar.numbers'),
      hrControlLabel: t('template.toolbar.line'),
      linkEditorInputLabel: t('template.toolbar.linkAddress'),
      linkEditorInputPlaceholder: 'https://',
      linkEditorExternalLink: t('template.toolbar.linkNewTab'),
      linkEditorInternalLink: t('template.toolbar.linkSameTab'),
      linkEditorSave: t('words.apply'),
    }),
    [t],
  )
}

/** Inserts an image by its address: many mail programs do not show embedded ones. */
function ImageControl({ editor }: { editor: Editor }) {
  const { t } = useTranslation()
  const insert = (form: FormData) => {
    const [src, alt] = [textIn(form, 'src'), textIn(form, 'alt')]
    if (src) focusNow(editor).setImage({ src, alt }).run()
  }
  return (
    <FormControl label={t('template.toolbar.image')} icon={IconPhoto} onApply={insert}>
      <TextInput
        name="src"
        type="url"
        required
        label={t('template.toolbar.imageAddress')}
        placeholder="https://"
      />
      <TextInput name="alt" label={t('template.toolbar.imageText')} />
    </FormControl>
  )
}

/** Inserts a button, or changes where the one that has the cursor leads. */
function ButtonControl({ editor, names }: { editor: Editor; names: KnownNames }) {
  const { t } = useTranslation()
  const { accentColor } = useSession().business
  const address = addressOfButton(editor)
  const apply = (form: FormData) =>
    setButton(editor, buttonOf(textIn(form, 'address'), accentColor), textIn(form, 'text'))
  return (
    <FormControl label={t('template.toolbar.button')} icon={IconRectangle} onApply={apply}>
      {address === undefined && (
        <TextInput name="text" required label={t('template.toolbar.buttonText')} />
      )}
      <TextInput
        name="address"
        required
        defaultValue={address}
        label={t('template.toolbar.buttonAddress')}
        placeholder="https://"
        pattern="(https?://|mailto:|tel:|%[A-Z]).+"
        list={LINK_TOKENS}
      />
      <datalist id={LINK_TOKENS}>
        {[...names]
          .filter((name) => /_(?:URL|LINK)$/.test(name))
          .map((name) => (
            <option key={name} value={`%${name}%`} />
          ))}
      </datalist>
    </FormControl>
  )
}

const LINK_TOKENS = 'link-tokens'
const textIn = (form: FormData, name: string) => String(form.get(name) ?? '').trim()

type FormControlProps = {
  label: string
  icon: typeof IconPhoto
  onApply: (form: FormData) => void
  children: ReactNode
}

/** A control of the toolbar that opens a small form. */
function FormControl({ label, icon: Icon, onApply, children }: FormControlProps) {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus withinPortal>
      <Popover.Target>
        <RichTextEditor.Control aria-label={label} title={label} onClick={() => setOpen(!isOpen)}>
          <Icon size={16} stroke={1.7} aria-hidden />
        </RichTextEditor.Control>
      </Popover.Target>
      <Popover.Dropdown>
        <form
          className="column"
          onSubmit={(event) => {
            event.preventDefault()
            setOpen(false)
            onApply(new FormData(event.currentTarget))
          }}
        >
          {children}
          <Button type="submit" size="xs">
            {t('words.apply')}
          </Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  )
}
