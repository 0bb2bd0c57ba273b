import { TextInput } from '@mantine/core'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import { classesQuery, classKind, type ClassFields, type ClassItem } from '../api/objects.ts'
import { VisitMarks } from '../calendar/visit.tsx'
import { StudentList, Students } from '../classes/students.tsx'
import { momentAt } from '../components/days.ts'
import { day as readDay } from '../components/search.ts'
import { Empty } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { MirroredNotice } from '../feeds/mirrored-notice.tsx'
import { MomentField, SetupField, StatusField } from '../objects/fields.tsx'
import { ObjectPage } from '../objects/object-page.tsx'
import { ClientLink, MessagesAndWhy, NewButton, useStatusLabel } from '../objects/object-parts.tsx'
import { ObjectTable, type Column } from '../objects/object-table.tsx'
import type { Form } from '../records/use-record.ts'
import { LineField, NumberField } from '../setup/fields.tsx'
import { PageHead } from '../shell/page-head.tsx'

const HOUR_MS = 3_600_000

/** The classes from a day on. */
export function ClassesPage() {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const navigate = useNavigate()
  const { day = format.isoDay(Date.now()) } = useSearch({ from: '/shell/classes' })
  return (
    <>
      <PageHead title={t('classes.title')} lede={t('classes.lede')}>
        <NewButton
          label={t('classes.new')}
          needs="EDIT_SCHEDULE"
          {...FORM}
          fields={(form) => <Fields form={form} />}
          onSaved={({ classScheduleId }) =>
            void navigate({ to: '/classes/$classScheduleId', params: { classScheduleId } })
          }
        />
      </PageHead>
      <TextInput
        type="date"
        label={t('objects.from')}
        w={180}
        mb={14}
        value={day}
        onChange={({ currentTarget: { value } }) =>
          readDay(value) && void navigate({ to: '/classes', search: { day: value }, replace: true })
        }
      />
      <ObjectTable
        label={t('classes.title')}
        query={classesQuery({ from: momentAt(day, '00:00', format.timeZone) })}
        keyOf={({ classScheduleId }) => classScheduleId}
        columns={useColumns()}
        empty={<Empty title={t('classes.none')}>{t('classes.noneHint')}</Empty>}
      />
    </>
  )
}

function useColumns(): Column<ClassItem>[] {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const labelOf = useStatusLabel('CLASS_SCHEDULE')
  return [
    {
      label: t('objects.name'),
      cell: ({ classScheduleId, name }) => (
        <Link to="/classes/$classScheduleId" params={{ classScheduleId }} className="strong">
          {name}
        </Link>
      ),
    },
    {
      label: t('objects.when'),
      cell: ({ startTime }) => <span className="numbers">{format.moment(startTime)}</span>,
    },
    { label: t('classes.teacher'), cell: ({ professionalName }) => professionalName },
    { label: t('objects.locations'), cell: ({ locationName }) => locationName },
    {
      label: t('classes.students'),
      cell: ({ clientIdList, capacity }) => (
        <span className="numbers">
          {capacity === null ? clientIdList.length : `${clientIdList.length} / ${capacity}`}
        </span>
      ),
    },
    { label: t('calendar.status'), cell: ({ status }) => labelOf(status) },
    { label: t('words.messages'), cell: (item) => <VisitMarks visit={item} /> },
  ]
}

const FORM = {
  kind: classKind,
  labels: 'objects.fields',
}

/** What happens, when, where and with whom. */
function Fields({ form: { at, draft } }: { form: Form<ClassFields> }) {
  const { t } = useTranslation()
  const start = at('startTime')
  const length = (draft.endTime ?? 0) - (draft.startTime ?? 0) || HOUR_MS
  const end = at('endTime')
  return (
    <>
      <LineField {...at('name')} label={t('objects.name')} required data-autofocus />
      <MomentField
        {...start}
        label={t('objects.start')}
        required
        onChange={(startTime) => {
          start.onChange(startTime)
          if (startTime !== null) end.onChange(startTime + length)
        }}
      />
      <MomentField {...end} label={t('objects.end')} required />
      <SetupField {...at('professionalId')} of="professionals" required />
      <SetupField {...at('locationId')} of="locations" required />
      <SetupField {...at('reasonId')} of="services" />
      <NumberField {...at('capacity')} label={t('classes.capacity')} />
    </>
  )
}

export function ClassPage() {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { classScheduleId } = useParams({ from: '/shell/classes/$classScheduleId' })
  return (
    <ObjectPage
      {...FORM}
      id={classScheduleId}
      needs="EDIT_SCHEDULE"
      title={({ name }) => name}
      lede={({ startTime }) => format.moment(startTime)}
      back={
        <Link to="/classes" className="small">
          {t('classes.title')}
        </Link>
      }
      valueInWords={(name, draft) => {
        const value = draft[name]
        return Array.isArray(value) ? t('classes.count', { count: value.length }) : undefined
      }}
      fields={(form) => (
        <>
          <Students form={form} />
          <StatusField {...form.at('status')} objectType="CLASS_SCHEDULE" />
          <Fields form={form} />
        </>
      )}
      readOnly={(item) => <StudentList {...item} />}
    >
      {({ startTime, answers, feedId }) => (
        <>
          {feedId != null && <MirroredNotice feedId={feedId} />}
          {answers.map(
            ({ clientId, note }) =>
              note && (
                <p key={clientId}>
                  <ClientLink clientId={clientId} />
                  {' · '}
                  <span dir="auto">{t('calendar.clientReason', { reason: note })}</span>
                </p>
              ),
          )}
          <MessagesAndWhy
            kind={classKind}
            id={classScheduleId}
            anchor={{ text: t('classes.class'), time: startTime }}
          />
        </>
      )}
    </ObjectPage>
  )
}
