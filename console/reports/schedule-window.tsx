import { Checkbox, Select, TagsInput, TextInput } from '@mantine/core'
import { useTranslation } from '../texts/translate.ts'
import { scheduleKind, type ReportSchedule, type ScheduleFields } from '../api/report-schedules.ts'
import { useTimeFormat } from '../components/time.ts'
import { FormWindow } from '../components/windows.tsx'
import { LineField } from '../setup/fields.tsx'
import type { Form } from '../records/use-record.ts'
import { SetupForm } from '../setup/setup-window.tsx'
import { longName, WEEKDAYS } from '../setup/weekdays.ts'
import { useReportName } from './report-name.ts'
import classes from './reports.module.css'
import {
  CapturedHint,
  FiltersField,
  PeopleField,
  useTimeZoneHint,
  useUsernames,
} from './schedule-fields.tsx'
import { FREQUENCIES, RANGES, SCHEDULE_FORMATS, whenInWords } from './schedule-words.ts'

export type EditedSchedule =
  | { schedule: ReportSchedule }
  | { schedule: undefined; suggested: Partial<ScheduleFields> }

type Props = {
  edited: EditedSchedule | undefined
  onClose: () => void
  onSaved: (note: string) => void
}

/** Values that most schedules have. */
const USUAL = {
  frequency: 'WEEKLY',
  weekday: 'MONDAY',
  dayOfMonth: 1,
  range: 'LAST_WEEK',
} as const satisfies Partial<ScheduleFields>

/** The form of a report that is mailed regularly: a new one, or a stored one. */
export function ScheduleWindow({ edited, onClose, onSaved }: Props) {
  const { t } = useTranslation()
  const nameOf = useReportName()
  const format = useTimeFormat()
  const valueInWords = useValueInWords()
  const reportId = edited?.schedule ? edited.schedule.reportId : edited?.suggested.reportId
  const form = {
    kind: scheduleKind,
    labels: 'reports.mail.fields',
    valueInWords,
    fields: (form: Form<ScheduleFields>) => <Fields form={form} />,
    onSaved: (saved: ReportSchedule) => {
      const { nextRunTime } = saved.delivery
      onSaved(
        t('reports.mail.saved', {
          name: saved.name ?? nameOf(saved.reportId),
          when: whenInWords(saved, t),
          next: nextRunTime === null ? '–' : format.moment(nextRunTime),
        }),
      )
      onClose()
    },
  }
  return (
    <FormWindow
      isOpen={edited !== undefined}
      onClose={onClose}
      title={
        reportId ? t('reports.mail.titleOf', { name: nameOf(reportId) }) : t('reports.mail.title')
      }
      size="lg"
    >
      {edited && (
        <SetupForm
          {...form}
          id={edited.schedule && form.kind.idOf(edited.schedule)}
          suggested={edited.schedule ? undefined : { ...USUAL, ...edited.suggested }}
        />
      )}
    </FormWindow>
  )
}

/** The values of two versions, if another user saved the schedule in the meantime. */
function useValueInWords() {
  const { t } = useTranslation()
  const nameOf = useUsernames()
  return (name: keyof ScheduleFields, draft: ScheduleFields): string | undefined => {
    const { frequency, weekday, range, userIdList } = draft
    if (name === 'frequency' && frequency) return t(`reports.mail.frequencies.${frequency}`)
    if (name === 'weekday' && weekday) return longName(weekday)
    if (name === 'range' && range) return t(`reports.mail.ranges.${range}`)
    if (name === 'compareWith') return t(`reports.compared.${draft.compareWith}`)
    if (name === 'format') return t(`reports.formats.${draft.format}`)
    if (name === 'userIdList') return userIdList.map(nameOf).join(', ')
    if (name === 'addressList') return draft.addressList.join(', ')
    if (name === 'skipIfEmpty' || name === 'paused') {
      return t(draft[name] ? 'words.yes' : 'words.no')
    }
    return undefined
  }
}

function Fields({ form: { at, draft } }: { form: Form<ScheduleFields> }) {
  const { t } = useTranslation()
  const label = (name: keyof ScheduleFields) => t(`reports.mail.fields.${name}`)
  return (
    <>
      <WhenFields at={at} frequency={draft.frequency} locationId={draft.locationId} />
      <div className={classes.pair}>
        <ChoiceField
          {...at('range')}
          label={label('range')}
          description={t('reports.mail.rangeHint')}
          values={RANGES}
          words={(range) => t(`reports.mail.ranges.${range}`)}
        />
        <ChoiceField
          {...at('format')}
          label={label('format')}
          description={t('reports.mail.formatHint')}
          values={SCHEDULE_FORMATS}
          words={(name) => t(`reports.formats.${name}`)}
        />
      </div>
      <RecipientFields at={at} />
      <Checkbox
        label={label('skipIfEmpty')}
        checked={at('skipIfEmpty').value}
        onChange={(event) => at('skipIfEmpty').onChange(event.currentTarget.checked)}
      />
      <Checkbox
        label={label('paused')}
        description={t('reports.mail.pausedHint')}
        checked={at('paused').value}
        onChange={(event) => at('paused').onChange(event.currentTarget.checked)}
      />
      <LineField
        {...at('name')}
        label={label('name')}
        placeholder={t('reports.mail.namePlaceholder')}
        maxLength={200}
      />
      <FiltersField
        draft={draft}
        error={[
          at('filters').error,
          at('groupBy').error,
          at('locationId').error,
          at('reportId').error,
        ]
          .filter((fault) => fault)
          .join('; ')}
      />
      <CapturedHint />
    </>
  )
}

function RecipientFields({ at }: Pick<Form<ScheduleFields>, 'at'>) {
  const { t } = useTranslation()
  return (
    <>
      <PeopleField {...at('userIdList')} label={t('reports.mail.fields.userIdList')} />
      <TagsInput
        {...at('addressList')}
        label={t('reports.mail.fields.addressList')}
        description={t('reports.mail.addressHint')}
        acceptValueOnBlur
        splitChars={[',', ';', ' ']}
      />
    </>
  )
}

type WhenProps = Pick<Form<ScheduleFields>, 'at'> & Pick<ScheduleFields, 'frequency' | 'locationId'>

const DAYS_OF_MONTH = Array.from({ length: 31 }, (_, i) => i + 1)

function WhenFields({ at, frequency, locationId }: WhenProps) {
  const { t } = useTranslation()
  const time = at('timeOfDay')
  const timeZoneHint = useTimeZoneHint(locationId)
  return (
    <div className={classes.when}>
      <ChoiceField
        {...at('frequency')}
        label={t('reports.mail.fields.frequency')}
        values={FREQUENCIES}
        words={(name) => t(`reports.mail.frequencies.${name}`)}
        data-autofocus
      />
      {frequency === 'WEEKLY' && (
        <ChoiceField
          {...at('weekday')}
          label={t('reports.mail.fields.weekday')}
          values={WEEKDAYS}
          words={longName}
        />
      )}
      {frequency === 'MONTHLY' && (
        <ChoiceField
          {...at('dayOfMonth')}
          label={t('reports.mail.fields.dayOfMonth')}
          values={DAYS_OF_MONTH}
          words={String}
        />
      )}
      <TextInput
        type="time"
        label={t('reports.mail.fields.timeOfDay')}
        value={time.value}
        error={time.error}
        onChange={(event) => time.onChange(event.currentTarget.value)}
      />
      <p className={`faint tiny ${classes.whenHint}`}>
        {timeZoneHint}
        {frequency === 'MONTHLY' && ` ${t('reports.mail.lastDayHint')}`}
      </p>
    </div>
  )
}

type ChoiceProps<Value extends string | number> = {
  value: Value | null | undefined
  error: string
  onChange: (value: Value) => void
  label: string
  description?: string
  values: readonly Value[]
  words: (value: Value) => string
  'data-autofocus'?: boolean
}

function ChoiceField<Value extends string | number>({
  value,
  onChange,
  values,
  words,
  ...props
}: ChoiceProps<Value>) {
  return (
    <Select
      {...props}
      allowDeselect={false}
      value={value === null || value === undefined ? null : String(value)}
      onChange={(chosen) => {
        const found = values.find((one) => String(one) === chosen)
        if (found !== undefined) onChange(found)
      }}
      data={values.map((one) => ({ value: String(one), label: words(one) }))}
    />
  )
}
