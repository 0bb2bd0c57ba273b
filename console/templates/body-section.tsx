import { Button } from '@mantine/core'
import { type Editor } from '@tiptap/react'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { faultAt } from '../components/faults.ts'
import { BodyEditor } from './body-editor.tsx'
import { textOfHtml } from './body-html.ts'
import type { Draft } from './draft.ts'
import { isKeptByEditor, simplify } from './keep.ts'
import classes from './template.module.css'
import type { TokenOptions } from './token-node.ts'

export const MODES = ['write', 'html', 'text'] as const
export type Mode = (typeof MODES)[number]

/** Inserts a token at the last cursor position. */
export type Insert = (name: string) => void

type Props = {
  mode: Mode
  draft: Draft
  tokens: TokenOptions
  /** The refusal of the last save. */
  error: unknown
  /** Absent: the template cannot be changed. */
  onChange?: ((change: Partial<Draft>) => void) | undefined
  onEditor: (editor: Editor) => void
  onInsertTarget: (insert: Insert) => void
  /** Replaces the text and remounts the editor. */
  onReplace: (change: Partial<Draft>) => void
}

/** The text of the mail: written, as HTML, or the text part. */
export function BodySection(props: Props) {
  const { mode, error } = props
  const fault = faultAt(error, mode === 'text' ? 'emailBodyText' : 'emailBody')
  return (
    <>
      {mode === 'write' ? (
        <Write {...props} />
      ) : mode === 'html' ? (
        <Source {...props} field="emailBody" />
      ) : (
        <PlainText {...props} />
      )}
      {fault && (
        <div role="alert" className={`clay small ${classes.bodyFault}`}>
          {fault}
        </div>
      )}
    </>
  )
}

function Write({ draft, tokens, onChange, onEditor, onReplace }: Props) {
  const { t } = useTranslation()
  // Checked once: the editor keeps everything that it writes itself.
  const [isKept] = useState(() => isKeptByEditor(draft.emailBody, tokens))
  if (!isKept) {
    return (
      <div className={classes.notKept}>
        <p className="strong">{t('template.notKept.title')}</p>
        <p className="soft small">{t('template.notKept.hint')}</p>
        {onChange && (
          <Button
            variant="default"
            size="xs"
            onClick={() => onReplace({ emailBody: simplify(draft.emailBody, tokens) })}
          >
            {t('template.notKept.button')}
          </Button>
        )}
      </div>
    )
  }
  return (
    <BodyEditor
      html={draft.emailBody}
      tokens={tokens}
      onChange={onChange && ((emailBody) => onChange({ emailBody }))}
      onFocus={onEditor}
      onReady={onEditor}
    />
  )
}

function Source({ draft, field, onChange, onInsertTarget }: Props & { field: SourceField }) {
  const { t } = useTranslation()
  const insertInto = (area: HTMLTextAreaElement): Insert => {
    return (name) => {
      area.setRangeText(`%${name}%`, area.selectionStart, area.selectionEnd, 'end')
      onChange?.({ [field]: area.value })
      area.focus()
    }
  }
  return (
    <textarea
      ref={(area) => {
        if (area) onInsertTarget(insertInto(area))
      }}
      className={classes.source}
      data-text={field === 'emailBodyText' || undefined}
      aria-label={t(`template.fields.${field}`)}
      readOnly={!onChange}
      spellCheck={field === 'emailBodyText'}
      dir="auto"
      value={draft[field] ?? ''}
      onFocus={(event) => onInsertTarget(insertInto(event.currentTarget))}
      onChange={(event) => onChange?.({ [field]: event.currentTarget.value })}
    />
  )
}

type SourceField = 'emailBody' | 'emailBodyText'

function PlainText(props: Props) {
  const { t } = useTranslation()
  const { draft, onChange } = props
  if (draft.emailBodyText === null) {
    return (
      <div className={classes.notKept}>
        <p className="strong">{t('template.plain.made')}</p>
        <p className="soft small">{t('template.plain.madeHint')}</p>
        {onChange && (
          <Button
            variant="default"
            size="xs"
            onClick={() => onChange({ emailBodyText: textOfHtml(draft.emailBody) })}
          >
            {t('template.plain.byHand')}
          </Button>
        )}
      </div>
    )
  }
  return (
    <>
      {onChange && (
        <div className={`row small ${classes.plainHead}`}>
          <span className="soft grow">{t('template.plain.own')}</span>
          <Button
            variant="subtle"
            size="compact-xs"
            onClick={() => onChange({ emailBodyText: null })}
          >
            {t('template.plain.generate')}
          </Button>
        </div>
      )}
      <Source {...props} field="emailBodyText" />
    </>
  )
}
