import { Checkbox, Radio, TextInput } from '@mantine/core'
import { IconChevronDown } from '../components/icons.tsx'
import { useState, type ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import type { Setup } from '../api/setup.ts'
import { onlyIfWords, tagWords, type Draft } from './draft.ts'
import classes from './editor.module.css'
import { FilterTags } from './filter-tags.tsx'

type Props = {
  draft: Draft
  setup: Setup
  changed: ReadonlySet<string>
  onChange: ((draft: Draft) => void) | undefined
}

/** Settings that are not part of the sentence. */
export function FinePrint({ draft, setup, changed, onChange }: Props) {
  const { t } = useTranslation()
  const change = onChange ?? (() => undefined)
  const isReminder = draft.eventType.eventCategory === 'REMINDER'
  const isOfVisit = ['CALENDAR', 'CLASS_SCHEDULE'].includes(draft.eventType.objectType)
  const announcesVisit = isOfVisit && !isReminder && !draft.oldStatus && !draft.newStatus
  const row = (key: string) => ({ isChanged: changed.has(key), isFixed: !onChange })
  return (
    <section aria-label={t('editor.finePrint')}>
      <h2 className="eyebrow" style={{ margin: '0 0 4px' }}>
        {t('editor.finePrint')}
      </h2>
      <Row
        label={t('words.name')}
        value={draft.description ?? t('editor.nameNone')}
        {...row('name')}
      >
        <TextInput
          aria-label={t('words.name')}
          maxLength={200}
          value={draft.description ?? ''}
          onChange={(event) => change({ ...draft, description: event.currentTarget.value || null })}
        />
      </Row>
      {isReminder && <LateRow draft={draft} onChange={change} row={row('late')} />}
      {announcesVisit && <PastRow draft={draft} onChange={change} row={row('past')} />}
      {draft.onlyIfStatus !== undefined && (
        <Row label={t('editor.onlyIf')} value={onlyIfWords(draft, setup)} {...row('onlyIf')}>
          <OnlyIfFields draft={draft} setup={setup} onChange={change} />
        </Row>
      )}
      <Row label={t('editor.tags')} value={tagWords(draft.filterTagMapJson)} {...row('tags')}>
        <FilterTags draft={draft} onChange={change} />
      </Row>
    </section>
  )
}

type RowFieldsProps = {
  draft: Draft
  onChange: (draft: Draft) => void
  row: { isChanged: boolean; isFixed: boolean }
}

function LateRow({ draft, onChange, row }: RowFieldsProps) {
  const { t } = useTranslation()
  const isLateSent = draft.latePolicy === 'SEND'
  return (
    <Row
      label={t('editor.late')}
      value={t(isLateSent ? 'editor.lateSend' : 'editor.lateSkip')}
      note={t(isLateSent ? 'editor.lateSendHint' : 'editor.lateSkipHint')}
      {...row}
    >
      <Radio.Group
        aria-label={t('editor.late')}
        value={draft.latePolicy}
        onChange={(value) => onChange({ ...draft, latePolicy: value as Draft['latePolicy'] })}
      >
        <div className={classes.checks}>
          <Radio
            size="xs"
            value="SKIP"
            label={t('editor.lateSkip')}
            description={t('editor.lateSkipHint')}
          />
          <Radio
            size="xs"
            value="SEND"
            label={t('editor.lateSend')}
            description={t('editor.lateSendHint')}
          />
        </div>
      </Radio.Group>
    </Row>
  )
}

function PastRow({ draft, onChange, row }: RowFieldsProps) {
  const { t } = useTranslation()
  return (
    <Row
      label={t('editor.past')}
      value={t(draft.allowPast ? 'editor.pastSend' : 'editor.pastSkip')}
      {...row}
    >
      <Radio.Group
        aria-label={t('editor.past')}
        value={draft.allowPast ? 'SEND' : 'SKIP'}
        onChange={(value) => onChange({ ...draft, allowPast: value === 'SEND' })}
      >
        <div className={classes.checks}>
          <Radio size="xs" value="SKIP" label={t('editor.pastSkip')} />
          <Radio size="xs" value="SEND" label={t('editor.pastSend')} />
        </div>
      </Radio.Group>
    </Row>
  )
}

type FieldsProps = { draft: Draft; setup: Setup; onChange: (draft: Draft) => void }

function OnlyIfFields({ draft, setup, onChange }: FieldsProps) {
  const { t } = useTranslation()
  const chosen = draft.onlyIfStatus ?? []
  const statuses = setup.statuses.filter(
    ({ objectType }) => objectType === draft.eventType.objectType,
  )
  return (
    <Checkbox.Group
      aria-label={t('editor.onlyIf')}
      value={chosen}
      onChange={(onlyIfStatus) => onChange({ ...draft, onlyIfStatus })}
    >
      <div className={classes.checks}>
        {statuses.map(({ status, label }) => (
          <Checkbox key={status} size="xs" value={status} label={label} />
        ))}
      </div>
    </Checkbox.Group>
  )
}

type RowProps = {
  label: string
  value: string
  note?: string
  isChanged: boolean
  isFixed: boolean
  children: ReactNode
}

/** Opens under its line. */
function Row({ label, value, note, isChanged, isFixed, children }: RowProps) {
  const [isOpen, setOpen] = useState(false)
  const content = (
    <>
      <span className={`soft ${classes.fineLabel}`}>{label}</span>
      <span className={classes.fineValue} data-changed={isChanged || undefined} dir="auto">
        {value}
      </span>
      {note && <span className="faint small ellipsis">{note}</span>}
      <span className="grow" />
    </>
  )
  if (isFixed) return <div className={classes.fine}>{content}</div>
  return (
    <div>
      <button
        type="button"
        className={classes.fine}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {content}
        <IconChevronDown size={14} className={classes.chevron} aria-hidden />
      </button>
      {isOpen && <div className={classes.fineFields}>{children}</div>}
    </div>
  )
}
