import { Checkbox, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import {
  figuresQuery,
  targetKind,
  type ReportTarget,
  type TargetFields,
} from '../api/report-targets.ts'
import { reportsQuery } from '../api/reports.ts'
import { useSession } from '../api/session.ts'
import { locationKind } from '../api/setup-objects.ts'
import { FormWindow } from '../components/windows.tsx'
import type { Form } from '../records/use-record.ts'
import { LineField, NumberField } from '../setup/fields.tsx'
import { SetupForm } from '../setup/setup-window.tsx'
import { FiltersField, PeopleField, useUsernames } from './schedule-fields.tsx'
import { RANGES } from './schedule-words.ts'

export type EditedTarget = { target: ReportTarget | undefined }

type Props = { edited: EditedTarget | undefined; onClose: () => void }

/** The form of a target on a figure: a new one, or a stored one. */
export function TargetWindow({ edited, onClose }: Props) {
  const { t } = useTranslation()
  const { userId } = useSession()
  const nameOf = useUsernames()
  return (
    <FormWindow
      isOpen={edited !== undefined}
      onClose={onClose}
      title={t('reports.targets.title')}
      size="lg"
    >
      {edited && (
        <SetupForm
          kind={targetKind}
          labels="reports.targets.fields"
          id={edited.target && targetKind.idOf(edited.target)}
          suggested={
            edited.target
              ? undefined
              : { direction: 'ABOVE', range: 'LAST_30_DAYS', userIdList: [userId] }
          }
          canSave={({ reportId, kpi, value }) =>
            reportId !== undefined && kpi !== undefined && typeof value === 'number'
          }
          valueInWords={(name, draft) => {
            if (name === 'userIdList') return draft.userIdList.map(nameOf).join(', ')
            if (name === 'range' && draft.range) return t(`reports.mail.ranges.${draft.range}`)
            if (name === 'direction' && draft.direction)
              return t(`reports.targets.is.${draft.direction}`)
            if (name === 'paused') return t(draft.paused ? 'words.yes' : 'words.no')
            return undefined
          }}
          fields={(form) => <Fields form={form} />}
          onSaved={onClose}
        />
      )}
    </FormWindow>
  )
}

const DIRECTIONS = ['ABOVE', 'BELOW'] as const

function Fields({ form: { at, draft } }: { form: Form<TargetFields> }) {
  const { t } = useTranslation()
  const { data: locations = [] } = useQuery(locationKind.listQuery)
  const label = (name: keyof TargetFields) => t(`reports.targets.fields.${name}`)
  return (
    <>
      <FigureFields at={at} draft={draft} />
      <Select
        {...at('range')}
        label={label('range')}
        allowDeselect={false}
        value={draft.range ?? null}
        data={RANGES.map((one) => ({ value: one, label: t(`reports.mail.ranges.${one}`) }))}
        onChange={(one) => one && at('range').onChange(one as ReportTarget['range'])}
      />
      <Select
        label={label('locationId')}
        error={at('locationId').error}
        clearable
        placeholder={t('reports.targets.allLocations')}
        data={locations
          .filter(({ active, locationId }) => active || locationId === draft.locationId)
          .map(({ locationId, name }) => ({ value: String(locationId), label: name }))}
        value={draft.locationId === null ? null : String(draft.locationId)}
        onChange={(id) => at('locationId').onChange(id === null ? null : Number(id))}
      />
      {draft.filters && (
        <FiltersField draft={{ ...draft, groupBy: null }} error={at('filters').error} />
      )}
      <PeopleField {...at('userIdList')} label={label('userIdList')} />
      <LineField
        {...at('name')}
        label={label('name')}
        placeholder={t('reports.targets.namePlaceholder')}
        maxLength={200}
      />
      <Checkbox
        label={label('paused')}
        checked={at('paused').value}
        onChange={(event) => at('paused').onChange(event.currentTarget.checked)}
      />
    </>
  )
}

type FigureProps = Pick<Form<TargetFields>, 'at' | 'draft'>

/** The report, and the figure of it. Another one may have no currency. */
function FigureSelects({ at, draft }: FigureProps) {
  const { t } = useTranslation()
  const { data: topics = [] } = useQuery(reportsQuery)
  const { data: figures = [] } = useQuery(figuresQuery(draft.reportId))
  const label = (name: 'reportId' | 'kpi') => t(`reports.targets.fields.${name}`)
  const { onChange: chooseReport, value: reportId, error } = at('reportId')
  return (
    <>
      <Select
        label={label('reportId')}
        error={error}
        searchable
        allowDeselect={false}
        data={topics
          .flatMap(({ reports }) => reports)
          .map((report) => ({ value: String(report.reportId), label: report.reportName }))}
        value={reportId === undefined ? null : String(reportId)}
        onChange={(id) => {
          chooseReport(Number(id))
          at('kpi').onChange(undefined)
          at('currency').onChange(null)
        }}
      />
      <Select
        {...at('kpi')}
        label={label('kpi')}
        allowDeselect={false}
        disabled={draft.reportId === undefined}
        data={figures.map(({ name, label: text }) => ({ value: name, label: text }))}
        value={draft.kpi ?? null}
        onChange={(name) => {
          at('kpi').onChange(name ?? undefined)
          at('currency').onChange(null)
        }}
      />
    </>
  )
}

/** The figure, and the value that it must not cross. */
function FigureFields({ at, draft }: FigureProps) {
  const { t } = useTranslation()
  const { data: figures = [] } = useQuery(figuresQuery(draft.reportId))
  const label = (name: keyof TargetFields) => t(`reports.targets.fields.${name}`)
  const unit = figures.find(({ name }) => name === draft.kpi)?.unit
  const currency = at('currency')
  return (
    <>
      <FigureSelects at={at} draft={draft} />
      <Select
        {...at('direction')}
        label={label('direction')}
        allowDeselect={false}
        value={draft.direction ?? null}
        data={DIRECTIONS.map((one) => ({ value: one, label: t(`reports.targets.is.${one}`) }))}
        onChange={(one) => one && at('direction').onChange(one as ReportTarget['direction'])}
      />
      <NumberField
        {...at('value')}
        min={Number.MIN_SAFE_INTEGER}
        label={unit ? t(`reports.targets.valueIn.${unit}`) : label('value')}
        value={draft.value ?? null}
        onChange={(value) => at('value').onChange(value ?? undefined)}
      />
      {unit === 'money' && (
        <TextInput
          label={label('currency')}
          description={t('reports.targets.currencyHint')}
          error={currency.error}
          maxLength={3}
          value={currency.value ?? ''}
          onChange={(event) => currency.onChange(event.currentTarget.value.toUpperCase() || null)}
        />
      )}
    </>
  )
}
