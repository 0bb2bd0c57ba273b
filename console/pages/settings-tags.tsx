import { Button, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { changeTag, tagPlanQuery, tagsQuery, type TagValue } from '../api/tags.ts'
import { useForm } from '../components/form.ts'
import { Empty, Failure, Loaded } from '../components/states.tsx'
import { FormWindow, SubmitRow } from '../components/windows.tsx'
import classes from '../setup/settings.module.css'
import { SettingsColumns, SettingsTable } from '../setup/settings-frame.tsx'
import { PageHead } from '../shell/page-head.tsx'
import { useTranslation } from '../texts/translate.ts'

type Edited = { tag: TagValue; isDelete: boolean }

/** All values of all tags, which are renamed and deleted everywhere at once. */
export function SettingsTagsPage() {
  const { t } = useTranslation()
  const { data: tags, error, refetch } = useQuery(tagsQuery)
  const [edited, setEdited] = useState<Edited>()
  const [note, setNote] = useState('')
  return (
    <>
      <PageHead
        title={t('settings.tags.title')}
        lede={tags && t('settings.tags.lede', { count: tags.length })}
      />
      <SettingsColumns>
        <p role="status" className="small soft" style={{ margin: note ? 0 : '0 0 -20px' }}>
          {note}
        </p>
        <Loaded
          query={{ data: tags, error, refetch }}
          title={t('errors.list')}
          empty={<Empty title={t('settings.tags.none')}>{t('settings.tags.noneHint')}</Empty>}
        >
          {(tags) => <TagTable tags={tags} onEdit={setEdited} />}
        </Loaded>
      </SettingsColumns>
      <ChangeWindow
        edited={edited}
        onDone={(text) => {
          setNote(text)
          setEdited(undefined)
        }}
        onClose={() => setEdited(undefined)}
      />
    </>
  )
}

type TableProps = { tags: TagValue[]; onEdit: (edited: Edited) => void }

function TagTable({ tags, onEdit }: TableProps) {
  const { t } = useTranslation()
  const columns = ['name', 'value', 'clients', 'appointments', 'others', 'automations'] as const
  return (
    // Scrolls by keyboard, too. Relative, because the hidden heading of the actions is absolute.
    <div
      className="card"
      style={{ position: 'relative', overflowX: 'auto' }}
      tabIndex={0}
      role="region"
      aria-label={t('settings.tags.title')}
    >
      <SettingsTable head={columns.map((name) => t(`settings.tags.columns.${name}`))}>
        {tags.map((tag) => (
          <tr key={JSON.stringify([tag.name, tag.value])}>
            <td dir="auto">{tag.name}</td>
            <td dir="auto" style={{ minWidth: 110 }}>
              <b className="strong">{tag.value}</b>
            </td>
            <td>{tag.clients}</td>
            <td>{tag.appointments}</td>
            <td>{tag.others}</td>
            <td>{tag.eventDefinitions}</td>
            <td>
              {isUsed(tag) && (
                <span className="row" style={{ justifyContent: 'flex-end' }}>
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={t('settings.tags.renameOf', textValues(tag))}
                    onClick={() => onEdit({ tag, isDelete: false })}
                  >
                    {t('settings.tags.rename')}
                  </Button>
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={t('settings.tags.deleteOf', textValues(tag))}
                    onClick={() => onEdit({ tag, isDelete: true })}
                  >
                    {t('settings.tags.delete')}
                  </Button>
                </span>
              )}
            </td>
          </tr>
        ))}
      </SettingsTable>
    </div>
  )
}

const textValues = ({ name, value }: TagValue) => ({ name, value })

/** A value that only automations ask for is changed there. */
const isUsed = ({ clients, appointments, others }: TagValue) => clients + appointments + others > 0

type WindowProps = {
  edited: Edited | undefined
  onDone: (note: string) => void
  onClose: () => void
}

function ChangeWindow({ edited, onDone, onClose }: WindowProps) {
  const { t } = useTranslation()
  const title = edited?.isDelete ? 'deleteOf' : 'renameOf'
  return (
    <FormWindow
      isOpen={edited !== undefined}
      title={edited ? t(`settings.tags.${title}`, textValues(edited.tag)) : ''}
      onClose={onClose}
    >
      {edited && <ChangeForm {...edited} onDone={onDone} />}
    </FormWindow>
  )
}

const TYPING_MS = 300

function ChangeForm({ tag, isDelete, onDone }: Edited & { onDone: (note: string) => void }) {
  const { t } = useTranslation()
  const { name, value, eventDefinitions } = tag
  const [typed, setTyped] = useState(value)
  const newValue = isDelete ? null : typed.trim()
  const isChange = newValue !== '' && newValue !== value
  const { data: tags = [] } = useQuery(tagsQuery)
  const isMerge = isChange && tags.some((tag) => tag.name === name && tag.value === newValue)
  const [settled] = useDebouncedValue(newValue, TYPING_MS)
  const isSettled = isChange && settled === newValue
  const plan = useQuery({
    ...tagPlanQuery(isSettled ? { name, value, newValue } : undefined),
    placeholderData: keepPreviousData,
  })
  const form = useForm(async () => {
    const { changed, refused } = await changeTag({ name, value, newValue })
    onDone(
      refused > 0
        ? t('settings.tags.refused', { count: refused })
        : t('settings.tags.changed', { count: changed }),
    )
  })
  return (
    <form className={classes.form} onSubmit={form.onSubmit}>
      {!isDelete && (
        <TextInput
          label={t('settings.tags.newValue', { name })}
          value={typed}
          maxLength={300}
          data-autofocus
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      )}
      <div aria-live="polite" className="small">
        {isMerge && newValue !== null && (
          <p className="amber">{t('settings.tags.merges', { value: newValue })}</p>
        )}
        {isChange && plan.data && !plan.error && <Effect plan={plan.data} />}
      </div>
      {isChange && plan.error && <Failure error={plan.error} onRetry={() => void plan.refetch()} />}
      {eventDefinitions > 0 && (
        <p className="small amber" style={{ margin: 0 }}>
          {t('settings.tags.automations', { count: eventDefinitions, value })}
        </p>
      )}
      <SubmitRow
        label={t(isDelete ? 'settings.tags.delete' : 'settings.tags.rename')}
        form={form}
        disabled={!isSettled || !plan.data || plan.isPlaceholderData || plan.error !== null}
        {...(isDelete && { color: 'clay' })}
      />
    </form>
  )
}

type Plan = { changed: number; create: number; cancel: number; isComplete: boolean }

function Effect({ plan: { changed, create, cancel, isComplete } }: { plan: Plan }) {
  const { t } = useTranslation()
  return (
    <>
      {t(isComplete ? 'settings.tags.effect' : 'settings.tags.effectAtLeast', { count: changed })}{' '}
      {t('settings.tags.cancels', { count: cancel })}{' '}
      {t('settings.tags.creates', { count: create })}
    </>
  )
}
