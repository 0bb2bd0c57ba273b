import { SegmentedControl } from '@mantine/core'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { recallKind, recallsQuery, type Recall, type RecallFields } from '../api/objects.ts'
import { VisitMarks } from '../calendar/visit.tsx'
import { Empty } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { ClientField, MomentField, SetupField, StatusField } from '../objects/fields.tsx'
import { ObjectPage } from '../objects/object-page.tsx'
import { ClientLink, MessagesAndWhy, NewButton, useStatusLabel } from '../objects/object-parts.tsx'
import { ObjectTable, type Column } from '../objects/object-table.tsx'
import type { Form } from '../records/use-record.ts'
import { PageHead } from '../shell/page-head.tsx'

const FORM = {
  kind: recallKind,
  labels: 'objects.fields',
}

const VIEWS = ['due', 'all'] as const

/** The clients who should come again. */
export function RecallsPage() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [view, setView] = useState<string>('due')
  return (
    <>
      <PageHead title={t('recalls.title')} lede={t('recalls.lede')}>
        <SegmentedControl
          aria-label={t('calendar.view')}
          value={view}
          onChange={setView}
          data={VIEWS.map((value) => ({ value, label: t(`recalls.${value}`) }))}
        />
        <NewButton
          label={t('recalls.new')}
          needs="EDIT_SCHEDULE"
          {...FORM}
          fields={(form) => (
            <>
              <ClientField {...form.at('clientId')} />
              <Fields form={form} />
            </>
          )}
          onSaved={({ recallId }) =>
            void navigate({ to: '/recalls/$recallId', params: { recallId } })
          }
        />
      </PageHead>
      <ObjectTable
        label={t('recalls.title')}
        query={recallsQuery(view === 'due' ? { status: 'DUE' } : {})}
        keyOf={({ recallId }) => recallId}
        columns={useColumns()}
        empty={<Empty title={t('recalls.none')}>{t('recalls.noneHint')}</Empty>}
      />
    </>
  )
}

function useColumns(): Column<Recall>[] {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const labelOf = useStatusLabel('RECALL')
  return [
    {
      label: t('words.client'),
      cell: ({ recallId, clientName }) => (
        <Link to="/recalls/$recallId" params={{ recallId }} className="strong">
          {clientName}
        </Link>
      ),
    },
    {
      label: t('recalls.dueTime'),
      cell: ({ dueTime }) => <span className="numbers">{format.day(dueTime)}</span>,
    },
    { label: t('objects.services'), cell: ({ reasonName }) => reasonName },
    { label: t('objects.professionals'), cell: ({ professionalName }) => professionalName },
    { label: t('calendar.status'), cell: ({ status }) => labelOf(status) },
    { label: t('words.messages'), cell: (item) => <VisitMarks visit={item} /> },
  ]
}

function Fields({ form: { at } }: { form: Form<RecallFields> }) {
  const { t } = useTranslation()
  return (
    <>
      <MomentField {...at('dueTime')} label={t('recalls.dueTime')} required />
      <SetupField {...at('reasonId')} of="services" />
      <SetupField {...at('professionalId')} of="professionals" />
      <SetupField {...at('locationId')} of="locations" />
    </>
  )
}

export function RecallPage() {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const labelOf = useStatusLabel('RECALL')
  const { recallId } = useParams({ from: '/shell/recalls/$recallId' })
  return (
    <ObjectPage
      {...FORM}
      id={recallId}
      needs="EDIT_SCHEDULE"
      title={({ clientId }) => <ClientLink clientId={clientId} />}
      lede={({ dueTime }) => t('recalls.dueOn', { time: format.moment(dueTime) })}
      back={
        <Link to="/recalls" className="small">
          {t('recalls.title')}
        </Link>
      }
      fields={(form) => (
        <>
          <StatusField {...form.at('status')} objectType="RECALL" />
          <Fields form={form} />
        </>
      )}
      readOnly={({ status }) => labelOf(status)}
    >
      {({ dueTime }) => (
        <MessagesAndWhy
          kind={recallKind}
          id={recallId}
          anchor={{ text: t('recalls.dueTime'), time: dueTime }}
        />
      )}
    </ObjectPage>
  )
}
