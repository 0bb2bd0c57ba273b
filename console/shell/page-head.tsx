import { IconClock } from '@tabler/icons-react'
import { useEffect, useState, type ReactNode } from 'react'
import { placeOf, useTimeFormat } from '../components/time.ts'

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

/** The time zone of all times on the page. */
export function Clock() {
  const format = useTimeFormat()
  const now = useNow()
  return (
    <span className="chip numbers" style={{ height: 34, padding: '0 11px', fontSize: 13 }}>
      <IconClock size={15} aria-hidden />
      <b style={{ color: 'var(--ink)' }}>
        {format.weekday(now)} {format.time(now)}
      </b>
      {placeOf(format.timeZone)}
    </span>
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
