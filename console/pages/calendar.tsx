import { Button, Drawer, SegmentedControl } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconPlus } from '../components/icons.tsx'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState, type ReactNode } from 'react'
import { Trans } from '../texts/trans.tsx'
import { useTranslation } from '../texts/translate.ts'
import {
  appointmentKind,
  appointmentsQuery,
  type Appointment,
  type AppointmentFields,
} from '../api/calendar.ts'
import { clientQuery, nameOf } from '../api/clients.ts'
import { useSession } from '../api/session.ts'
import { formerSetupQuery, setupQuery, type Setup } from '../api/setup.ts'
import { AppointmentPanel } from '../calendar/appointment-panel.tsx'
import { BookingPanel } from '../calendar/booking-panel.tsx'
import classes from '../calendar/calendar.module.css'
import { columnsOf, hasFormer, staffName, withFormer, type Column } from '../calendar/columns.ts'
import { DayBar } from '../calendar/day-bar.tsx'
import { DayGrid } from '../calendar/day-grid.tsx'
import { useDesk, useDeskKeys, type Desk } from '../calendar/desk.tsx'
import type { Slot } from '../calendar/time-grid.tsx'
import { WeekGrid } from '../calendar/week-grid.tsx'
import { addDays, firstTime, momentAt, mondayOf } from '../components/days.ts'
import { ListView } from '../calendar/list-view.tsx'
import { NoAppointment } from '../calendar/no-appointment.tsx'
import { readCalendarSearch, VIEWS, type CalendarSearch } from '../calendar/search.ts'
import { editorOf, type Place } from '../records/editor.ts'
import { askToLeave } from '../records/leave.ts'
import { useRecord } from '../records/use-record.ts'
import { usePageKeys } from '../shell/keys.ts'
import { LoadingDay, LoadingRows } from '../components/skeletons.tsx'
import { Failure } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { PageHead } from '../shell/page-head.tsx'

type View = (typeof VIEWS)[number]

export function CalendarPage() {
  const { t } = useTranslation()
  const session = useSession()
  const isNarrow = useMediaQuery('(max-width: 1100px)', undefined, {
    getInitialValueInEffect: false,
  })
  const calendar = useCalendar()
  const { search, view, from, to } = calendar
  const setup = useQuery(setupQuery)
  const shownOnly = { locationId: search.location, professionalId: search.staff }
  const list = useQuery({
    ...appointmentsQuery(from, to, shownOnly),
    placeholderData: keepPreviousData,
  })
  const desk = useDesk(setup.data?.statuses)
  const visits = desk.withHeld(list.data ?? [])
  const shownSetup = useShownSetup(setup.data, visits)
  const columnsAt = (where = {}, of = shownSetup) =>
    of ? columnsOf(of, visits, session, where) : []
  // The form of a new appointment offers only those who work now.
  const offered = columnsAt({}, calendar.isBooking ? setup.data : shownSetup)
  const chosen = useChosen(calendar, visits, setup.data)
  useDeskKeys(desk, visits, chosen.appointment)
  const error = list.error ?? setup.error
  const panel = setup.data && calendarPanel(calendar, { ...chosen, desk }, setup.data, offered)
  return (
    <>
      <Head calendar={calendar} visits={list.data && visits} />
      <div className={classes.layout} data-panel={(panel && !isNarrow) || undefined}>
        <div style={{ minWidth: 0 }}>
          <DayBar {...calendar} setup={setup.data} />
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
              columns={columnsAt(shownOnly)}
              chosen={chosen.appointment}
              desk={desk}
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

/** The setup with those who had these appointments and do not work here any more. */
function useShownSetup(setup: Setup | undefined, visits: Appointment[]) {
  const former = useQuery({
    ...formerSetupQuery,
    enabled: setup !== undefined && hasFormer(setup, visits),
  })
  return setup && withFormer(setup, former.data, visits)
}

type HeadProps = {
  calendar: Calendar
  /** Undefined until they are read. */
  visits: Appointment[] | undefined
}

/** The shown days, and how many appointments and messages they have. */
function Head({ calendar, visits }: HeadProps) {
  const format = useTimeFormat()
  const { view, day, from, to } = calendar
  const messages = visits?.reduce((sum, visit) => sum + (visit.messages?.SCHEDULED ?? 0), 0)
  return (
    <PageHead
      title={
        view === 'day'
          ? format.longDay(momentAt(day, '12:00', format.timeZone))
          : `${format.day(from)} – ${format.day(to - 1)}`
      }
      lede={
        visits && (
          <Trans
            i18nKey="calendar.lede"
            values={{ count: visits.length, messages: messages! }}
            components={{ b: <b /> }}
          />
        )
      }
    >
      <Tools calendar={calendar} />
    </PageHead>
  )
}

type Calendar = ReturnType<typeof useCalendar>

/** The shown time, and the unsaved changes of the form next to it. */
function useCalendar() {
  const format = useTimeFormat()
  const { functions } = useSession()
  const search = useSearch({ from: '/shell/calendar' })
  const isPhone = useMediaQuery('(max-width: 768px)', undefined, { getInitialValueInEffect: false })
  const today = format.isoDay(Date.now())
  const day = search.day ?? today
  const view = search.view ?? (isPhone ? 'list' : 'day')
  const days = view === 'day' ? 1 : 7
  const first = view === 'week' ? mondayOf(day) : day
  const { go, goBy } = useGo(today)
  const canEdit = functions.includes('EDIT_SCHEDULE')
  const isBooking = canEdit && search.book === true
  const edited = useEditedAppointment({ search, view, day, canEdit, isBooking, go })
  const { choose, book } = edited
  usePageKeys({
    '[': () => goBy(-days),
    ']': () => goBy(days),
    t: () => go({ day: undefined }),
    b: () => book(),
    escape: () => choose(undefined),
  })
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
    isBooking,
    go,
    ...edited,
  }
}

type Shown = {
  search: CalendarSearch
  view: View
  day: string
  canEdit: boolean
  isBooking: boolean
}

/** The chosen appointment, or the one that is booked, with its unsaved changes. */
function useEditedAppointment(shown: Shown & { go: ReturnType<typeof useGo>['go'] }) {
  const { search, view, day, canEdit, isBooking, go } = shown
  const format = useTimeFormat()
  /** The time and place that a new appointment was begun with. */
  const [slot, setSlot] = useState<AppointmentFields>({})
  // Once for each form: "now" goes on, but the time that a form suggests stays.
  const suggested = useMemo(() => firstSlot(day, format), [day, format, isBooking])
  const record = useRecord({
    kind: appointmentKind,
    id: isBooking ? undefined : search.appointment,
    isEnabled: isBooking || search.appointment !== undefined,
    suggested: {
      ...suggested,
      ...(search.client === undefined ? {} : { clientId: search.client }),
      ...slot,
    },
    isShownAt: (place) => isSameRecord(search, place),
    onSaved: ({ calendarId, startTime }) => {
      setSlot({})
      go({
        appointment: calendarId,
        book: undefined,
        client: undefined,
        ...(view !== 'list' && { day: format.isoDay(startTime) }),
      })
    },
  })

  const choose = (calendarId: number | undefined) => {
    setSlot({})
    go({ appointment: calendarId, book: undefined, client: undefined })
  }
  /** Shows what moving the appointment would do. */
  const move = async ({ calendarId }: Appointment, to: AppointmentFields) => {
    const isShown = !isBooking && calendarId === search.appointment
    if (!isShown && !(await askToLeave())) return
    editorOf(appointmentKind, calendarId).change(to)
    if (!isShown) choose(calendarId)
  }
  /** Opens the form for a slot or the shown day. A form that is open keeps its other fields. */
  const book = (place: Partial<Slot> = {}) => {
    if (!canEdit) return
    const first = firstSlot(day, format)
    const { startTime: start = first.startTime, endTime: end = first.endTime } = isBooking
      ? record.draft
      : first
    const isOnThisDay = format.isoDay(start) === day
    const startTime = place.startTime ?? (isOnThisDay ? start : first.startTime)
    const endTime = startTime + (end - start)
    const chosen = { ...place, startTime, endTime }
    if (isBooking) return record.change(chosen)
    setSlot(chosen)
    go({ book: true, appointment: undefined, client: undefined })
  }
  return { record, choose, move, book }
}

/** Whether the panel shows the same appointment at another address of the calendar. */
const isSameRecord = (search: CalendarSearch, place: Place) => {
  const next = readCalendarSearch({ ...place.search })
  return (
    place.pathname.endsWith('/calendar') &&
    next.book === search.book &&
    next.appointment === search.appointment
  )
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
        day: addDays(before.day ?? today, days),
      }),
      replace: true,
    })
  return { go, goBy }
}

/** The form of a new appointment, the chosen appointment, or why it cannot be shown. */
function calendarPanel(
  calendar: Calendar,
  chosen: ReturnType<typeof useChosen> & { desk: Desk },
  setup: Setup,
  columns: Column[],
) {
  const { isBooking, record, choose } = calendar
  const close = () => choose(undefined)
  if (isBooking) {
    return <BookingPanel setup={setup} columns={columns} record={record} onClose={close} />
  }
  if (chosen.appointment) {
    return (
      <AppointmentPanel
        key={chosen.appointment.calendarId}
        appointment={chosen.appointment}
        setup={setup}
        columns={columns}
        record={record}
        desk={chosen.desk}
        onClose={close}
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

/** The view and the button that books. */
function Tools({ calendar: { view, canEdit, isPhone, go, book } }: { calendar: Calendar }) {
  const { t } = useTranslation()
  return (
    <>
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
  desk: Desk
}

/** The appointments as a day, a week or a list. */
function Appointments({ calendar, visits, setup, columns, chosen, desk }: AppointmentsProps) {
  const { search, view, day, first, canEdit, isBooking, record, choose, book } = calendar
  const shown = {
    visits,
    setup,
    desk,
    chosen: search.appointment,
    onChoose: (visit: Appointment) => choose(visit.calendarId),
  }
  if ((view === 'list' ? visits : columns).length === 0) {
    return (
      <NoAppointment
        hasNoStaff={view !== 'list' && setup.professionals.length === 0}
        hasFilter={search.location !== undefined || search.staff !== undefined}
        isToday={day === calendar.today}
        onBook={canEdit ? () => book() : undefined}
      />
    )
  }
  if (view === 'list') return <ListView {...shown} day={first} />
  const edited = isBooking ? record.draft : chosen && withChanges(chosen, record.changes)
  const Grid = view === 'week' ? WeekGrid : DayGrid
  return (
    <Grid
      {...shown}
      columns={columns}
      day={first}
      canEdit={canEdit}
      ghost={ghostOf(edited)}
      onMove={(visit, slot) => void calendar.move(visit, slot)}
      onBook={book}
    />
  )
}

const withoutEmpty = (search: object) =>
  Object.fromEntries(
    Object.entries(search).filter(([, value]) => value !== undefined),
  ) as CalendarSearch

function firstSlot(day: string, { timeZone }: { timeZone: string }) {
  const startTime = firstTime(day, timeZone, Date.now())
  return { startTime, endTime: startTime + 1_800_000 }
}

/** The new position of the edited appointment; undefined if the changes do not move it. */
function withChanges(appointment: Appointment, changes: AppointmentFields) {
  const moved = { ...appointment, ...changes }
  const isMoved =
    moved.startTime !== appointment.startTime ||
    moved.professionalId !== appointment.professionalId ||
    moved.locationId !== appointment.locationId
  return isMoved ? moved : undefined
}

function ghostOf(body: AppointmentFields | undefined): Slot | undefined {
  if (!body) return undefined
  const { startTime, endTime, professionalId, locationId } = body
  if (startTime === undefined || endTime === undefined) return undefined
  return { startTime, endTime, professionalId, locationId }
}

/** The appointment in the URL: from the list, or fetched if it is on another day. */
function useChosen(
  { search: { appointment: calendarId }, isBooking, record }: Calendar,
  visits: Appointment[],
  setup: Setup | undefined,
) {
  const listed = visits.find((visit) => visit.calendarId === calendarId)
  const isOpen = calendarId !== undefined && !isBooking && !listed
  const { item: alone, readError: error } = record
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
