import { ActionIcon, Checkbox } from '@mantine/core'
import { IconPencil, IconX } from '../components/icons.tsx'
import { useState, type ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import {
  canChangeView,
  canShareViews,
  viewKind,
  type ReportView,
  type ViewFields,
} from '../api/report-views.ts'
import { useSession } from '../api/session.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { ConfirmWindow, FormWindow } from '../components/windows.tsx'
import { NameField } from '../setup/fields.tsx'
import type { Form } from '../records/use-record.ts'
import { SetupForm } from '../setup/setup-window.tsx'

type Action = { name: 'change' | 'delete'; view: ReportView }

/** Changing and deleting a view. The windows are drawn by the caller, outside of a popover. */
export function useViewActions(onNote: (note: ReactNode) => void) {
  const { t } = useTranslation()
  const [action, setAction] = useState<Action>()
  const close = () => setAction(undefined)
  const remove = (view: ReportView) =>
    void viewKind.saveActive(view, false).then(
      () => onNote(t('reports.views.deleted', { name: view.name })),
      (error: unknown) => onNote(<ErrorMessage error={error} />),
    )
  const isDeleting = action?.name === 'delete'
  const windows = action && (
    <>
      <ConfirmWindow
        isOpen={isDeleting}
        title={t('reports.views.deleteTitle', { name: action.view.name })}
        hint={t(action.view.shared ? 'reports.views.deleteShared' : 'reports.views.deleteHint')}
        button={t('reports.views.deleteButton')}
        onClose={close}
        onConfirm={() => remove(action.view)}
      />
      <FormWindow isOpen={!isDeleting} title={t('reports.views.change')} onClose={close}>
        <SetupForm
          kind={viewKind}
          id={viewKind.idOf(action.view)}
          labels="reports.views.fields"
          valueInWords={(name, draft) => {
            if (name === 'compareWith') return t(`reports.compared.${draft.compareWith}`)
            if (name !== 'shared') return undefined
            return t(draft.shared ? 'words.yesInSentence' : 'words.noInSentence')
          }}
          fields={(form) => <Fields form={form} />}
          onSaved={({ name }) => {
            onNote(t('settings.setup.saved', { name }))
            close()
          }}
        />
      </FormWindow>
    </>
  )
  return { onAction: setAction, windows }
}

function Fields({ form: { at } }: { form: Form<ViewFields> }) {
  const { t } = useTranslation()
  const shared = at('shared')
  const canShare = canShareViews(useSession())
  return (
    <>
      <NameField
        {...at('name')}
        label={t('reports.views.fields.name')}
        maxLength={200}
        data-autofocus
      />
      {(canShare || shared.value) && (
        <Checkbox
          label={t('reports.views.share')}
          checked={shared.value}
          error={shared.error}
          onChange={(event) => shared.onChange(event.currentTarget.checked)}
        />
      )}
    </>
  )
}

type ButtonsProps = { view: ReportView; onAction: (action: Action) => void }

/** Nothing if the person may not change the view. */
export function ViewButtons({ view, onAction }: ButtonsProps) {
  const { t } = useTranslation()
  if (!canChangeView(view, useSession())) return null
  return (
    <>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('reports.views.changeOf', { name: view.name })}
        onClick={() => onAction({ name: 'change', view })}
      >
        <IconPencil size={15} aria-hidden />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('views.delete', { name: view.name })}
        onClick={() => onAction({ name: 'delete', view })}
      >
        <IconX size={15} aria-hidden />
      </ActionIcon>
    </>
  )
}
