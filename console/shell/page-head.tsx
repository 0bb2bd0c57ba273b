import { Popover } from '@mantine/core'
import { IconChevronDown, IconClock } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.ts'
import { setupQuery } from '../api/setup.ts'
import { formatIn, placeOf, useTimeFormat } from '../components/time.ts'

type Props = {
  title: ReactNode
  /** A sentence that summarises the page. */
  lede?: ReactNode
  /** The main button of the page. */
  children?: ReactNode
}

/** Title, sentence, clock and main button: the top of every page. */
export function PageHead({ title, lede, children }: Props) {
  return (
    <header className="page-head">
      <div className="grow">
        <h1>{title}</h1>
        {lede && <p className="lede numbers">{lede}</p>}
      </div>
      <div className="row" style={{ gap: 10, paddingTop: 2, flexWrap: 'wrap' }}>
        <Clock />
        {children}
      </div>
    </header>
  )
}

/** The time zone of all times on the page; opens the time elsewhere. */
export function Clock() {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const now = useNow()
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" shadow="md">
      <Popover.Target>
        <button
          type="button"
          className="chip clock numbers"
          title={t('clock.title')}
          onClick={() => setOpen(!isOpen)}
        >
          <IconClock size={15} aria-hidden />
          <b>
            {format.weekday(now)} {format.time(now)}
          </b>
          {placeOf(format.timeZone)}
          <IconChevronDown size={13} aria-hidden />
        </button>
      </Popover.Target>
      <Popover.Dropdown p={0}>
        <Zones now={now} />
      </Popover.Dropdown>
    </Popover>
  )
}

/** The current time for the business, its locations, this device and UTC. */
function Zones({ now }: { now: number }) {
  const { t } = useTranslation()
  const { business, functions } = useSession()
  const { data: setup } = useQuery({
    ...setupQuery,
    enabled: functions.includes('VIEW_SCHEDULE'),
  })
  const zones = [
    { name: business.name, timeZone: business.timeZone },
    ...(setup?.locations ?? [])
      .map(({ name, timeZone }) => ({ name, timeZone: timeZone ?? business.timeZone }))
      .filter(({ timeZone }) => timeZone !== business.timeZone),
    { name: t('clock.device'), timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone },
    { name: 'UTC', timeZone: 'UTC' },
  ]
  return (
    <dl className="clock-zones numbers">
      {zones.map(({ name, timeZone }, i) => {
        const format = formatIn(timeZone)
        return (
          <div key={`${i} ${name}`}>
            <dt className="ellipsis" dir="auto">
              {name}
            </dt>
            <dd className="soft">{timeZone === name ? '' : placeOf(timeZone)}</dd>
            <dd className="strong">
              {format.weekday(now)} {format.time(now)}
            </dd>
          </div>
        )
      })}
    </dl>
  )
}

/** The current time, updated every 15 seconds. */
export function useNow(everyMs = 15_000) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}
