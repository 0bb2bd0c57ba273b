import { Button, Group, Select, TextInput } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { appointmentDaysQuery } from '../api/calendar.ts'
import type { Setup } from '../api/setup.ts'
import { useCentredCurrent } from '../components/centre-current.ts'
import { addDays, momentAt, mondayOf } from '../components/days.ts'
import { IconChevronLeft, IconChevronRight } from '../components/icons.tsx'
import { day as readDay } from '../components/search.ts'
import { useTimeFormat } from '../components/time.ts'
import classes from './calendar.module.css'
import { staffName } from './columns.ts'
import type { CalendarSearch } from './search.ts'

type Go = (more: { [name in keyof CalendarSearch]: CalendarSearch[name] | undefined }) => void

type BarProps = {
  search: CalendarSearch
  day: string
  today: string
  setup: Setup | undefined
  go: Go
}

/** Which day is shown, and whose appointments. */
export function DayBar({ search, day, today, setup, go }: BarProps) {
  const { t } = useTranslation()
  const locations = setup?.locations ?? []
  const staff = setup?.professionals ?? []
  const idOf = (value: string | null) => (value ? Number(value) : undefined)
  return (
    <>
      <Group gap={8} mb={10}>
        <Button
          variant="default"
          aria-pressed={day === today}
          onClick={() => go({ day: undefined })}
        >
          {t('desk.today')}
        </Button>
        <DateField day={day} go={go} />
        {locations.length > 1 && (
          <Select
            aria-label={t('words.location')}
            placeholder={t('calendar.anyLocation')}
            w={170}
            clearable
            value={search.location ? String(search.location) : null}
            data={locations.map(({ locationId, name }) => ({
              value: String(locationId),
              label: name,
            }))}
            onChange={(value) => go({ location: idOf(value) })}
          />
        )}
        {staff.length > 1 && (
          <Select
            aria-label={t('desk.staff')}
            placeholder={t('desk.anyStaff')}
            w={170}
            clearable
            searchable
            value={search.staff ? String(search.staff) : null}
            data={staff.map((one) => ({
              value: String(one.professionalId),
              label: staffName(one),
            }))}
            onChange={(value) => go({ staff: idOf(value) })}
          />
        )}
      </Group>
      <DayLinks search={search} day={day} today={today} />
    </>
  )
}

/** Jumps to a date. What is typed stays until the field is left, also if it is not a date yet. */
function DateField({ day, go }: Pick<BarProps, 'day' | 'go'>) {
  const { t } = useTranslation()
  const [typed, setTyped] = useState<string>()
  return (
    <TextInput
      type="date"
      aria-label={t('desk.goToDate')}
      min="2000-01-01"
      max="2199-12-31"
      value={typed ?? day}
      onBlur={() => setTyped(undefined)}
      onChange={({ currentTarget: { value, validity } }) => {
        setTyped(value)
        if (validity.valid && readDay(value)) go({ day: value })
      }}
    />
  )
}

/** The week of the day, with the number of appointments of each day. */
function DayLinks({ search, day, today }: Pick<BarProps, 'search' | 'day' | 'today'>) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const monday = mondayOf(day)
  const { data: counts } = useQuery({
    ...appointmentDaysQuery(
      momentAt(monday, '00:00', format.timeZone),
      momentAt(addDays(monday, 7), '00:00', format.timeZone),
      { locationId: search.location, professionalId: search.staff },
    ),
    placeholderData: keepPreviousData,
  })
  const days = useCentredCurrent(day, counts === undefined)
  const linkTo = (to: string) => ({
    to: '/calendar' as const,
    search: (before: CalendarSearch) => ({ ...before, day: to }),
    replace: true,
  })
  return (
    <nav ref={days} className={classes.days} aria-label={t('calendar.days')}>
      <Link
        {...linkTo(addDays(day, -7))}
        className={`${classes.dayLink} ${classes.arrow}`}
        aria-label={t('calendar.before')}
      >
        <IconChevronLeft size={15} aria-hidden />
      </Link>
      {Array.from({ length: 7 }, (_, place) => addDays(monday, place)).map((one) => {
        const noon = momentAt(one, '12:00', format.timeZone)
        return (
          <Link
            key={one}
            {...linkTo(one)}
            className={`${classes.dayLink} numbers`}
            aria-current={one === day ? 'date' : undefined}
          >
            {one === today && <span className={classes.todayDot} aria-hidden />}
            {format.weekday(noon)} {Number(one.slice(8))}
            <span className={one === day ? undefined : 'faint'}>{counts?.[one] ?? 0}</span>
          </Link>
        )
      })}
      <Link
        {...linkTo(addDays(day, 7))}
        className={`${classes.dayLink} ${classes.arrow}`}
        aria-label={t('calendar.after')}
      >
        <IconChevronRight size={15} aria-hidden />
      </Link>
    </nav>
  )
}
