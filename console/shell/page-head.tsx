import { IconChevronDown, IconClock } from '../components/icons.tsx'
import { lazy, Suspense, useCallback, useEffect, useRef, useState, type ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { useChosenTimeZone } from '../components/chosen-time-zone.ts'
import { placeOf, useTimeFormat } from '../components/time.ts'

const ClockMenu = lazy(async () => {
  const { ClockMenu } = await import('./clock-menu.tsx')
  return { default: ClockMenu }
})

type Props = {
  title: ReactNode
  /** A sentence that summarises the page. Its line is kept free while it is undefined. */
  lede?: ReactNode
  /** The main button of the page. */
  children?: ReactNode
} & ClockProps

/** Title, sentence, clock and main button: the top of every page. */
export function PageHead(props: Props) {
  const { title, lede, clientId, children } = props
  return (
    <header className="page-head">
      <div className="grow">
        <h1>{title}</h1>
        {'lede' in props && <p className="lede">{lede || '\u00a0'}</p>}
      </div>
      <div className="row" style={{ gap: 10, paddingTop: 2, flexWrap: 'wrap' }}>
        <Clock clientId={clientId} />
        {children}
      </div>
    </header>
  )
}

type ClockProps = {
  /** Offers the time zone of this client, too. */
  clientId?: number | undefined
}

/** The time zone of all times on the page; opens a choice of others. */
export function Clock({ clientId }: ClockProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const now = useNow()
  const isChosen = useChosenTimeZone() !== undefined
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const close = useCallback(() => setOpen(false), [])
  return (
    <div className="clock-place">
      <button
        ref={button}
        type="button"
        className="chip clock numbers"
        title={t('clock.title')}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        data-chosen={isChosen || undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <IconClock size={15} aria-hidden />
        <b>
          {format.weekday(now)} {format.time(now)}
        </b>
        {placeOf(format.timeZone)}
        <IconChevronDown size={13} aria-hidden />
      </button>
      {isOpen && (
        <Suspense>
          <ClockMenu now={now} clientId={clientId} opener={button} onClose={close} />
        </Suspense>
      )}
    </div>
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
