import { Select, TextInput } from '@mantine/core'
import { IconX } from '../components/icons.tsx'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import type { ReportOptions } from '../api/reports.ts'
import { faultAt } from '../components/faults.ts'
import { useBusinessTimeFormat } from '../components/time.ts'
import { useFilterWords } from './filter-words.ts'
import classes from './reports.module.css'
import {
  COMPARED,
  daysOf,
  DEFAULT_COMPARED,
  DEFAULT_PERIOD,
  PERIODS,
  type Period,
  type ReportSearch,
} from './search.ts'

export type FilterChange = (more: {
  [Name in keyof ReportSearch]?: ReportSearch[Name] | undefined
}) => void

type PeriodProps = { search: ReportSearch; error: unknown; onChange: FilterChange }

const FREE = 'free' as const

/** A ready-made period, or two days. The days are always shown, and changing one makes the range free. */
export function PeriodFields({ search, error, onChange }: PeriodProps) {
  const { t } = useTranslation()
  const days = daysOf(search, useBusinessTimeFormat().isoDay(Date.now()))
  const isFree = search.from !== undefined || search.to !== undefined
  const isReversed = days.to !== '' && days.to < days.from
  const endFault = faultAt(error, 'endDate')
  return (
    <>
      <Select
        aria-label={t('words.period')}
        w={174}
        allowDeselect={false}
        value={isFree ? FREE : (search.period ?? DEFAULT_PERIOD)}
        onChange={(value) =>
          value === FREE
            ? onChange({ ...days, period: undefined })
            : onChange({ period: value as Period, from: undefined, to: undefined })
        }
        data={[...PERIODS, FREE].map((value) => ({ value, label: t(`reports.periods.${value}`) }))}
      />
      <DayField
        label={t('words.from')}
        day={days.from}
        fault={faultAt(error, 'startDate')}
        onChange={(from) => onChange({ ...days, from, period: undefined })}
      />
      <DayField
        label={t('words.until')}
        day={days.to}
        fault={endFault && isReversed ? t('reports.endBeforeStart') : endFault}
        onChange={(to) => onChange({ ...days, to, period: undefined })}
      />
      <Select
        aria-label={t('reports.comparedWith')}
        w={290}
        allowDeselect={false}
        value={search.compare ?? DEFAULT_COMPARED}
        onChange={(value) => onChange({ compare: COMPARED.slice(1).find((one) => one === value) })}
        data={COMPARED.map((value) => ({ value, label: t(`reports.compared.${value}`) }))}
      />
    </>
  )
}

type DayProps = {
  label: string
  day: string
  fault?: string | undefined
  onChange: (day: string) => void
}

const TYPING_MS = 400

/** Passes a day on when the person has stopped typing, because the digits of a year come one by one. */
export function DayField({ label, day, fault, onChange }: DayProps) {
  const [typed, setTyped] = useState(day)
  const pass = useDebouncedCallback(onChange, TYPING_MS)
  useEffect(() => {
    // Another field has changed the day, which replaces the typed text.
    pass.cancel()
    setTyped(day)
  }, [day, pass])
  return (
    <TextInput
      type="date"
      aria-label={label}
      leftSection={<span className="tiny soft">{label}</span>}
      leftSectionWidth={48}
      w={182}
      value={typed}
      error={fault}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        pass(event.currentTarget.value)
      }}
    />
  )
}

type FilterProps = { search: ReportSearch; options: ReportOptions; onChange: FilterChange }

/** The filters and groupings that the report offers. */
export function ReportFilters({ search, options, onChange }: FilterProps) {
  const { t } = useTranslation()
  const { groupBy, thenBy } = search
  const ids = (list: ReportOptions['staff']) =>
    list.map(({ id, name }) => ({ value: String(id), label: name }))
  const groups = options.groupBy.map((value) => ({ value, label: t(`reports.groups.${value}`) }))
  return (
    <>
      <Choice
        name="location"
        value={search.location}
        data={ids(options.locations)}
        onChange={(value) => onChange({ location: idOf(value) })}
      />
      <Choice
        name="staff"
        value={search.staff}
        data={ids(options.staff)}
        onChange={(value) => onChange({ staff: idOf(value) })}
      />
      <Choice
        name="service"
        value={search.service}
        data={ids(options.services)}
        onChange={(value) => onChange({ service: idOf(value) })}
      />
      <Choice
        name="status"
        value={search.status}
        data={options.statuses.map(({ status, label }) => ({ value: status, label }))}
        onChange={(status) => onChange({ status })}
      />
      <Choice
        name="groupBy"
        value={groupBy}
        data={groups}
        onChange={(value) => onChange({ groupBy: value as typeof groupBy, thenBy: undefined })}
      />
      {groupBy && (
        <Choice
          name="thenBy"
          value={thenBy}
          data={groups.filter(({ value }) => value !== groupBy)}
          onChange={(value) => onChange({ thenBy: value as typeof thenBy })}
        />
      )}
      {search.more && (
        <MoreFilters
          reportId={options.reportId}
          filters={search.more}
          onRemove={() => onChange({ more: undefined })}
        />
      )}
    </>
  )
}

type MoreProps = {
  reportId: number
  filters: NonNullable<ReportSearch['more']>
  onRemove: () => void
}

/** Filters without a field, such as several staff or a tag: they can only be removed. */
function MoreFilters({ reportId, filters, onRemove }: MoreProps) {
  const { t } = useTranslation()
  const words = useFilterWords(reportId, { filters, groupBy: null, locationId: null })
  return (
    <button
      type="button"
      className={`button ${classes.more}`}
      aria-label={t('reports.filterWords.remove', { words })}
      onClick={onRemove}
    >
      <span className="ellipsis" dir="auto">
        {words}
      </span>
      <IconX size={14} aria-hidden />
    </button>
  )
}

type ChoiceProps = {
  name: 'location' | 'staff' | 'service' | 'status' | 'groupBy' | 'thenBy'
  value: string | number | undefined
  data: { value: string; label: string }[]
  onChange: (value: string | undefined) => void
}

function Choice({ name, value, data, onChange }: ChoiceProps) {
  const { t } = useTranslation()
  if (data.length === 0) return null
  return (
    <Select
      className={classes.choice}
      aria-label={t(`reports.filters.${name}`)}
      placeholder={t(`reports.any.${name}`)}
      clearable
      searchable={data.length > 8}
      value={value === undefined ? null : String(value)}
      onChange={(chosen) => onChange(chosen ?? undefined)}
      data={data}
    />
  )
}

const idOf = (value: string | undefined) => (value === undefined ? undefined : Number(value))
