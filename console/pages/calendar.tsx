import { Button, Drawer, SegmentedControl, Select } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconChevronLeft, IconChevronRight, IconPlus } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { Trans, useTranslation } from 'react-i18next'
import {
  appointmentDaysQuery,
  appointmentQuery,
  appointmentsQuery,
  type Appointment,
  type AppointmentBody,
} from '../api/calendar.ts'
import { clientQuery, nameOf } from '../api/clients.ts'
import { useSession } from '../api/session.ts'
import { setupQuery, type Setup } from '../api/setup.ts'
import { AppointmentPanel } from '../calendar/appointment-panel.tsx'
import { BookingPanel } from '../calendar/booking-panel.tsx'
import classes from '../calendar/calendar.module.css'
import { columnsOf, staffName, type Column } from '../calendar/columns.ts'
import { DayGrid, type Slot } from '../calendar/day-grid.tsx'
import { addDays, isDay, momentAt, mondayOf } from '../components/days.ts'
import { NoAppointment } from '../calendar/no-appointment.tsx'
import { ListView, WeekView } from '../calendar/week-and-list.tsx'
import { usePageKeys } from '../shell/keys.ts'
import { LoadingDay, LoadingRows } from '../components/skeletons.tsx'
import { Failure } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { PageHead } from '../shell/page-head.tsx'

const VIEWS = ['day', 'week', 'list'] as const
type View = (typeof VIEWS)[number]

/** The state of the page in its URL. */
export type CalendarSearch = {
  day?: string
  view?: View
  location?: number
  appointment?: number
  book?: boolean
  /** The client of a new appointment. */
  client?: number
}

export function CalendarPage() {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const session = useSession()
  const isNarrow = useMediaQuery('(max-width: 1100px)', undefined, {
    getInitialValueInEffect: false,
  })
  const calendar = useCalendar()
  const { search, view, day, from, to } = calendar
  const setup = useQuery(setupQuery)
  const list = useQuery({
    ...appointmentsQuery(from, to, search.location),
    placeholderData: keepPreviousData,
  })
  const visits = list.data ?? []
  const messages = visits.reduce((sum, visit) => sum + (visit.messages?.SCHEDULED ?? 0), 0)
  const columnsAt = (location?: number) =>
    setup.data ? columnsOf(setup.data, visits, session, location) : []
  const chosen = useChosen(search.appointment, visits, setup.data)
  const error = list.error ?? setup.error
  const panel = setup.data && calendarPanel(calendar, chosen, setup.data, columnsAt())
  return (
    <>
      <PageHead
        title={
          view === 'day'
            ? format.longDay(momentAt(day, '12:00', format.timeZone))
            : `${format.day(from)} – ${format.day(to - 1)}`
        }
        lede={
          list.data && (
            <Trans
              i18nKey="calendar.lede"
              count={visits.length}
              values={{ count: visits.length, messages }}
              components={{ b: <b /> }}
            />
          )
        }
      >
        <Tools calendar={calendar} locations={setup.data?.locations ?? []} />
      </PageHead>
      <div className={classes.layout} data-panel={(panel && !isNarrow) || undefined}>
        <div style={{ minWidth: 0 }}>
          <DayLinks day={day} today={calendar.today} location={search.location} />
          {error && !(list.data && setup.data) ? (
            <Failure
              title={t('errors.list')}
              error={error}
              onRetry={() => void Promise.all([list.refetch(), setup.refetch()])}
            />
          ) : list.data && setup.data ? (
            <Appointments
              calendar={calendar}
              visits={visits}
              setup={setup.data}
              columns={columnsAt(search.location)}
              chosen={chosen.appointment}
            />
          ) : view === 'list' ? (
            <LoadingRows />
          ) : (
            <LoadingDay />
          )}
        </div>
        {panel && (
          <Panel isDrawer={isNarrow} onClose={() => calendar.choose(undefined)}>
            {panel}
          </Panel>
        )}
      </div>
    </>
  )
}

type Calendar = ReturnType<typeof useCalendar>

/** The shown time, and the unsaved changes of the form next to it. */
function useCalendar() {
  const format = useTimeFormat()
  const session = useSession()
  const search = useSearch({ from: '/shell/calendar' })
  const isPhone = useMediaQuery('(max-width: 768px)', undefined, { getInitialValueInEffect: false })
  const today = format.isoDay(Date.now())
  const day = isDay(search.day) ? search.day : today
  const view = search.view ?? (isPhone ? 'list' : 'day')
  const canEdit = session.functions.includes('EDIT_SCHEDULE')
  const [draft, setDraft] = useState<AppointmentBody>({})
  const [booking, setBooking] = useState<AppointmentBody>({})
  const { go, goBy } = useGo(today)

  const choose = (calendarId: number | undefined, changes: AppointmentBody = {}) => {
    setDraft(changes)
    go({ appointment: calendarId, book: undefined, client: undefined })
  }
  const newBooking = {
    ...firstTime(day, format),
    ...(search.client === undefined ? {} : { clientId: search.client }),
    ...booking,
  }
  /** Opens the form for a slot or the shown day. A form that is open keeps its other fields. */
  const book = (slot: Partial<Slot> = {}) => {
    if (!canEdit) return
    const before = search.book ? newBooking : firstTime(day, format)
    const isOnThisDay = format.isoDay(before.startTime) === day
    const startTime = slot.startTime ?? (isOnThisDay ? before : firstTime(day, format)).startTime
    const endTime = startTime + (before.endTime - before.startTime)
    setBooking({ ...before, ...slot, startTime, endTime })
    go({ book: true, appointment: undefined, client: search.book ? search.client : undefined })
  }
  const days = view === 'day' ? 1 : 7
  usePageKeys({
    '[': () => goBy(-days),
    ']': () => goBy(days),
    t: () => go({ day: undefined }),
    b: () => book(),
    escape: () => choose(undefined),
  })
  const first = view === 'week' ? mondayOf(day) : day
  return {
    search,
    view,
    today,
    day,
    /** The first shown day. */
    first,
    from: momentAt(first, '00:00', format.timeZone),
    to: momentAt(addDays(first, days), '00:00', format.timeZone),
    canEdit,
    isPhone,
    draft,
    setDraft,
    newBooking,
    setBooking,
    go,
    choose,
    book,
    showSaved: ({ calendarId, startTime }: Appointment) => {
      setDraft({})
      go({
        appointment: calendarId,
        book: undefined,
        client: undefined,
        ...(view === 'day' && { day: format.isoDay(startTime) }),
      })
    },
  }
}

/** Changes the address of the page. */
function useGo(today: string) {
  const navigate = useNavigate()
  const go = (more: { [name in keyof CalendarSearch]: CalendarSearch[name] | undefined }) =>
    void navigate({
      to: '/calendar',
      search: (before) => withoutEmpty({ ...before, ...more }),
      replace: true,
    })
  /** Counts from the day in the URL, because keys can be pressed faster than pages render. */
  const goBy = (days: number) =>
    void navigate({
      to: '/calendar',
      search: (before: CalendarSearch) => ({
        ...before,
        day: addDays(isDay(before.day) ? before.day : today, days),
      }),
      replace: true,
    })
  return { go, goBy }
}

/** The form of a new appointment, the chosen appointment, or why it cannot be shown. */
function calendarPanel(
  calendar: Calendar,
  chosen: ReturnType<typeof useChosen>,
  setup: Setup,
  columns: Column[],
) {
  const { search, canEdit, draft, setDraft, newBooking, setBooking, go, choose } = calendar
  if (search.book && canEdit) {
    return (
      <BookingPanel
        setup={setup}
        columns={columns}
        draft={newBooking}
        onDraft={setBooking}
        onSaved={calendar.showSaved}
        onClose={() => go({ book: undefined, client: undefined })}
      />
    )
  }
  if (chosen.appointment) {
    return (
      <AppointmentPanel
        key={chosen.appointment.calendarId}
        appointment={chosen.appointment}
        setup={setup}
        columns={columns}
        draft={draft}
        onDraft={setDraft}
        onSaved={calendar.showSaved}
        onClose={() => choose(undefined)}
      />
    )
  }
  return (
    chosen.error && (
      <div className={classes.panelBody}>
        <Failure error={chosen.error} />
      </div>
    )
  )
}

type ToolsProps = { calendar: Calendar; locations: Setup['locations'] }

/** Location, view and the button that books. */
function Tools({ calendar: { search, view, canEdit, isPhone, go, book }, locations }: ToolsProps) {
  const { t } = useTranslation()
  return (
    <>
      {locations.length > 1 && (
        <Select
          aria-label={t('calendar.location')}
          placeholder={t('calendar.anyLocation')}
          w={170}
          clearable
          value={search.location ? String(search.location) : null}
          data={locations.map(({ locationId, name }) => ({
            value: String(locationId),
            label: name,
          }))}
          onChange={(value) => go({ location: value ? Number(value) : undefined })}
        />
      )}
      <SegmentedControl
        aria-label={t('calendar.view')}
        value={view}
        onChange={(chosenView) => go({ view: chosenView as View })}
        data={VIEWS.map((value) => ({ value, label: t(`calendar.views.${value}`) }))}
      />
      {canEdit && (
        <Button
          leftSection={<IconPlus size={15} aria-hidden />}
          rightSection={!isPhone && <kbd aria-hidden>B</kbd>}
          onClick={() => book()}
        >
          {t('calendar.book')}
        </Button>
      )}
    </>
  )
}

type AppointmentsProps = {
  calendar: Calendar
  visits: Appointment[]
  setup: Setup
  columns: Column[]
  chosen: Appointment | undefined
}

/** The appointments as a day, a week or a list. */
function Appointments({ calendar, visits, setup, columns, chosen }: AppointmentsProps) {
  const { search, view, day, first, canEdit, choose, book } = calendar
  const shown = {
    visits,
    setup,
    columns,
    chosen: search.appointment,
    onChoose: (visit: Appointment) => choose(visit.calendarId),
  }
  if (view === 'week') return <WeekView {...shown} day={first} />
  if ((view === 'list' ? visits : columns).length === 0) {
    return (
      <NoAppointment
        hasNoStaff={view === 'day' && setup.professionals.length === 0}
        hasLocation={search.location !== undefined}
        isToday={day === calendar.today}
        onBook={canEdit ? () => book() : undefined}
      />
    )
  }
  if (view === 'list') return <ListView {...shown} day={first} />
  const edited = search.book ? calendar.newBooking : chosen && withDraft(chosen, calendar.draft)
  return (
    <DayGrid
      {...shown}
      day={day}
      canEdit={canEdit}
      ghost={ghostOf(edited)}
      onMove={(visit, slot) => choose(visit.calendarId, slot)}
      onBook={book}
    />
  )
}

const withoutEmpty = (search: object) =>
  Object.fromEntries(
    Object.entries(search).filter(([, value]) => value !== undefined),
  ) as CalendarSearch

const firstTime = (day: string, { timeZone }: { timeZone: string }) => {
  const startTime = momentAt(day, '09:00', timeZone)
  return { startTime, endTime: startTime + 1_800_000 }
}

/** The new position of the edited appointment; undefined if the draft does not move it. */
function withDraft(appointment: Appointment, draft: AppointmentBody) {
  const moved = { ...appointment, ...draft }
  const isMoved =
    moved.startTime !== appointment.startTime ||
    moved.professionalId !== appointment.professionalId ||
    moved.locationId !== appointment.locationId
  return isMoved ? moved : undefined
}

function ghostOf(body: AppointmentBody | undefined): Slot | undefined {
  if (!body) return undefined
  const { startTime, endTime, professionalId, locationId } = body
  if (startTime === undefined || endTime === undefined) return undefined
  if (professionalId === undefined || locationId === undefined) return undefined
  return { startTime, endTime, professionalId, locationId }
}

/** The appointment in the URL: from the list, or fetched if it is on another day. */
function useChosen(
  calendarId: number | undefined,
  visits: Appointment[],
  setup: Setup | undefined,
) {
  const listed = visits.find((visit) => visit.calendarId === calendarId)
  const isOpen = calendarId !== undefined && !listed
  const { data: alone, error } = useQuery({
    ...appointmentQuery(calendarId ?? 0),
    enabled: isOpen,
  })
  const { data: client } = useQuery({
    ...clientQuery(alone?.clientId ?? 0),
    enabled: isOpen && alone !== undefined,
  })
  if (listed || !isOpen || !alone || !client || !setup) {
    return { appointment: listed, error: isOpen ? error : null }
  }
  const professional = setup.professionals.find(
    (one) => one.professionalId === alone.professionalId,
  )
  const appointment: Appointment = {
    ...alone,
    clientName: nameOf(client),
    professionalName: professional ? staffName(professional) : null,
    reasonName: setup.services.find((one) => one.reasonId === alone.reasonId)?.name ?? null,
    locationName: setup.locations.find((one) => one.locationId === alone.locationId)?.name ?? null,
  }
  return { appointment, error: null }
}

type PanelProps = { isDrawer: boolean; onClose: () => void; children: ReactNode }

/** Next to the calendar; on narrow screens above it. */
function Panel({ isDrawer, onClose, children }: PanelProps) {
  if (!isDrawer) return <aside className="card">{children}</aside>
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="min(420px, 100%)"
      withCloseButton={false}
      padding={0}
    >
      {children}
    </Drawer>
  )
}

type DayLinksProps = { day: string; today: string; location: number | undefined }

/** The week of the day, with the number of appointments of each day. */
function DayLinks({ day, today, location }: DayLinksProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const monday = mondayOf(day)
  const { data: counts = {} } = useQuery({
    ...appointmentDaysQuery(
      momentAt(monday, '00:00', format.timeZone),
      momentAt(addDays(monday, 7), '00:00', format.timeZone),
      location,
    ),
    placeholderData: keepPreviousData,
  })
  const linkTo = (to: string) => ({
    to: '/calendar' as const,
    search: (before: CalendarSearch) => ({ ...before, day: to }),
    replace: true,
  })
  return (
    <nav className={classes.days} aria-label={t('calendar.days')}>
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
            <span className={one === day ? undefined : 'faint'}>{counts[one] ?? 0}</span>
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
