import { IconCheck } from '../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, type RefObject } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { clientQuery, nameOf } from '../api/clients.ts'
import { useSession } from '../api/session.ts'
import { setupQuery } from '../api/setup.ts'
import { chooseTimeZone } from '../components/chosen-time-zone.ts'
import { formatIn, placeOf, useTimeFormat } from '../components/time.ts'
import classes from './clock-menu.module.css'

type Props = {
  now: number
  clientId: number | undefined
  /** Gets the focus when the menu closes. */
  opener: RefObject<HTMLButtonElement | null>
  onClose: () => void
}

/** The time zones in which all times can be shown, each with its current time. */
export function ClockMenu({ now, clientId, opener, onClose }: Props) {
  const { t } = useTranslation()
  const { business } = useSession()
  const { timeZone: shown } = useTimeFormat()
  const menu = useRef<HTMLDivElement>(null)
  useEffect(() => {
    menu.current?.querySelector<HTMLElement>('[aria-pressed=true]')?.focus()
    const onPress = ({ target }: Event) => {
      const isInside = [menu, opener].some(({ current }) => current?.contains(target as Node))
      if (!isInside) onClose()
    }
    document.addEventListener('pointerdown', onPress)
    return () => document.removeEventListener('pointerdown', onPress)
  }, [opener, onClose])
  const closeWithFocus = () => {
    onClose()
    opener.current?.focus()
  }
  return (
    <div
      ref={menu}
      role="dialog"
      aria-label={t('clock.title')}
      className={`numbers ${classes.menu}`}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.preventDefault()
        closeWithFocus()
      }}
    >
      <p className="faint tiny">{t('clock.hint')}</p>
      <div>
        {useZones(clientId).map(({ name, timeZone }) => (
          <button
            key={timeZone}
            type="button"
            aria-pressed={timeZone === shown}
            onClick={() => {
              chooseTimeZone(timeZone === business.timeZone ? undefined : timeZone)
              closeWithFocus()
            }}
          >
            <IconCheck size={15} aria-hidden />
            <span className="ellipsis" dir="auto">
              {name}
            </span>
            <span className={`soft ${classes.place}`}>
              {timeZone === name ? '' : placeOf(timeZone)}
            </span>
            <span className={`strong ${classes.time}`}>
              {formatIn(timeZone).weekday(now)} {formatIn(timeZone).time(now)}
            </span>
          </button>
        ))}
      </div>
    </div>
  )
}

/** The time zones of the business, its locations, the client, this device, and UTC, each once. */
function useZones(clientId: number | undefined) {
  const { t } = useTranslation()
  const { business, functions } = useSession()
  const isAllowed = functions.includes('VIEW_SCHEDULE')
  const { data: setup } = useQuery({ ...setupQuery, enabled: isAllowed })
  const { data: client } = useQuery({
    ...clientQuery(clientId ?? 0),
    enabled: isAllowed && clientId !== undefined,
  })
  const zones = [
    { name: business.name, timeZone: business.timeZone },
    ...(setup?.locations ?? []),
    ...(client ? [{ name: nameOf(client), timeZone: client.timeZone }] : []),
    { name: t('clock.device'), timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone },
    { name: 'UTC', timeZone: 'UTC' },
  ]
  const byZone = new Map<string, { name: string; timeZone: string }>()
  for (const { name, timeZone } of zones) {
    if (timeZone && !byZone.has(timeZone)) byZone.set(timeZone, { name, timeZone })
  }
  return [...byZone.values()]
}
