import { Checkbox } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { canShareViews, viewKind, type ReportView } from '../api/report-views.ts'
import type { PrintRequest } from '../api/reports.ts'
import { useSession } from '../api/session.ts'
import { messageOf } from '../components/error-message.tsx'
import { faultAt } from '../components/faults.ts'
import { Failure } from '../components/states.tsx'
import { NewView, ViewLine, ViewLines, ViewsPopover } from '../components/views-popover.tsx'
import { storedOf } from './search.ts'
import { useViewActions, ViewButtons } from './view-actions.tsx'

type Props = {
  request: PrintRequest
  onOpen: (view: ReportView) => void
  onNote: (note: ReactNode) => void
}

/** The views of a report: opens one, and saves the filters of the page as another. */
export function ReportViews({ request, onOpen, onNote }: Props) {
  const { t } = useTranslation()
  const [isOpen, { close, set }] = useDisclosure()
  const { onAction, windows } = useViewActions(onNote)
  const { data, error, refetch } = useQuery(viewKind.listQuery)
  const views = data?.filter(({ reportId }) => reportId === request.reportId) ?? []
  return (
    <>
      <ViewsPopover isOpen={isOpen} onChange={set}>
        {error && !data && (
          <Failure title={t('errors.list')} error={error} onRetry={() => void refetch()} />
        )}
        <ViewLines>
          {views.map((view) => (
            <ViewLine
              key={view.reportViewId}
              name={view.name}
              {...(view.shared && { hint: t('reports.views.shared') })}
              onOpen={() => {
                close()
                onOpen(view)
              }}
            >
              <ViewButtons
                view={view}
                onAction={(action) => {
                  close()
                  onAction(action)
                }}
              />
            </ViewLine>
          ))}
        </ViewLines>
        <SaveView
          request={request}
          views={views}
          onSaved={({ name }) => {
            close()
            onNote(t('settings.setup.saved', { name }))
          }}
        />
      </ViewsPopover>
      {windows}
    </>
  )
}

type SaveProps = {
  request: PrintRequest
  views: ReportView[]
  onSaved: (view: ReportView) => void
}

/** A view of their own with the same name is replaced. */
function SaveView({ request, views, onSaved }: SaveProps) {
  const { t } = useTranslation()
  const session = useSession()
  const [isShared, setShared] = useState(false)
  const save = useMutation({
    mutationFn: (name: string) => {
      const known = views.find((view) => view.name === name && view.userId === session.userId)
      const shared = isShared || (known?.shared ?? false)
      const fields = { name, reportId: request.reportId, ...storedOf(request), shared }
      return viewKind.write(known, fields)
    },
    onSuccess: onSaved,
  })
  const error = save.error && (faultAt(save.error, 'name') ?? messageOf(save.error, t))
  return (
    <NewView
      error={error ?? undefined}
      onSave={(name) =>
        save.mutateAsync(name).then(
          () => true,
          () => false,
        )
      }
    >
      {canShareViews(session) && (
        <Checkbox
          mt={8}
          size="xs"
          label={t('reports.views.share')}
          checked={isShared}
          onChange={(event) => setShared(event.currentTarget.checked)}
        />
      )}
    </NewView>
  )
}
