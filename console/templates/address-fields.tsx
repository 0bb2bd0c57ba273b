import { type Editor } from '@tiptap/react'
import { useState, type ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { faultAt } from '../components/faults.ts'
import type { Draft, LineName } from './draft.ts'
import { LineField } from './line-field.tsx'
import classes from './template.module.css'
import type { TokenOptions } from './token-node.ts'

type Props = {
  draft: Draft
  tokens: TokenOptions
  /** The refusal of the last save. */
  error: unknown
  /** Absent: the template cannot be changed. */
  onChange?: ((change: Partial<Draft>) => void) | undefined
  onFocus: (editor: Editor) => void
}

/** Shown if they have a value or were asked for. */
const RARE = ['toName', 'ccAddress', 'bccAddress', 'replyToAddress'] as const

/** Sender, recipients and subject. */
export function AddressFields({ draft, tokens, error, onChange, onFocus }: Props) {
  const { t } = useTranslation()
  const [opened, setOpened] = useState<readonly LineName[]>([])
  const field = (name: LineName, options: { isStrong?: boolean; placeholder?: string } = {}) => (
    <LineField
      label={t(`template.fields.${name}`)}
      value={draft[name]}
      tokens={tokens}
      fault={faultAt(error, name)}
      onChange={onChange && ((value) => onChange(changeOf(name, value)))}
      onFocus={onFocus}
      {...options}
    />
  )
  const hidden = RARE.filter((name) => draft[name] === null && !opened.includes(name))
  return (
    <>
      <Row label={t('template.from')}>
        {field('fromName', { placeholder: t('template.placeholders.fromName') })}
        <Address>
          {field('fromAddress', { placeholder: t('template.placeholders.fromAddress') })}
        </Address>
      </Row>
      <Row label={t('words.to')}>
        {!hidden.includes('toName') && field('toName', { placeholder: t('template.short.toName') })}
        <Address>
          {field('toAddress', { placeholder: t('template.placeholders.toAddress') })}
        </Address>
        {onChange && hidden.length > 0 && (
          <span className={classes.rare}>
            {hidden.map((name) => (
              <button
                key={name}
                type="button"
                className="faint"
                onClick={() => setOpened([...opened, name])}
              >
                {t(`template.short.${name}`)}
              </button>
            ))}
          </span>
        )}
      </Row>
      {RARE.filter((name) => name !== 'toName' && !hidden.includes(name)).map((name) => (
        <Row key={name} label={t(`template.fields.${name}`)}>
          {field(name)}
        </Row>
      ))}
      <Row label={t('template.fields.subject')}>{field('subject', { isStrong: true })}</Row>
    </>
  )
}

/** A template always has a subject; the other lines can be without a value. */
const changeOf = (name: LineName, value: string | null): Partial<Draft> =>
  name === 'subject' ? { subject: value ?? '' } : { [name]: value }

function Row({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={classes.row}>
      <span className={`soft ${classes.rowLabel}`} aria-hidden>
        {label}
      </span>
      {children}
    </div>
  )
}

const Address = ({ children }: { children: ReactNode }) => (
  <span className={classes.address}>
    <span aria-hidden>&lt;</span>
    {children}
    <span aria-hidden>&gt;</span>
  </span>
)
