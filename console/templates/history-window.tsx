import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { auditQuery, type AuditEntry } from '../api/audit.ts'
import type { Template } from '../api/setup.ts'
import { templateFields } from '../api/templates.ts'
import { verbOf } from '../audit/describe.ts'
import { IconChevronDown, IconChevronUp } from '../components/icons.tsx'
import { ShowMore } from '../components/show-more.tsx'
import { Failure, Loading } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { nameOfUser } from '../components/user-name.ts'
import { changesOf } from '../records/changes.ts'
import type { EditedRecord } from '../records/use-record.ts'
import type { Draft } from './draft.ts'
import classes from './history.module.css'
import { useTemplateWords } from './template-words.ts'
import { changedFields, Differences } from './text-difference.tsx'

export type HistoryProps = {
  record: EditedRecord<Template, Draft>
  /** As stored. */
  template: Template
  canEdit: boolean
}

/** The changes of the mail, each with its words before and after. */
export function History({ onClose, ...props }: HistoryProps & { onClose: () => void }) {
  const { t } = useTranslation()
  const { emailTemplateId } = props.template
  const list = useInfiniteQuery(
    auditQuery({ object: 'emailTemplate', id: String(emailTemplateId) }),
  )
  const { data, error, refetch } = list
  const entries = data?.pages.flatMap((page) => page.items)
  const [opened, setOpened] = useState(0)
  if (error && !entries) return <Failure error={error} onRetry={() => void refetch()} />
  if (!entries) return <Loading />
  return (
    <>
      <p className="soft small" style={{ marginTop: 0 }}>
        {t('template.history.hint')}
      </p>
      <ol className={classes.list}>
        {entries.map((entry, i) => (
          <VersionEntry
            key={`${entry.time} ${entries.length - i}`}
            {...props}
            entry={entry}
            isOpen={i === opened}
            onToggle={() => setOpened(i === opened ? -1 : i)}
            onClose={onClose}
          />
        ))}
      </ol>
      <ShowMore list={list} />
    </>
  )
}

type VersionEntryProps = HistoryProps & {
  entry: AuditEntry
  isOpen: boolean
  onToggle: () => void
  onClose: () => void
}

/** One change of the mail: by whom, when, what, and the way back to its state after it. */
function VersionEntry({ entry, isOpen, onToggle, ...props }: VersionEntryProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const words = useTemplateWords()
  const details = useId()
  const before = templateFields(entry.before ?? undefined)
  const after = templateFields(entry.after)
  const fields = changedFields(before, after)
  const verb = verbOf(entry)
  const labelOf = (field: keyof Draft) =>
    field === 'emailBody' ? t('template.body') : words.label(field)
  const what =
    verb !== 'changed'
      ? t(`template.history.verbs.${verb === 'created' || verb === 'activated' ? verb : 'off'}`)
      : fields.map(labelOf).join(', ') || t('template.history.verbs.other')
  const Chevron = isOpen ? IconChevronUp : IconChevronDown
  return (
    <li>
      <button
        type="button"
        className={classes.change}
        aria-expanded={isOpen}
        aria-controls={details}
        onClick={onToggle}
      >
        <span className={classes.who}>
          <b dir="auto">{nameOfUser(entry.user, t)}</b>{' '}
          <span className="soft numbers">{format.moment(entry.time)}</span>
        </span>
        <span className={`soft small ${classes.what}`}>{what}</span>
        <Chevron size={15} aria-hidden />
      </button>
      {isOpen && (
        <div id={details} className={classes.details}>
          <Differences from={before} to={after} />
          <Restore {...props} state={after} />
        </div>
      )}
    </li>
  )
}

type RestoreProps = HistoryProps & {
  /** The mail after the change. */
  state: Draft
  onClose: () => void
}

/** Shows what restoring changes, then saves it like any other change. The name of the mail stays. */
function Restore({ record, template, canEdit, state, onClose }: RestoreProps) {
  const { t } = useTranslation()
  const [isAsking, setAsking] = useState(false)
  const effect = useId()
  const now = templateFields(template)
  const restored = { ...state, templateName: now.templateName }
  if (!canEdit || Object.keys(changesOf(now, restored)).length === 0) return null
  const restore = () => {
    record.discard()
    record.replace(restored)
    record.save()
    onClose()
  }
  return (
    <>
      <Button
        size="xs"
        variant="default"
        aria-expanded={isAsking}
        aria-controls={effect}
        onClick={() => setAsking(!isAsking)}
      >
        {t('template.history.restore')}
      </Button>
      {isAsking && (
        <section id={effect} className={classes.effect}>
          <h3>{t('template.history.effect')}</h3>
          <Differences from={now} to={restored} />
          {record.count > 0 && (
            <p className="amber small">{t('template.history.unsaved', { count: record.count })}</p>
          )}
          <Button size="xs" disabled={record.isSaving} onClick={restore}>
            {t('template.history.restoreNow')}
          </Button>
        </section>
      )}
    </>
  )
}
