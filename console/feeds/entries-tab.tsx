import { Button, Select, SegmentedControl } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { entriesQuery, type Feed, type FeedEntry } from '../api/feeds.ts'
import { ShowMore } from '../components/show-more.tsx'
import { Loaded } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { FormWindow } from '../components/windows.tsx'
import settings from '../setup/settings.module.css'
import { useTranslation } from '../texts/translate.ts'
import { CorrectForm } from './correct-form.tsx'
import { DecisionList } from './decision-list.tsx'
import classes from './feeds.module.css'
import { useReasonWords } from './words.ts'

const STATES = ['HELD', 'MIRRORED', 'SKIPPED', 'GONE'] as const

type Props = { feed: Feed; onRule: (entry: FeedEntry) => void }

/** The entries in one state, each with every decision, to correct. */
export function EntriesTab({ feed, onRule }: Props) {
  const { t } = useTranslation()
  const { entries: counts } = feed.state
  const [state, setState] = useState<FeedEntry['state']>(
    (counts.HELD ?? 0) > 0 ? 'HELD' : 'MIRRORED',
  )
  const [reason, setReason] = useState<string>()
  const [corrected, setCorrected] = useState<FeedEntry>()
  const { list, entries } = useEntries(feed, state, reason)
  const codes = new Set(entries?.flatMap(({ reasonCode }) => reasonCode ?? []))
  if (reason) codes.add(reason)
  return (
    <>
      <EntryFilters
        counts={counts}
        codes={codes}
        state={state}
        reason={reason}
        onState={(chosen) => {
          setState(chosen)
          setReason(undefined)
        }}
        onReason={setReason}
      />
      <p className="soft small">{t(`settings.feeds.stateHints.${state}`)}</p>
      <Loaded
        query={{ ...list, data: entries }}
        empty={<p className="soft">{t('settings.feeds.noEntry')}</p>}
      >
        {(entries) => (
          <ul className={classes.list}>
            {entries.map((entry) => (
              <Entry
                key={entry.entryId}
                entry={entry}
                onCorrect={() => setCorrected(entry)}
                onRule={() => onRule(entry)}
              />
            ))}
          </ul>
        )}
      </Loaded>
      <ShowMore list={list} size="compact-sm" />
      <FormWindow
        isOpen={corrected !== undefined}
        leaving="nothing"
        onClose={() => setCorrected(undefined)}
        title={t('settings.feeds.correct')}
      >
        {corrected && (
          <CorrectForm feed={feed} entry={corrected} onDone={() => setCorrected(undefined)} />
        )}
      </FormWindow>
    </>
  )
}

function useEntries({ feedId, state }: Feed, shown: FeedEntry['state'], reason?: string) {
  const list = useInfiniteQuery(entriesQuery(feedId, shown, reason))
  const entries = list.data?.pages.flatMap(({ items }) => items)
  const { refetch } = list
  // The first pull ended while the empty list was shown.
  const isOutdated = entries?.length === 0 && !reason && (state.entries[shown] ?? 0) > 0
  useEffect(() => {
    if (isOutdated) void refetch()
  }, [isOutdated, refetch])
  return { list, entries }
}

type FiltersProps = {
  counts: Feed['state']['entries']
  /** Why entries are held or skipped. */
  codes: ReadonlySet<string>
  state: FeedEntry['state']
  reason: string | undefined
  onState: (state: FeedEntry['state']) => void
  onReason: (reason: string | undefined) => void
}

function EntryFilters({ counts, codes, state, reason, onState, onReason }: FiltersProps) {
  const { t } = useTranslation()
  const { ofCode } = useReasonWords()
  return (
    <div className={classes.actions}>
      <div className={settings.scroll}>
        <SegmentedControl
          size="xs"
          aria-label={t('settings.feeds.state')}
          value={state}
          data={STATES.map((one) => {
            const label = t(`settings.feeds.states.${one}`)
            return { value: one, label: `${label} (${counts[one] ?? 0})` }
          })}
          onChange={(chosen) => onState(chosen as FeedEntry['state'])}
        />
      </div>
      {codes.size > 0 && (
        <Select
          size="xs"
          aria-label={t('settings.feeds.reason')}
          placeholder={t('settings.feeds.anyReason')}
          clearable
          clearButtonProps={{ 'aria-label': t('settings.feeds.clear') }}
          value={reason ?? null}
          data={[...codes].map((code) => ({ value: code, label: ofCode(code) }))}
          onChange={(code) => onReason(code ?? undefined)}
        />
      )}
    </div>
  )
}

type EntryProps = { entry: FeedEntry; onCorrect: () => void; onRule: () => void }

function Entry({ entry, onCorrect, onRule }: EntryProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { ofEntry } = useReasonWords()
  const { key, title, startTime, state, objectType, objectId } = entry
  const name = title ?? key
  return (
    <li className={classes.entry}>
      <div className={classes.actions}>
        <div className="grow">
          <span className="strong" dir="auto">
            {name}
          </span>
          <div className="soft small numbers">
            {startTime === null ? t('settings.feeds.noTime') : format.moment(startTime)}
          </div>
        </div>
        {state === 'MIRRORED' && objectId !== null && (
          <ObjectLink type={objectType} id={objectId} />
        )}
        {state !== 'GONE' && (
          <>
            <Button
              size="compact-sm"
              variant="default"
              aria-label={t('settings.feeds.correctOf', { name })}
              onClick={onCorrect}
            >
              {t('settings.feeds.correct')}
            </Button>
            <Button
              size="compact-sm"
              variant="default"
              aria-label={t('settings.feeds.rules.ofEntry', { name })}
              onClick={onRule}
            >
              {t('settings.feeds.rules.of')}
            </Button>
          </>
        )}
      </div>
      {entry.reasonCode !== null && (
        <div className="small" dir="auto">
          {ofEntry(entry)}
        </div>
      )}
      <DecisionList decisions={entry.decisions} />
    </li>
  )
}

type ObjectProps = { type: FeedEntry['objectType']; id: number }

function ObjectLink({ type, id }: ObjectProps) {
  const { t } = useTranslation()
  return type === 'CLASS_SCHEDULE' ? (
    <Link
      to="/classes/$classScheduleId"
      params={{ classScheduleId: id }}
      className={settings.textLink}
    >
      {t('settings.feeds.toClass')}
    </Link>
  ) : (
    <Link to="/calendar" search={{ appointment: id }} className={settings.textLink}>
      {t('settings.feeds.toAppointment')}
    </Link>
  )
}
