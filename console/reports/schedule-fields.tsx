import { Input, MultiSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import { overviewQuery } from '../api/overview.ts'
import { peopleQuery } from '../api/people.ts'
import type { ScheduleFields } from '../api/report-schedules.ts'
import { useSession } from '../api/session.ts'
import { locationKind } from '../api/setup-objects.ts'
import { placeOf } from '../components/time.ts'
import type { At } from '../records/use-record.ts'
import { useFilterWords } from './filter-words.ts'

/** "In the time zone of the business: Europe/Zurich." */
export function useTimeZoneHint(locationId: number | null) {
  const { t } = useTranslation()
  const { business } = useSession()
  const { data: locations } = useQuery({ ...locationKind.listQuery, enabled: locationId !== null })
  const location = locations?.find((one) => one.locationId === locationId)
  return location
    ? t('reports.mail.zoneOfLocation', {
        name: location.name,
        place: placeOf(location.timeZone ?? business.timeZone),
      })
    : t('reports.mail.zoneOfBusiness', { place: placeOf(business.timeZone) })
}

/** The name of a person by id, as far as the user may see people. */
export function useUsernames() {
  const { t } = useTranslation()
  const { data: people } = useQuery(peopleQuery)
  return (id: number) =>
    people?.find(({ userId }) => userId === id)?.username ?? t('reports.mail.otherPerson', { id })
}

/** Offers the people who can get mail, and those who are chosen. */
export function PeopleField({ value, error, onChange, label }: At<number[]> & { label: string }) {
  const { t } = useTranslation()
  const { data: people = [] } = useQuery(peopleQuery)
  const offered = people.filter(
    ({ active, emailAddress, userId }) => (active && emailAddress) || value.includes(userId),
  )
  const unknown = value.filter((id) => !offered.some(({ userId }) => userId === id))
  return (
    <MultiSelect
      label={label}
      description={t('reports.mail.peopleHint')}
      value={value.map(String)}
      error={error}
      searchable
      nothingFoundMessage={t('reports.mail.notFound')}
      data={[
        ...offered.map(({ userId, username, emailAddress }) => ({
          value: String(userId),
          label: emailAddress ? `${username}, ${emailAddress}` : username,
        })),
        ...unknown.map((id) => ({
          value: String(id),
          label: t('reports.mail.otherPerson', { id }),
        })),
      ]}
      onChange={(ids) => onChange(ids.map(Number))}
    />
  )
}

type FiltersProps = {
  draft: Pick<ScheduleFields, 'reportId' | 'filters' | 'groupBy' | 'locationId'> &
    Partial<Pick<ScheduleFields, 'compareWith'>>
  error: string
}

/** The filters that the report is mailed with; they are chosen on the page of the report. */
export function FiltersField({ draft, error }: FiltersProps) {
  const { t } = useTranslation()
  const words = useFilterWords(draft.reportId, draft)
  return (
    <Input.Wrapper label={t('reports.mail.fields.filters')} labelElement="div" error={error}>
      <div className="soft small" dir="auto">
        {words || t('reports.mail.noFilters')}
      </div>
    </Input.Wrapper>
  )
}

export function CapturedHint() {
  const { t } = useTranslation()
  const { data: overview } = useQuery(overviewQuery())
  if (!overview?.mail.captured) return null
  return (
    <p className="amber small" style={{ margin: 0 }}>
      {t('reports.mail.captured')}
    </p>
  )
}
