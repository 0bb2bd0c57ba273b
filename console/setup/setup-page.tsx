import { Button, Menu, Switch } from '@mantine/core'
import { ActionMenu } from '../components/action-menu.tsx'
import { IconPlus } from '../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { useSession } from '../api/session.ts'
import type { SetupItem, SetupKind } from '../api/setup-objects.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { Empty, Loaded } from '../components/states.tsx'
import settings from './settings.module.css'
import { FormWindow } from '../components/windows.tsx'
import { SettingsColumns, SettingsTable } from './settings-frame.tsx'
import { PageHead } from '../shell/page-head.tsx'
import { SetupForm, type FormProps } from './setup-window.tsx'
import classes from './setup.module.css'

type SetupName = 'locations' | 'staff' | 'services'
type Column<Item> = { label: string; cell: (item: Item) => ReactNode }

type Props<Item extends SetupItem, Draft extends object> = Omit<
  FormProps<Item, Draft>,
  'kind' | 'onSaved'
> & {
  kind: SetupKind<Item, Draft>
  /** The part of the texts. */
  name: SetupName
  nameOf: (item: Item) => string
  /** The second line of a row. */
  detailOf: (item: Item) => string | null
  columns: Column<Item>[]
}

/** The list and the form of locations, staff or services. */
export function SetupPage<Item extends SetupItem, Draft extends object>(props: Props<Item, Draft>) {
  const { kind, name, nameOf, detailOf, columns, ...form } = props
  const { t } = useTranslation()
  const canEdit = useSession().functions.includes('EDIT_SETUP')
  const { data: items, error, refetch } = useQuery(kind.listQuery)
  const [edited, setEdited] = useState<Item | 'new'>()
  const [note, setNote] = useState<ReactNode>()
  const active = items?.filter((item) => item.active)
  const formProps = {
    ...form,
    kind,
    onSaved: (saved: Item) => {
      setNote(t('settings.setup.saved', { name: nameOf(saved) }))
      setEdited(undefined)
    },
  }
  return (
    <>
      <PageHead
        title={t(`settings.${name}.title`)}
        lede={active && t(`settings.${name}.lede`, { count: active.length })}
      >
        {canEdit && (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEdited('new')}>
            {t(`settings.${name}.add`)}
          </Button>
        )}
      </PageHead>
      <SettingsColumns>
        {!canEdit && <p className="soft small">{t('words.readOnly')}</p>}
        <Loaded query={{ data: items, error, refetch }} title={t('errors.list')}>
          {(items) => (
            <List
              {...{ kind, name, nameOf, detailOf, columns, items, note }}
              onEdit={canEdit ? setEdited : undefined}
              onNote={setNote}
            />
          )}
        </Loaded>
      </SettingsColumns>
      <FormWindow
        isOpen={edited !== undefined}
        onClose={() => setEdited(undefined)}
        title={edited && edited !== 'new' ? nameOf(edited) : t(`settings.${name}.add`)}
        size="lg"
      >
        {edited && (
          <SetupForm {...formProps} id={edited === 'new' ? undefined : kind.idOf(edited)} />
        )}
      </FormWindow>
    </>
  )
}

type ListProps<Item extends SetupItem, Draft extends object> = Pick<
  Props<Item, Draft>,
  'kind' | 'name' | 'nameOf' | 'detailOf' | 'columns'
> & {
  items: Item[]
  note: ReactNode
  /** Absent for users who may not change it. */
  onEdit: ((item: Item | 'new') => void) | undefined
  onNote: (note: ReactNode) => void
}

function List<Item extends SetupItem, Draft extends object>(props: ListProps<Item, Draft>) {
  const { t } = useTranslation()
  const { kind, nameOf, columns, items, note } = props
  const [isAll, setAll] = useState(false)
  const inactive = items.filter(({ active }) => !active).length
  const shown = items
    .filter(({ active }) => active || isAll)
    .toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))
  return (
    <>
      <div className={classes.bar}>
        <p role="status" className="small soft grow" style={{ margin: 0 }}>
          {note}
        </p>
        {inactive > 0 && (
          <Switch
            size="xs"
            label={t('settings.setup.showInactive', { count: inactive })}
            checked={isAll}
            onChange={(event) => setAll(event.currentTarget.checked)}
          />
        )}
      </div>
      {shown.length === 0 ? (
        <NoItem name={props.name} onAdd={props.onEdit && (() => props.onEdit?.('new'))} />
      ) : (
        <div className={`card ${settings.scroll}`}>
          <SettingsTable head={[t('settings.setup.name'), ...columns.map(({ label }) => label)]}>
            {shown.map((item) => (
              <Row key={kind.idOf(item)} {...props} item={item} />
            ))}
          </SettingsTable>
        </div>
      )}
    </>
  )
}

type NoItemProps = { name: SetupName; onAdd: (() => void) | undefined }

function NoItem({ name, onAdd }: NoItemProps) {
  const { t } = useTranslation()
  return (
    <Empty
      title={t(`settings.${name}.none`)}
      actions={
        onAdd && (
          <>
            <button type="button" className="button" onClick={onAdd}>
              {t(`settings.${name}.add`)}
            </button>
            <Link to="/import" className="button quiet">
              {t('words.importAFile')}
            </Link>
          </>
        )
      }
    >
      {t(`settings.${name}.noneHint`)}
    </Empty>
  )
}

function Row<Item extends SetupItem, Draft extends object>(
  props: ListProps<Item, Draft> & { item: Item },
) {
  const { t } = useTranslation()
  const { item, nameOf, detailOf, columns, onEdit } = props
  const name = nameOf(item)
  return (
    <tr className={classes.row} data-inactive={!item.active || undefined}>
      <td>
        <span className={classes.first}>
          {onEdit ? (
            <button type="button" className={classes.name} dir="auto" onClick={() => onEdit(item)}>
              {name}
            </button>
          ) : (
            <b dir="auto">{name}</b>
          )}{' '}
          {!item.active && (
            <span className={`chip ${classes.inactive}`}>{t('settings.setup.inactive')}</span>
          )}
          <span className={`faint tiny ellipsis ${classes.detail}`} dir="auto">
            {detailOf(item)}
          </span>
        </span>
      </td>
      {columns.map(({ label, cell }) => (
        <td key={label} className="soft" dir="auto">
          {cell(item)}
        </td>
      ))}
      <td style={{ textAlign: 'right' }}>{onEdit && <ItemMenu {...props} onEdit={onEdit} />}</td>
    </tr>
  )
}

type MenuProps<Item extends SetupItem, Draft extends object> = ListProps<Item, Draft> & {
  item: Item
  onEdit: (item: Item) => void
}

function ItemMenu<Item extends SetupItem, Draft extends object>({
  kind,
  item,
  nameOf,
  onEdit,
  onNote,
}: MenuProps<Item, Draft>) {
  const { t } = useTranslation()
  const name = nameOf(item)
  const setActive = (active: boolean) =>
    kind.saveActive(item, active).then(
      () => onNote(t(`settings.setup.${active ? 'activated' : 'deactivated'}`, { name })),
      (error: unknown) => onNote(<ErrorMessage error={error} />),
    )
  return (
    <ActionMenu label={t('settings.setup.actionsOf', { name })}>
      <Menu.Item onClick={() => onEdit(item)}>{t('settings.setup.edit')}</Menu.Item>
      {item.active ? (
        <Menu.Item color="clay" onClick={() => void setActive(false)}>
          {t('settings.setup.deactivate')}
        </Menu.Item>
      ) : (
        <Menu.Item onClick={() => void setActive(true)}>{t('settings.setup.activate')}</Menu.Item>
      )}
    </ActionMenu>
  )
}
