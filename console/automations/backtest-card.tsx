import { Select } from '@mantine/core'
import { IconAlertTriangle, IconBraces, IconMoonStars } from '../components/icons.tsx'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { Trans } from '../texts/trans.tsx'
import { useTranslation } from '../texts/translate.ts'
import type { Backtest } from '../../src/contract/forecast.ts'
import { backtestQuery, type AutomationBody } from '../api/automation.ts'
import { ProblemError } from '../../src/client/client.ts'
import { addDays } from '../components/days.ts'
import { Failure, Loading } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import classes from './editor.module.css'

const PERIODS = ['30', '90', '365']

/** The messages that the draft would have sent in the last days. */
export function useBacktest(body: AutomationBody, days: number) {
  const format = useTimeFormat()
  const today = format.isoDay(Date.now())
  const query = backtestQuery(body, addDays(today, -days), today)
  return useQuery({ ...query, placeholderData: keepPreviousData })
}

export function BacktestCard({ body }: { body: AutomationBody }) {
  const { t } = useTranslation()
  const [days, setDays] = useState('30')
  const { data, error, refetch } = useBacktest(body, Number(days))
  // The plan shows the errors of the draft.
  const isInvalid = error instanceof ProblemError && error.status === 422
  return (
    <section className={`card ${classes.planCard}`} aria-busy={(!data && !error) || undefined}>
      <header className="row">
        <h2 className={classes.cardTitle}>{t('editor.backtest.title')}</h2>
        <span className="grow" />
        <Select
          size="xs"
          w={160}
          aria-label={t('words.period')}
          allowDeselect={false}
          data={PERIODS.map((value) => ({
            value,
            label: t('editor.backtest.days', { count: Number(value) }),
          }))}
          value={days}
          onChange={(value) => value && setDays(value)}
        />
      </header>
      {error && !data && !isInvalid ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : data ? (
        <Result backtest={data} />
      ) : (
        <Loading lines={4} height={22} />
      )}
    </section>
  )
}

function Result({ backtest }: { backtest: Backtest }) {
  const { t } = useTranslation()
  const { mails, clients, byHour, atNight, withinAnHour, emptyTokens } = backtest
  const tokens = Object.entries(emptyTokens)
  return (
    <>
      <p style={{ margin: '8px 0 10px' }}>
        <Trans
          i18nKey="editor.backtest.sent"
          values={{
            mails: t('editor.backtest.mails', { count: mails }),
            clients: t('editor.backtest.clients', { count: clients }),
          }}
          components={{ b: <b /> }}
        />
      </p>
      <HoursChart byHour={byHour} label={t('editor.backtest.hours')} />
      <div className="column small" style={{ gap: 6, marginTop: 10 }}>
        <Note icon={IconMoonStars} isWarning={atNight > 0}>
          {t('editor.backtest.atNight', { count: atNight })}
        </Note>
        <Note icon={IconAlertTriangle} isWarning={withinAnHour > 0}>
          {t('editor.backtest.close', { count: withinAnHour })}
        </Note>
        {tokens.length === 0 ? (
          <Note icon={IconBraces}>{t('editor.backtest.noEmptyTokens')}</Note>
        ) : (
          tokens.map(([token, count]) => (
            <Note key={token} icon={IconBraces} isWarning>
              {t('editor.backtest.emptyToken', { token, count })}
            </Note>
          ))
        )}
      </div>
    </>
  )
}

type NoteProps = { icon: typeof IconBraces; isWarning?: boolean; children: ReactNode }

const Note = ({ icon: Icon, isWarning = false, children }: NoteProps) => (
  <div
    className={`row ${isWarning ? 'amber strong' : 'soft'}`}
    style={{ alignItems: 'flex-start' }}
  >
    <Icon size={15} aria-hidden style={{ flex: 'none', marginTop: 2 }} />
    <span>{children}</span>
  </div>
)

const WIDTH = 360
const BASE = 60
const BAR = WIDTH / 24
const MAX_HEIGHT = 52
const NIGHT_ENDS = 8
const NIGHT_STARTS = 21
const LABELLED_HOURS = [0, 8, 12, 17, 21]

/** Bars by hour of the day; night hours are highlighted. */
function HoursChart({ byHour, label }: { byHour: number[]; label: string }) {
  const highest = Math.max(...byHour, 1)
  const isNight = (hour: number) => hour < NIGHT_ENDS || hour >= NIGHT_STARTS
  return (
    <>
      <svg
        viewBox={`0 0 ${WIDTH} 76`}
        width="100%"
        style={{ display: 'block' }}
        role="img"
        aria-label={label}
      >
        <rect width={BAR * NIGHT_ENDS} height={BASE} fill="var(--amber-tint)" />
        <rect
          x={BAR * NIGHT_STARTS}
          width={BAR * (24 - NIGHT_STARTS)}
          height={BASE}
          fill="var(--amber-tint)"
        />
        {byHour.map((count, hour) => {
          if (count === 0) return null
          const height = Math.max(3, (count / highest) * MAX_HEIGHT)
          return (
            <rect
              key={hour}
              x={hour * BAR + 2}
              y={BASE - height}
              width={BAR - 4}
              height={height}
              rx="2"
              fill={isNight(hour) ? 'var(--brass-edge)' : 'var(--mark)'}
            />
          )
        })}
        <path d={`M0 ${BASE + 0.5} H${WIDTH}`} stroke="var(--line-strong)" opacity=".6" />
        {LABELLED_HOURS.map((hour) => (
          <text key={hour} x={hour * BAR + 1} y="74" fontSize="11.5" fill="var(--faint)">
            {String(hour).padStart(2, '0')}
          </text>
        ))}
      </svg>
      <div className="visually-hidden">
        <table>
          <caption>{label}</caption>
          <tbody>
            {byHour.map((count, hour) =>
              count === 0 ? null : (
                <tr key={hour}>
                  <th scope="row">{String(hour).padStart(2, '0')}:00</th>
                  <td>{count}</td>
                </tr>
              ),
            )}
          </tbody>
        </table>
      </div>
    </>
  )
}
