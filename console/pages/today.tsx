import { Button, SegmentedControl } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconPlus } from '../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Fragment, lazy, Suspense, useState, type ReactNode } from 'react'
import { Trans } from '../texts/trans.tsx'
import { insideSentence, useTranslation } from '../texts/translate.ts'
import type { TriggerStatus } from '../../src/contract/event-trigger.ts'
import type { Overview } from '../../src/contract/overview.ts'
import { nextMessagesQuery, type Message } from '../api/messages.ts'
import { overviewQuery } from '../api/overview.ts'
import { useSession } from '../api/session.ts'
import { addDays, mondayOf } from '../components/days.ts'
import { Mark, MARK_OF_STATUS, type MarkName } from '../components/mark.tsx'
import { LoadingColumns } from '../components/skeletons.tsx'
import { Empty, Failure, Loading } from '../components/states.tsx'
import { asSentence, useReasonWords } from '../components/reason-words.ts'
import { useBusinessTimeFormat, useTimeFormat } from '../components/time.ts'
import { PageHead, useNow } from '../shell/page-head.tsx'
import { NEW_APPOINTMENT } from '../shell/places.ts'
import { DayRope } from '../today/day-rope.tsx'
import { Expected } from '../today/expected.tsx'
import { NeedsYou } from '../today/needs-you.tsx'
import { Panel } from '../today/panel.tsx'
import { WeekRope } from '../today/week-rope.tsx'
import classes from '../today/today.module.css'
import { isFirstVisit } from './first-visit-steps.ts'

const FirstVisit = lazy(async () => {
  const { FirstVisit } = await import('./first-visit.tsx')
  return { default: FirstVisit }
})

const WEEK_DAYS = 7

const VIEWS = ['today', 'tomorrow', 'week'] as const
type View = (typeof VIEWS)[number]

export function TodayPage() {
  const format = useBusinessTimeFormat()
  const now = useNow()
  const [shown, setShown] = useState<View>('today')
  const today = useQuery(overviewQuery())
  const { data, error, refetch } = useQuery({
    ...overviewOf(shown, format.isoDay(now)),
    placeholderData: (previous) => previous,
  })
  const session = useSession()
  const [isDismissed, setDismissed] = useState(false)
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />
  if (today.data && !isDismissed && isFirstVisit(today.data, session)) {
    return (
      <Suspense fallback={<Loading />}>
        <FirstVisit overview={today.data} onDismiss={() => setDismissed(true)} />
      </Suspense>
    )
  }
  return (
    <>
      <PageHead
        title={format.longDay(now)}
        lede={today.data && <DaySentence overview={today.data} />}
      >
        <BookButton />
      </PageHead>
      {data && today.data ? (
        <>
          <DayCard overview={data} now={now} shown={shown} onShow={setShown} />
          <div className={classes.columns}>
            <div className="column" style={{ gap: 20 }}>
              <NeedsYou overview={today.data} />
              <Expected now={now} />
            </div>
            <Next now={now} waiting={countsOf(today.data).waiting ?? 0} />
            <div className="column" style={{ gap: 20 }}>
              <LastDays days={today.data.lastDays} />
              <Health overview={today.data} />
            </div>
          </div>
        </>
      ) : (
        <LoadingColumns hasStrip />
      )}
    </>
  )
}

function overviewOf(view: View, today: string) {
  if (view === 'week') return overviewQuery(mondayOf(today), WEEK_DAYS)
  return overviewQuery(view === 'tomorrow' ? addDays(today, 1) : undefined)
}

function BookButton() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { functions } = useSession()
  if (!functions.includes('EDIT_SCHEDULE')) return null
  return (
    <Button
      variant="default"
      leftSection={<IconPlus size={15} aria-hidden />}
      rightSection={<kbd>B</kbd>}
      onClick={() => void navigate({ href: NEW_APPOINTMENT })}
    >
      {t('today.book')}
    </Button>
  )
}

type Counts = Partial<Record<MarkName, number>>

/** The overview counts completed messages, not whether they were sent or captured. */
function markOfStatus(status: TriggerStatus, { mail }: Overview): MarkName {
  const mark = MARK_OF_STATUS[status]
  return mark === 'sent' && mail.captured ? 'captured' : mark
}

function countsOf(overview: Overview): Counts {
  const counts: Counts = {}
  for (const { status, count } of overview.quarterHours) {
    const mark = markOfStatus(status, overview)
    counts[mark] = (counts[mark] ?? 0) + count
  }
  return counts
}

function DaySentence({ overview }: { overview: Overview }) {
  const { sent = 0, captured = 0, sending = 0, waiting = 0, failed = 0 } = countsOf(overview)
  return (
    <>
      <Trans
        i18nKey={overview.mail.captured ? 'today.ledeCaptured' : 'today.lede'}
        values={{ sent: sent + captured, waiting, failed }}
        components={{ b: <b /> }}
      />
      {sending > 0 && (
        <>
          {' '}
          <Trans
            i18nKey="today.ledeSending"
            values={{ count: sending }}
            components={{ b: <b /> }}
          />
        </>
      )}
    </>
  )
}

const LEGEND: MarkName[] = ['sending', 'waiting', 'failed', 'skipped', 'late', 'cancelled']

type DayCardProps = {
  overview: Overview
  now: number
  shown: View
  onShow: (shown: View) => void
}

function DayCard({ overview, now, shown, onShow }: DayCardProps) {
  const { t } = useTranslation()
  const format = useBusinessTimeFormat()
  const counts = countsOf(overview)
  return (
    <section className="card" style={{ padding: '13px 20px 8px' }}>
      <div className={classes.legend}>
        {[markOfStatus('COMPLETED', overview), ...LEGEND].map((mark) => (
          <span key={mark} className="row numbers small" style={{ gap: 6 }}>
            <Mark mark={mark} />
            <b className="strong">{counts[mark] ?? 0}</b>
            <span className="soft">{insideSentence(t(`status.${mark}`))}</span>
          </span>
        ))}
        <span className="grow" />
        <SegmentedControl
          size="xs"
          value={shown}
          onChange={(value) => onShow(value as View)}
          data={VIEWS.map((view) => ({ value: view, label: t(`today.${view}`) }))}
        />
      </div>
      {overview.days > 1 ? (
        <Week overview={overview} now={now} />
      ) : (
        <DayRope
          label={t('today.rope')}
          now={overview.day === format.isoDay(now) ? format.hourOfDay(now) : undefined}
          nowLabel={format.time(now)}
          quarters={overview.quarterHours.map(({ time, status, count }) => ({
            hour: format.hourOfDay(time),
            mark: markOfStatus(status, overview),
            count,
          }))}
        />
      )}
    </section>
  )
}

function Week({ overview, now }: { overview: Overview; now: number }) {
  const { t } = useTranslation()
  const format = useBusinessTimeFormat()
  const ofDay = Map.groupBy(overview.quarterHours, ({ time }) => format.isoDay(time))
  const days = Array.from({ length: overview.days }, (_, i) => addDays(overview.day, i))
  return (
    <WeekRope
      label={t('today.weekRope')}
      now={days.indexOf(format.isoDay(now)) + format.hourOfDay(now) / 24}
      nowLabel={format.time(now)}
      days={days.map((day) => ({
        label: `${format.weekday(format.startOfDay(day))} ${Number(day.slice(-2))}`,
        messages: Object.entries(countsOf({ ...overview, quarterHours: ofDay.get(day) ?? [] })).map(
          ([mark, count]) => ({ mark: mark as MarkName, count }),
        ),
      }))}
    />
  )
}

function Next({ now, waiting }: { now: number; waiting: number }) {
  const { t } = useTranslation()
  const { functions } = useSession()
  const { data, error, refetch } = useQuery(nextMessagesQuery)
  const messages = data?.items ?? []
  const first = messages[0]
  return (
    <Panel
      title={t('today.next')}
      aside={
        first && <span className="faint small">{untilFirst(first.scheduledTime - now, t)}</span>
      }
    >
      {error && !data ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Loading />
      ) : messages.length === 0 ? (
        <Empty
          title={t('today.nothingAhead')}
          actions={
            functions.includes('VIEW_DEFINITIONS') && (
              <Link to="/automations" className="button">
                {t('activity.toAutomations')}
              </Link>
            )
          }
        >
          {t('today.nothingAheadHint')}
        </Empty>
      ) : (
        <NextRows messages={messages} />
      )}
      {waiting > 0 && (
        <Link to="/activity" search={{ outcome: 'waiting' }} className={`small ${classes.all}`}>
          {t('today.allOfToday', { count: waiting })}
        </Link>
      )}
    </Panel>
  )
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** "the first in 3 minutes", "the first in 12 hours" */
function untilFirst(ms: number, t: ReturnType<typeof useTranslation>['t']) {
  const minutes = Math.max(0, Math.round(ms / MINUTE_MS))
  if (ms < 2 * HOUR_MS) return t('today.firstIn', { count: minutes })
  if (ms < 2 * DAY_MS) return t('today.firstInHours', { count: Math.round(ms / HOUR_MS) })
  return t('today.firstInDays', { count: Math.round(ms / DAY_MS) })
}

function NextRows({ messages }: { messages: Message[] }) {
  const format = useTimeFormat()
  return messages.map((message, i) => {
    const { scheduledTime } = message
    const before = messages[i - 1]?.scheduledTime ?? Date.now()
    const isNewDay = format.isoDay(scheduledTime) !== format.isoDay(Math.max(before, Date.now()))
    const isNewTime = isNewDay || i === 0 || format.time(before) !== format.time(scheduledTime)
    return (
      <Fragment key={message.eventTriggerId}>
        {isNewDay && (
          <div className={`eyebrow ${classes.day}`}>{format.nearDay(scheduledTime)}</div>
        )}
        <div className={classes.next} data-same-time={!isNewTime || undefined}>
          <span className={`numbers small strong ${classes.time}`}>
            {isNewTime && format.time(scheduledTime)}
          </span>
          <Mark mark="waiting" size={11} />
          <Link
            to="/activity/$eventTriggerId"
            params={{ eventTriggerId: message.eventTriggerId }}
            search={{ outcome: 'waiting' }}
            className="ellipsis"
            style={{ fontWeight: 550, color: 'var(--ink)' }}
            dir="auto"
          >
            {message.clientName ?? message.objectName ?? '–'}
          </Link>
          <span className="ellipsis soft small grow" dir="auto">
            {message.templateName ?? message.description}
          </span>
        </div>
      </Fragment>
    )
  })
}

function LastDays({ days }: { days: Overview['lastDays'] }) {
  const { t } = useTranslation()
  const format = useBusinessTimeFormat()
  const rows = days.map(({ day, counts }) => ({
    day,
    sent: counts.COMPLETED ?? 0,
    other: (counts.SKIPPED ?? 0) + (counts.EXPIRED ?? 0),
    failed: counts.FAILED ?? 0,
  }))
  const total = (key: 'sent' | 'other' | 'failed') => rows.reduce((sum, row) => sum + row[key], 0)
  const firstDay = rows[0] && format.day(format.startOfDay(rows[0].day))
  return (
    <Panel title={t('today.lastDays')}>
      <DayBars rows={rows} label={t('today.lastDays')} />
      <div className="row faint tiny">
        <span className="grow">{firstDay}</span>
        {insideSentence(t('today.today'))}
      </div>
      <div className="small" style={{ marginTop: 6 }}>
        <Trans
          i18nKey="today.lastDaysCounts"
          values={{ sent: total('sent'), failed: total('failed'), other: total('other') }}
          components={{ b: <b className="strong" />, bad: <b className="strong clay" /> }}
        />
      </div>
    </Panel>
  )
}

type DayBar = { day: string; sent: number; other: number; failed: number }

const BARS = { width: 244, height: 84 }

function DayBars({ rows, label }: { rows: DayBar[]; label: string }) {
  const step = BARS.width / rows.length
  const maxTotal = Math.max(1, ...rows.map((row) => row.sent + row.other + row.failed))
  const heightOf = (count: number) => (count / maxTotal) * BARS.height
  return (
    <svg
      viewBox={`0 0 ${BARS.width} ${BARS.height + 1}`}
      width="100%"
      role="img"
      aria-label={label}
    >
      {rows.map((row, i) => {
        const [sent, other, failed] = [row.sent, row.other, row.failed].map(heightOf) as [
          number,
          number,
          number,
        ]
        const bar = { x: i * step + 1, width: step - 2.2, rx: 1.2 }
        const y = (below: number, own: number) => BARS.height - below - own
        return (
          <g key={row.day}>
            <rect
              {...bar}
              y={y(0, sent)}
              height={sent}
              fill="var(--mark)"
              opacity={i === rows.length - 1 ? 0.55 : 1}
            />
            <rect
              {...bar}
              y={y(sent, other)}
              height={other}
              fill="var(--line-strong)"
              opacity=".75"
            />
            {failed > 0 && (
              <rect
                {...bar}
                y={y(sent + other, Math.max(failed, 2))}
                height={Math.max(failed, 2)}
                fill="var(--clay)"
              />
            )}
          </g>
        )
      })}
      <path d={`M0 ${BARS.height + 0.5} H${BARS.width}`} stroke="var(--line-strong)" opacity=".5" />
    </svg>
  )
}

function Health({ overview }: { overview: Overview }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const say = useReasonWords()
  const { engine, mail, database, reconciliation } = overview
  const isWell = engine.ok && mail.ok && database.ok && (reconciliation?.ok ?? true)
  return (
    <Panel title={t(isWell ? 'today.healthy' : 'today.unhealthy')}>
      <HealthLine ok={engine.ok} part={t('today.engine')}>
        {t('today.engineOverdue', { count: engine.overdue })}
      </HealthLine>
      <HealthLine ok={mail.ok} part={t('today.mail')}>
        {mail.problem !== null
          ? asSentence(say(mail.problems), mail.problems)
          : mail.captured
            ? t('today.mailCaptured')
            : t('today.mailAccepted', { count: mail.sentLastDay })}
      </HealthLine>
      <HealthLine ok={database.ok} part={t('today.database')}>
        {t('today.databaseAnswers', { ms: database.milliseconds })}
      </HealthLine>
      {reconciliation && (
        <HealthLine ok={reconciliation.ok} part={t('today.reconciliation')}>
          {t(reconciliation.ok ? 'today.reconciled' : 'today.reconciledWithFaults', {
            time: format.moment(reconciliation.endedTime),
          })}
        </HealthLine>
      )}
    </Panel>
  )
}

function HealthLine({ ok, part, children }: { ok: boolean; part: string; children: ReactNode }) {
  const Icon = ok ? IconCircleCheck : IconAlertTriangle
  return (
    <div className={`row small ${classes.health}`}>
      <Icon
        size={16}
        stroke={1.9}
        className={ok ? 'accent' : 'clay'}
        style={{ flex: 'none', marginTop: 1 }}
        aria-hidden
      />
      <span>
        <b className="strong">{part}</b> <span className="soft">{children}</span>
      </span>
    </div>
  )
}
