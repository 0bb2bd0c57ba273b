import { TextInput } from '@mantine/core'
import { IconSearch } from '../components/icons.tsx'
import { useState, type DragEvent } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { Filled, part } from '../components/filled.tsx'
import classes from './template.module.css'
import type { MenuToken } from './token-menu-state.ts'
import { findIn, type TokenSection } from './token-search.ts'

type Props = {
  sections: TokenSection[]
  /** Absent: the template cannot be changed. */
  onInsert?: ((name: string) => void) | undefined
}

/** All tokens with their values for the appointment of the preview. */
export function TokenList({ sections, onInsert }: Props) {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  const shown = sections
    .map((section) => ({ ...section, tokens: findIn(section, text) }))
    .filter(({ tokens }) => tokens.length > 0)
  return (
    <>
      <div className={classes.tokenHead}>
        <h2 className="eyebrow">{t('template.tokens.title')}</h2>
        {onInsert && (
          <p className="faint tiny">
            <Filled
              text={t('template.tokens.hint', { key: part('key') })}
              parts={{ key: <kbd>%</kbd> }}
            />
          </p>
        )}
        <TextInput
          size="xs"
          type="search"
          leftSection={<IconSearch size={13} aria-hidden />}
          placeholder={t('template.tokens.find')}
          aria-label={t('template.tokens.find')}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      </div>
      {shown.length === 0 && (
        <p className={`faint small ${classes.tokenGroup}`}>{t('template.tokens.none')}</p>
      )}
      {shown.map(({ name, tokens }) => (
        <section key={name} className={classes.tokenGroup}>
          <h3>{t(`template.tokens.groups.${name}`)}</h3>
          {tokens.map((token) => (
            <TokenRow key={token.name} token={token} onInsert={onInsert} />
          ))}
        </section>
      ))}
    </>
  )
}

type RowProps = { token: MenuToken; onInsert?: ((name: string) => void) | undefined }

function TokenRow({ token: { name, value, description }, onInsert }: RowProps) {
  const { t } = useTranslation()
  const content = (
    <>
      <span className={classes.tokenName}>{name}</span>
      <span className={`ellipsis ${classes.tokenValue}`} data-empty={value === null} dir="auto">
        {value === null ? t('template.tokens.empty') : (value ?? '…')}
      </span>
    </>
  )
  if (!onInsert) {
    return (
      <div className={classes.tokenRow} title={description}>
        {content}
      </div>
    )
  }
  const onDragStart = ({ dataTransfer }: DragEvent) => {
    dataTransfer.effectAllowed = 'copy'
    dataTransfer.setData('text/plain', `%${name}%`)
    dataTransfer.setData('text/html', `<span data-token="${name}">%${name}%</span>`)
  }
  return (
    <button
      type="button"
      draggable
      className={classes.tokenRow}
      title={description}
      onDragStart={onDragStart}
      onClick={() => onInsert(name)}
    >
      {content}
    </button>
  )
}
