import { Button, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import {
  IconDownload,
  IconPlayerPlay,
  IconRefresh,
  IconSearch,
  IconX,
} from '../components/icons.tsx'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { Trans } from '../texts/trans.tsx'
import { formatNumber, useTranslation } from '../texts/translate.ts'
import type { TriggerStatus } from '../../src/contract/event-trigger.ts'
import { automationsQuery } from '../api/automations.ts'
import {
  messageCountsQuery,
  messagesQuery,
  type Message,
  type MessageFilters,
} from '../api/messages.ts'
import { useSession } from '../api/session.ts'
import { setupQuery } from '../api/setup.ts'
import { LiveDot } from '../components/live-dot.tsx'
import { Mark, MARK_OF_STATUS, markOf, type MarkName } from '../components/mark.tsx'
import { LoadingRows } from '../components/skeletons.tsx'
import { Empty, Failure } from '../components/states.tsx'
import { asSentence, useReasonWords } from '../components/reason-words.ts'
import { useTimeFormat } from '../components/time.ts'
import {
  actionableBy,
  actionableOf,
  useAllowedActions,
  useHeldAction,
  type Actionable,
  type ActionName,
} from '../messages/actions.ts'
import { toCsv } from '../messages/csv.ts'
import { filtersOf, hasDays, listFiltersOf, STATUSES } from '../messages/filters.ts'
import type { ActivitySearch } from '../messages/search.ts'
import classes from '../messages/activity.module.css'
import { createListKeeper, type LoadedList } from '../messages/loaded-list.ts'
import { MessageRows } from '../messages/message-rows.tsx'
import { saveFile } from '../components/save-file.ts'
import { SavedViews } from '../messages/saved-views.tsx'
import { usePageKeys } from '../shell/keys.ts'
import { PageHead } from '../shell/page-head.tsx'

const MessagePeek = lazy(async () => {
  const { MessagePeek } = await import('../messages/peek.tsx')
  return { default: MessagePeek }
})

export function ActivityPage() {
  const { t } = useTranslation()
  const search = useSearch({ from: '/shell/activity' })
  const format = useTimeFormat()
  const filters = useMemo(() => listFiltersOf(search, format), [search, format])
  const { outcome: _outcome, ...others } = search
  const counts = useQuery(messageCountsQuery(filtersOf(search, format)))
  const listed = useQuery(messageCountsQuery(listFiltersOf(others, format)))
  const { SCHEDULED: _ahead, ...past } = listed.data ?? {}
  const total = Object.values(past).reduce((sum, count) => sum + count, 0)
  return (
    <>
      <PageHead
        title={t('activity.title')}
        lede={
          listed.data && (
            <Trans
              i18nKey="activity.lede"
              values={{ sent: listed.data.COMPLETED ?? 0, total }}
              components={{ b: <b /> }}
            />
          )
        }
      >
        <LiveDot />
        <ExportButton filters={filters} />
      </PageHead>
      <OutcomeTabs counts={counts.data ?? {}} total={total} search={search} />
      <Filters search={search} />
      <Messages filters={filters} search={search} counts={counts.data ?? {}} />
    </>
  )
}

const TABS: MarkName[] = ['waiting', 'sent', 'failed', 'skipped', 'late', 'cancelled']

/** How many messages have this outcome. */
const countOf = (mark: MarkName, counts: TabsProps['counts']) =>
  STATUSES.filter((status) => MARK_OF_STATUS[status] === mark).reduce(
    (sum, status) => sum + (counts[status] ?? 0),
    0,
  )

type TabsProps = {
  counts: Partial<Record<TriggerStatus, number>>
  total: number
  search: ActivitySearch
}

function OutcomeTabs({ counts, total, search }: TabsProps) {
  const { t } = useTranslation()
  const chosen = search.outcome
  return (
    <nav className={classes.tabs} aria-label={t('activity.outcome')}>
      <Tab
        outcome={undefined}
        isChosen={!chosen}
        count={total}
        label={t(hasDays(search) ? 'activity.all' : 'activity.untilToday')}
      />
      {TABS.map((mark) => (
        <Tab
          key={mark}
          outcome={mark}
          isChosen={chosen === mark}
          count={countOf(mark, counts)}
          label={mark === 'sent' ? t('activity.completed') : t(`status.${mark}`)}
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
      <span className="faint numbers">{formatNumber(count)}</span>
    </Link>
  )
}

function Filters({ search }: { search: ActivitySearch }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { data: automations = [] } = useQuery(automationsQuery)
  const { data: setup } = useQuery(setupQuery)
  const openView = (view: ActivitySearch) => navigate({ to: '/activity', search: view })
  const change = (more: Partial<Record<keyof ActivitySearch, unknown>>) =>
    void navigate({
      to: '/activity',
      search: Object.fromEntries(
        Object.entries({ ...search, ...more }).filter(([, value]) => value),
      ) as ActivitySearch,
      replace: true,
    })
  return (
    <div className={classes.filters}>
      <TextFilter text={search.text ?? ''} onChange={(text) => change({ text })} />
      <Select
        aria-label={t('activity.automation')}
        placeholder={t('activity.anyAutomation')}
        w={224}
        clearable
        searchable
        value={search.automation ? String(search.automation) : null}
        onChange={(value) => change({ automation: Number(value) || undefined })}
        data={automations.map(({ eventDefnId, description }) => ({
          value: String(eventDefnId),
          label: description ?? t('editor.unnamed'),
        }))}
      />
      <Select
        aria-label={t('activity.location')}
        placeholder={t('activity.anyLocation')}
        w={160}
        clearable
        value={search.location ? String(search.location) : null}
        onChange={(value) => change({ location: Number(value) || undefined })}
        data={(setup?.locations ?? []).map(({ locationId, name }) => ({
          value: String(locationId),
          label: name,
        }))}
      />
      <DayFilter
        label={t('activity.from')}
        day={search.from}
        onChange={(from) => change({ from })}
      />
      <DayFilter label={t('activity.to')} day={search.to} onChange={(to) => change({ to })} />
      <span className="grow" />
      <SavedViews search={search} onOpen={openView} />
    </div>
  )
}

type DayFilterProps = { label: string; day: string | undefined; onChange: (day: string) => void }

function DayFilter({ label, day, onChange }: DayFilterProps) {
  return (
    <TextInput
      type="date"
      aria-label={label}
      leftSection={<span className="tiny soft">{label}</span>}
      leftSectionWidth={48}
      w={182}
      value={day ?? ''}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

const TYPING_MS = 300

function TextFilter({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const { t } = useTranslation()
  const [typed, setTyped] = useState(text)
  const passed = useRef(text)
  const pass = useDebouncedCallback((latest: string) => {
    passed.current = latest
    onChange(latest)
  }, TYPING_MS)
  useEffect(() => {
    if (text === passed.current) return
    // A link or a saved view has changed the text, which replaces what is typed.
    passed.current = text
    pass.cancel()
    setTyped(text)
  }, [text, pass])
  return (
    <TextInput
      leftSection={<IconSearch size={15} aria-hidden />}
      rightSection={<kbd>/</kbd>}
      placeholder={t('activity.find')}
      aria-label={t('activity.find')}
      w={220}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        pass(event.currentTarget.value)
      }}
    />
  )
}

/** Saves the rows that are loaded as a file. */
function ExportButton({ filters }: { filters: MessageFilters }) {
  const { t } = useTranslation()
  const { data } = useInfiniteQuery(messagesQuery(filters))
  const save = useExport()
  const pages = data?.pages ?? []
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={15} aria-hidden />}
      disabled={!pages[0]?.items.length}
      title={t('activity.exportHint')}
      onClick={() => save(pages.flatMap((page) => page.items))}
    >
      {t('activity.export')}
    </Button>
  )
}

function useExport() {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const say = useReasonWords()
  return (messages: Message[]) => {
    const head = ['time', 'outcome', 'client', 'message', 'automation', 'location'] as const
    const rows = messages.map((message) => [
      `${format.isoDay(message.scheduledTime)} ${format.time(message.scheduledTime)}`,
      t(`status.${markOf(message)}`),
      message.clientName ?? message.objectName,
      asSentence(say(message.statusReasons), message.statusReasons) || message.email?.subject,
      message.description,
      message.locationName,
    ])
    const names = head.map((name) => t(`activity.${name}`))
    const file = `messages-${format.isoDay(Date.now())}.csv`
    saveFile(file, toCsv([names, ...rows]), 'text/csv;charset=utf-8')
  }
}

type MessagesProps = Pick<TabsProps, 'counts' | 'search'> & { filters: MessageFilters }

function Messages({ filters, search, counts }: MessagesProps) {
  const { t } = useTranslation()
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    {
      ...messagesQuery(filters),
      placeholderData: (previous) => previous,
    },
  )
  const format = useTimeFormat()
  const [keepList] = useState(createListKeeper)
  const list = useMemo(() => keepList(data?.pages ?? [], format), [keepList, data, format])
  if (error && !data) {
    return <Failure title={t('errors.list')} error={error} onRetry={() => void refetch()} />
  }
  if (!data) return <LoadingRows />
  if (list.messages.length === 0) {
    const isAnywhere = Object.values(counts).some((count) => count > 0)
    return isAnywhere || Object.keys(search).length > 0 ? (
      <NothingFound search={search} counts={counts} />
    ) : (
      <NoMessageYet />
    )
  }
  return (
    <SelectableRows
      // A new list starts without a selection.
      key={JSON.stringify(filters)}
      list={list}
      search={search}
      onNearEnd={() => {
        if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
      }}
    />
  )
}

function NoMessageYet() {
  const { t } = useTranslation()
  const { functions } = useSession()
  return (
    <Empty
      title={t('activity.none')}
      actions={
        <>
          {functions.includes('VIEW_DEFINITIONS') && (
            <Link to="/automations" className="button">
              {t('activity.toAutomations')}
            </Link>
          )}
          {functions.includes('EDIT_SCHEDULE') && (
            <Link to="/calendar" search={{ book: true }} className="button quiet">
              {t('palette.book')}
            </Link>
          )}
        </>
      }
    >
      {t('activity.noneHint')}
    </Empty>
  )
}

/** Offers all days, the outcomes that have messages with the same filters, and no filters. */
function NothingFound({ search, counts }: Pick<TabsProps, 'counts' | 'search'>) {
  const { t } = useTranslation()
  const { from: _from, to: _to, ...onAllDays } = search
  const { outcome } = search
  const others = TABS.map((mark) => ({ mark, count: countOf(mark, counts) })).filter(
    ({ count }) => count > 0,
  )
  const otherCount = others.reduce((sum, { count }) => sum + count, 0)
  const isOutcomeOnly = outcome && Object.keys(onAllDays).length === 1
  const hasFilters = Object.keys(search).length > 0
  const title = isOutcomeOnly
    ? t(`activity.noneOf.${outcome}`)
    : t(hasFilters ? 'activity.noneFound' : 'activity.noneUntilToday')
  return (
    <Empty
      title={isOutcomeOnly && hasDays(search) ? t('activity.inTheseDays', { title }) : title}
      actions={
        <>
          {hasDays(search) && (
            <Link to="/activity" search={onAllDays} className="button">
              {t('activity.allDays')}
            </Link>
          )}
          {others.map(({ mark, count }) => (
            <Link
              key={mark}
              to="/activity"
              search={{ ...search, outcome: mark }}
              className="button"
            >
              <Mark mark={mark} size={10} />
              {mark === 'sent' ? t('activity.completed') : t(`status.${mark}`)}{' '}
              {formatNumber(count)}
            </Link>
          ))}
          {hasFilters && (
            <Link to="/activity" search={{}} className="button quiet">
              {t('activity.withoutFilters')}
            </Link>
          )}
        </>
      }
    >
      {otherCount > 0
        ? t('activity.noneFoundHint', { count: otherCount })
        : t('activity.noneFoundAtAll')}
    </Empty>
  )
}

type RowsProps = { list: LoadedList; search: ActivitySearch; onNearEnd: () => void }

function SelectableRows({ list, search, onNearEnd }: RowsProps) {
  const { messages } = list
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set())
  /** The id, because a message that arrives moves all that are below it. */
  const [currentId, setCurrent] = useState<number>()
  const current = useMemo(() => {
    const place = messages.findIndex(({ eventTriggerId }) => eventTriggerId === currentId)
    return place === -1 ? undefined : place
  }, [messages, currentId])
  const chosen =
    selected.size === 0 ? [] : messages.filter(({ eventTriggerId }) => selected.has(eventTriggerId))
  const toggle = useCallback((id: number) => {
    setSelected((before) => {
      const changed = new Set(before)
      if (!changed.delete(id)) changed.add(id)
      return changed
    })
  }, [])
  const move = (by: number) => () => {
    const place = Math.min(Math.max((current ?? -1) + by, 0), messages.length - 1)
    setCurrent(messages[place]?.eventTriggerId)
  }
  const message = current === undefined ? undefined : messages[current]
  const [isPeeking, setPeeking] = useState(false)
  const endPeek = () => setPeeking(false)
  const deselect = () => setSelected(new Set())
  usePageKeys({
    j: move(1),
    k: move(-1),
    ' ': message && (() => setPeeking(!isPeeking)),
    x: message && (() => toggle(message.eventTriggerId)),
    escape: isPeeking ? endPeek : chosen.length > 0 ? deselect : undefined,
  })
  return (
    <>
      <MessageRows
        list={list}
        search={search}
        onNearEnd={onNearEnd}
        selected={selected}
        onToggle={toggle}
        onToggleAll={() =>
          setSelected(
            chosen.length === messages.length
              ? new Set()
              : new Set(messages.map(({ eventTriggerId }) => eventTriggerId)),
          )
        }
        current={current}
        onCurrent={setCurrent}
      />
      {chosen.length > 0 && <BulkBar messages={chosen} onDone={deselect} />}
      {isPeeking && message && (
        <Suspense>
          <MessagePeek message={message} search={search} onClose={endPeek} />
        </Suspense>
      )}
    </>
  )
}

const ICONS: Record<ActionName, typeof IconX> = {
  sendAgain: IconRefresh,
  fire: IconPlayerPlay,
  cancel: IconX,
}

/** An action, and those of the selected messages that it applies to. */
type BulkAction = { name: ActionName; some: Actionable[] }

function ActionButton({ action, onClick }: { action: BulkAction; onClick: () => void }) {
  const { t } = useTranslation()
  const { name, some } = action
  const Icon = ICONS[name]
  return (
    <Button variant="default" leftSection={<Icon size={15} aria-hidden />} onClick={onClick}>
      {t(`activity.${name}`, { count: some.length })}
      {name === 'sendAgain' && <kbd>R</kbd>}
    </Button>
  )
}

/** The actions on the selected messages. More than one message needs a confirmation. */
function BulkBar({ messages, onDone }: { messages: Message[]; onDone: () => void }) {
  const { t } = useTranslation()
  const hold = useHeldAction()
  const save = useExport()
  const [asked, setAsked] = useState<ActionName>()
  const all = messages.map(actionableOf)
  const actions = useAllowedActions()
    .map((name) => ({ name, some: actionableBy(name, all) }))
    .filter(({ some }) => some.length > 0)
  const act = ({ name, some }: BulkAction) => {
    hold(name, some)
    onDone()
  }
  const sendAgain = actions.find(({ name }) => name === 'sendAgain')
  const ask = (action: BulkAction) =>
    action.some.length > 1 && asked !== action.name ? setAsked(action.name) : act(action)
  usePageKeys({
    r: sendAgain && (() => ask(sendAgain)),
    e: () => save(messages),
  })
  const confirmed = asked && actions.find(({ name }) => name === asked)
  return (
    <div className={classes.bulk} role="region" aria-label={t('activity.bulk')}>
      <span className="strong">{t('activity.selected', { count: messages.length })}</span>
      {confirmed ? (
        <>
          <span className={`small ${classes.quiet}`}>
            {t(`activity.confirm.${confirmed.name}`)}
          </span>
          <Button onClick={() => act(confirmed)}>
            {t(`activity.${confirmed.name}`, { count: confirmed.some.length })}
          </Button>
          <Button variant="default" onClick={() => setAsked(undefined)}>
            {t('activity.back')}
          </Button>
        </>
      ) : (
        <>
          {actions.map((action) => (
            <ActionButton key={action.name} action={action} onClick={() => ask(action)} />
          ))}
          <Button
            variant="default"
            leftSection={<IconDownload size={15} aria-hidden />}
            onClick={() => save(messages)}
          >
            {t('activity.exportSelected', { count: messages.length })}
            <kbd>E</kbd>
          </Button>
          <Button variant="subtle" onClick={onDone}>
            {t('activity.deselect')}
            <kbd>Esc</kbd>
          </Button>
        </>
      )}
    </div>
  )
}
