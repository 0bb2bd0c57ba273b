import { Button, Menu } from '@mantine/core'
import { ActionMenu } from '../components/action-menu.tsx'
import { IconPlus } from '../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import type { ObjectType } from '../../src/contract/event-type.ts'
import { automationsQuery } from '../api/automations.ts'
import { useSession } from '../api/session.ts'
import type { StatusName } from '../api/setup.ts'
import { statusKind, type StatusFields } from '../api/setup-objects.ts'
import { Loaded } from '../components/states.tsx'
import { SetupForm } from '../setup/setup-window.tsx'
import setup from '../setup/setup.module.css'
import { PageHead } from '../shell/page-head.tsx'
import { AutomationLink, RemoveWindow } from '../statuses/remove-window.tsx'
import {
  hasReminders,
  isTaken,
  OBJECT_TYPES,
  OUTCOMES,
  StatusFormFields,
} from '../statuses/status-fields.tsx'
import classes from '../statuses/statuses.module.css'
import { isFirst, usesOf, type StatusUse } from '../statuses/uses.ts'
import { FormWindow } from '../components/windows.tsx'
import { SettingsColumns } from '../setup/settings-frame.tsx'

export function SettingsStatusesPage() {
  const { t } = useTranslation()
  const canEdit = useSession().functions.includes('EDIT_SETUP')
  const { data: statuses, error, refetch } = useQuery(statusKind.listQuery)
  const usesOfStatus = useStatusUses()
  const [edited, setEdited] = useState<StatusName | 'new'>()
  const [removed, setRemoved] = useState<StatusName>()
  const [note, setNote] = useState('')
  return (
    <>
      <PageHead
        title={t('settings.statuses.title')}
        lede={statuses && t('settings.statuses.lede', { count: statuses.length })}
      >
        {canEdit && (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEdited('new')}>
            {t('settings.statuses.add')}
          </Button>
        )}
      </PageHead>
      <SettingsColumns>
        {!canEdit && <p className="soft small">{t('words.readOnly')}</p>}
        <p role="status" className={`small soft ${classes.note}`}>
          {note}
        </p>
        <Loaded query={{ data: statuses, error, refetch }} title={t('errors.list')}>
          {(statuses) => (
            <Groups
              statuses={statuses}
              usesOf={usesOfStatus}
              actions={canEdit ? { onEdit: setEdited, onRemove: setRemoved } : undefined}
            />
          )}
        </Loaded>
      </SettingsColumns>
      <EditWindow
        edited={edited}
        statuses={statuses ?? []}
        usesOf={usesOfStatus}
        onSaved={({ label }) => {
          setNote(t('settings.setup.saved', { name: label }))
          setEdited(undefined)
        }}
        onClose={() => setEdited(undefined)}
      />
      <RemoveWindow
        status={removed}
        uses={removed ? usesOfStatus(removed) : []}
        onRemoved={({ label }) => {
          setNote(t('settings.statuses.removed', { label }))
          setRemoved(undefined)
        }}
        onClose={() => setRemoved(undefined)}
      />
    </>
  )
}

type UsesOf = (status: StatusName) => StatusUse[]

function useStatusUses(): UsesOf {
  const { business, functions } = useSession()
  const { data: automations = [] } = useQuery({
    ...automationsQuery,
    enabled: functions.includes('VIEW_DEFINITIONS'),
  })
  return (status) => usesOf(status, business, automations)
}

type WindowProps = {
  edited: StatusName | 'new' | undefined
  statuses: StatusName[]
  usesOf: UsesOf
  onSaved: (status: StatusName) => void
  onClose: () => void
}

function EditWindow({ edited, statuses, usesOf, onSaved, onClose }: WindowProps) {
  const { t } = useTranslation()
  const item = edited === 'new' ? undefined : edited
  const form = {
    kind: statusKind,
    onSaved,
    fields: (form: Parameters<typeof StatusFormFields>[0]['form']) => (
      <StatusFormFields
        form={form}
        item={item}
        uses={item ? usesOf(item) : []}
        statuses={statuses}
      />
    ),
    valueInWords: (name: keyof StatusFields, draft: StatusFields) =>
      name === 'outcome'
        ? t(`settings.statuses.outcomes.${draft.objectType}.${draft.outcome}`)
        : typeof draft[name] === 'boolean'
          ? t(draft[name] ? 'settings.statuses.yes' : 'settings.statuses.no')
          : undefined,
  }
  return (
    <FormWindow
      isOpen={edited !== undefined}
      onClose={onClose}
      title={item ? item.label : t('settings.statuses.add')}
    >
      {edited && (
        <SetupForm
          {...form}
          id={item && statusKind.idOf(item)}
          canSave={(draft) => item !== undefined || !isTaken(draft, statuses)}
        />
      )}
    </FormWindow>
  )
}

type Actions = { onEdit: (status: StatusName) => void; onRemove: (status: StatusName) => void }

type GroupsProps = {
  statuses: StatusName[]
  usesOf: UsesOf
  /** Absent for users who may not change them. */
  actions: Actions | undefined
}

function Groups({ statuses, ...props }: GroupsProps) {
  return OBJECT_TYPES.map((objectType) => (
    <Group
      key={objectType}
      objectType={objectType}
      statuses={statuses.filter((status) => status.objectType === objectType)}
      {...props}
    />
  ))
}

function Group({
  objectType,
  statuses,
  usesOf,
  actions,
}: GroupsProps & { objectType: ObjectType }) {
  const { t } = useTranslation()
  const title = t(`settings.statuses.of.${objectType}`)
  return (
    <section className="card">
      <h2 className={classes.title}>{title}</h2>
      <div role="table" aria-label={title}>
        <div role="rowgroup">
          <div role="row" className={`list-row list-head ${classes.row}`}>
            <span role="columnheader">{t('settings.statuses.status')}</span>
            <span role="columnheader">{t('settings.setup.fields.outcome')}</span>
            <span role="columnheader">{t('settings.statuses.reminders')}</span>
            <span role="columnheader">{t('settings.statuses.usedFor')}</span>
            <span role="columnheader">
              <span className="visually-hidden">{t('form.actions')}</span>
            </span>
          </div>
        </div>
        <div role="rowgroup">
          {statuses.toSorted(compareStatuses).map((status) => (
            <Row key={status.status} status={status} uses={usesOf(status)} actions={actions} />
          ))}
        </div>
      </div>
    </section>
  )
}

/** In the order of an appointment's life; those of the same outcome stay in the order of the list. */
const compareStatuses = (a: StatusName, b: StatusName) =>
  Number(isFirst(b)) - Number(isFirst(a)) ||
  OUTCOMES.indexOf(a.outcome) - OUTCOMES.indexOf(b.outcome)

type RowProps = { status: StatusName; uses: StatusUse[]; actions: Actions | undefined }

function Row({ status, uses, actions }: RowProps) {
  const { t } = useTranslation()
  const { objectType, label, outcome } = status
  return (
    <div role="row" className={`list-row ${classes.row}`}>
      <span role="cell" className={classes.name}>
        {actions ? (
          <button
            type="button"
            className={setup.name}
            dir="auto"
            onClick={() => actions.onEdit(status)}
          >
            {label}
          </button>
        ) : (
          <b dir="auto">{label}</b>
        )}
        <span className={`faint mono ${classes.code}`}>{status.status}</span>
      </span>
      <span role="cell" className="soft" data-label={t('settings.setup.fields.outcome')}>
        {t(`settings.statuses.outcomes.${objectType}.${outcome}`)}
      </span>
      <span role="cell" className="soft" data-label={t('settings.statuses.reminders')}>
        {t(`settings.statuses.sent.${remindersOf(status)}`)}
      </span>
      <span role="cell" className="soft" data-label={t('settings.statuses.usedFor')}>
        <UsedFor objectType={objectType} uses={uses} />
      </span>
      <span role="cell" className={classes.menu}>
        {actions && <StatusMenu status={status} actions={actions} />}
      </span>
    </div>
  )
}

function remindersOf({ objectType, live, liveAfter }: StatusName) {
  if (!hasReminders(objectType)) return 'never'
  if (live) return liveAfter ? 'all' : 'before'
  return liveAfter ? 'after' : 'none'
}

function UsedFor({ objectType, uses }: { objectType: ObjectType; uses: StatusUse[] }) {
  const { t } = useTranslation()
  return uses.map((use) =>
    use.kind === 'automation' ? (
      <span key={use.automation.eventDefnId} className={classes.use}>
        <AutomationLink automation={use.automation} />
      </span>
    ) : (
      <span key={use.kind} className={classes.use}>
        {use.kind === 'first'
          ? t(`settings.statuses.first.${objectType}`)
          : t(`settings.statuses.links.${use.kind}`)}
      </span>
    ),
  )
}

function StatusMenu({ status, actions }: { status: StatusName; actions: Actions }) {
  const { t } = useTranslation()
  return (
    <ActionMenu label={t('settings.setup.actionsOf', { name: status.label })}>
      <Menu.Item onClick={() => actions.onEdit(status)}>{t('settings.setup.edit')}</Menu.Item>
      {!isFirst(status) && (
        <Menu.Item color="clay" onClick={() => actions.onRemove(status)}>
          {t('settings.statuses.removeItem')}
        </Menu.Item>
      )}
    </ActionMenu>
  )
}
