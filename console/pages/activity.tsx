import { Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { Trans, useTranslation } from 'react-i18next'
import type { TriggerStatus } from '../../src/contract/event-trigger.ts'
import { automationsQuery } from '../api/automations.ts'
import { messageCountsQuery, messagesQuery, type Message } from '../api/messages.ts'
import { setupQuery } from '../api/setup.ts'
import { Mark, MARK_OF_STATUS, Status, type MarkName } from '../components/mark.tsx'
import { Empty, Failure, Loading } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { PageHead } from '../shell/page-head.tsx'
import classes from './activity.module.css'

/** The filters as they stand in the address. */
export type ActivitySearch = {
  outcome?: MarkName
  text?: string
  automation?: number
  location?: number
  client?: number
}

const STATUSES = Object.keys(MARK_OF_STATUS) as TriggerStatus[]
const statusesOf = (mark: MarkName) =>
  STATUSES.filter((status) => MARK_OF_STATUS[status] === mark).join(',')

/** What has happened; pending messages have a tab of their own. */
const PAST = STATUSES.filter((status) => status !== 'SCHEDULED').join(',')

export function ActivityPage() {
  const { t } = useTranslation()
  const search = useSearch({ from: '/shell/activity' })
  const filters = useMemo(
    () => ({
      status: search.outcome ? statusesOf(search.outcome) : PAST,
      ...(search.text && { text: search.text }),
      ...(search.automation && { eventDefnId: search.automation }),
      ...(search.location && { locationId: search.location }),
      ...(search.client && { clientId: search.client }),
    }),
    [search],
  )
  const counts = useQuery(messageCountsQuery(filters))
  const { SCHEDULED: _ahead, ...past } = counts.data ?? {}
  const total = Object.values(past).reduce((sum, count) => sum + count, 0)
  return (
    <>
      <PageHead
        title={t('activity.title')}
        lede={
          counts.data && (
            <Trans
              i18nKey="activity.lede"
              values={{ sent: counts.data.COMPLETED ?? 0, total }}
              components={{ b: <b /> }}
            />
          )
        }
      />
      <OutcomeTabs counts={counts.data ?? {}} total={total} chosen={search.outcome} />
      <Filters search={search} />
      <Messages filters={filters} />
    </>
  )
}

const TABS: MarkName[] = ['waiting', 'sent', 'failed', 'skipped', 'late', 'cancelled']

type TabsProps = {
  counts: Partial<Record<TriggerStatus, number>>
  total: number
  chosen: MarkName | undefined
}

function OutcomeTabs({ counts, total, chosen }: TabsProps) {
  const { t } = useTranslation()
  const countOf = (mark: MarkName) =>
    STATUSES.filter((status) => MARK_OF_STATUS[status] === mark).reduce(
      (sum, status) => sum + (counts[status] ?? 0),
      0,
    )
  return (
    <nav className={classes.tabs} aria-label={t('activity.outcome')}>
      <Tab outcome={undefined} isChosen={!chosen} count={total} label={t('activity.all')} />
      {TABS.map((mark) => (
        <Tab
          key={mark}
          outcome={mark}
          isChosen={chosen === mark}
          count={countOf(mark)}
          label={t(`status.${mark}`)}
        />
      ))}
    </nav>
  )
}

type TabProps = { outcome: MarkName | undefined; isChosen: boolean; count: number; label: string }

function Tab({ outcome, isChosen, count, label }: TabProps) {
  return (
    <Link
      to="/activity"
      search={({ outcome: _before, ...others }: ActivitySearch) =>
        outcome ? { ...others, outcome } : others
      }
      className={classes.tab}
      data-chosen={isChosen || undefined}
      aria-current={isChosen ? 'true' : undefined}
    >
      {outcome && <Mark mark={outcome} size={11} />}
      {label}
      <span className="faint numbers">{count.toLocaleString()}</span>
    </Link>
  )
}

function Filters({ search }: { search: ActivitySearch }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { data: automations = [] } = useQuery(automationsQuery)
  const { data: setup } = useQuery(setupQuery)
  const change = (more: Partial<Record<keyof ActivitySearch, unknown>>) =>
    void navigate({
      to: '/activity',
      search: Object.fromEntries(
        Object.entries({ ...search, ...more }).filter(([, value]) => value),
      ) as ActivitySearch,
      replace: true,
    })
  return (
    <div className="row" style={{ gap: 8, marginBottom: 12, flexWrap: 'wrap' }}>
      <TextFilter text={search.text ?? ''} onChange={(text) => change({ text })} />
      <Select
        aria-label={t('activity.automation')}
        placeholder={t('activity.anyAutomation')}
        w={230}
        clearable
        searchable
        value={search.automation ? String(search.automation) : null}
        onChange={(value) => change({ automation: Number(value) || undefined })}
        data={automations.map(({ eventDefnId, description }) => ({
          value: String(eventDefnId),
          label: description ?? `#${eventDefnId}`,
        }))}
      />
      <Select
        aria-label={t('activity.location')}
        placeholder={t('activity.anyLocation')}
        w={190}
        clearable
        value={search.location ? String(search.location) : null}
        onChange={(value) => change({ location: Number(value) || undefined })}
        data={(setup?.locations ?? []).map(({ locationId, name }) => ({
          value: String(locationId),
          label: name,
        }))}
      />
    </div>
  )
}

const TYPING_MS = 300

function TextFilter({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const { t } = useTranslation()
  const [typed, setTyped] = useState(text)
  const pass = useDebouncedCallback(onChange, TYPING_MS)
  return (
    <TextInput
      leftSection={<IconSearch size={15} aria-hidden />}
      placeholder={t('activity.find')}
      aria-label={t('activity.find')}
      w={258}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        pass(event.currentTarget.value)
      }}
    />
  )
}

const ROW_HEIGHT = 38
/** So many rows before the end the next page is fetched. */
const AHEAD = 30

function Messages({ filters }: { filters: Parameters<typeof messagesQuery>[0] }) {
  const { t } = useTranslation()
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    {
      ...messagesQuery(filters),
      placeholderData: (previous) => previous,
    },
  )
  const messages = useMemo(() => data?.pages.flatMap((page) => page.items) ?? [], [data])
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading lines={12} height={24} />
  if (messages.length === 0) {
    const isFiltered = Object.keys(filters).length > 1 || filters.status !== PAST
    return (
      <div className="card">
        <Empty title={t(isFiltered ? 'activity.noneFound' : 'activity.none')}>
          {t(isFiltered ? 'activity.noneFoundHint' : 'activity.noneHint')}
        </Empty>
      </div>
    )
  }
  return (
    <MessageRows
      messages={messages}
      onNearEnd={() => {
        if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
      }}
    />
  )
}

/** Only the rows in sight are drawn, however many there are. */
function MessageRows({ messages, onNearEnd }: { messages: Message[]; onNearEnd: () => void }) {
  const { t } = useTranslation()
  const list = useRef<HTMLDivElement>(null)
  const [offset, setOffset] = useState(0)
  useLayoutEffect(() => setOffset(list.current?.offsetTop ?? 0), [])
  const rows = useWindowVirtualizer({
    count: messages.length,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
    scrollMargin: offset,
  })
  const shown = rows.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (last > messages.length - AHEAD) onNearEnd()
  }, [last, messages.length, onNearEnd])
  return (
    <div
      className="card"
      role="table"
      aria-label={t('activity.title')}
      aria-rowcount={messages.length}
    >
      <div role="row" className={`${classes.row} ${classes.head}`}>
        <span role="columnheader">{t('activity.time')}</span>
        <span role="columnheader">{t('activity.outcome')}</span>
        <span role="columnheader">{t('activity.client')}</span>
        <span role="columnheader">{t('activity.message')}</span>
        <span role="columnheader">{t('activity.automation')}</span>
      </div>
      <div ref={list} role="rowgroup" style={{ position: 'relative', height: rows.getTotalSize() }}>
        {shown.map(({ index, start }) => (
          <MessageRow
            key={messages[index]!.eventTriggerId}
            message={messages[index]!}
            top={start - offset}
          />
        ))}
      </div>
    </div>
  )
}

function MessageRow({ message, top }: { message: Message; top: number }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const mark = MARK_OF_STATUS[message.status]
  const attempts = message.email?.attempts ?? 0
  return (
    <div
      role="row"
      className={classes.row}
      style={{ position: 'absolute', top, left: 0, right: 0 }}
    >
      <span role="cell" className="numbers soft">
        {format.moment(message.scheduledTime)}
      </span>
      <span role="cell" className="row">
        <Status mark={mark} />
        {attempts > 1 && (
          <span className="faint tiny">{t('activity.attempts', { count: attempts })}</span>
        )}
      </span>
      <span role="cell" className="ellipsis" style={{ fontWeight: 550 }} dir="auto">
        {message.clientName ?? message.objectName}
      </span>
      <span
        role="cell"
        className={`ellipsis ${message.statusReason ? (mark === 'failed' ? 'clay mono' : 'soft') : ''}`}
        dir="auto"
      >
        {message.statusReason ?? message.email?.subject}
      </span>
      <span role="cell" className="ellipsis soft" dir="auto">
        {message.description}
      </span>
    </div>
  )
}
