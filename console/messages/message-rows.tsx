import { Checkbox } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Message } from '../api/messages.ts'
import { markOf, Status } from '../components/mark.tsx'
import { useTimeFormat, type TimeFormat } from '../components/time.ts'
import classes from './activity.module.css'
import type { ActivitySearch } from './filters.ts'

const ROW_HEIGHT = 38
const PHONE_ROW_HEIGHT = 60
const DAY_HEIGHT = 29
/** The next page is fetched this many rows before the end. */
const AHEAD = 30

/** A line of the list: the place of a message, or the day of the messages below it. */
type Line = { place: number } | { day: number }

const QUARTER_MS = 900_000

/** The lines, and the line of each message. */
function linesOf(messages: Message[], format: TimeFormat) {
  // Formatting a day is slow, and every time zone changes its day at a quarter of an hour.
  const days = new Map<number, string>()
  const dayOf = (ms: number) => {
    const quarter = Math.floor(ms / QUARTER_MS)
    let day = days.get(quarter)
    if (day === undefined) days.set(quarter, (day = format.isoDay(ms)))
    return day
  }
  const lines: Line[] = []
  const lineOf: number[] = []
  let last: string | undefined
  for (const [place, { scheduledTime }] of messages.entries()) {
    const day = dayOf(scheduledTime)
    if (day !== last) lines.push({ day: scheduledTime })
    last = day
    lineOf.push(lines.length)
    lines.push({ place })
  }
  return { lines, lineOf }
}

type MessageRowsProps = {
  messages: Message[]
  search: ActivitySearch
  onNearEnd: () => void
  selected: ReadonlySet<number>
  onToggle: (id: number) => void
  onToggleAll: () => void
  /** The row that shortcuts act on. */
  current: number | undefined
  onCurrent: (place: number) => void
}

/** Messages by day; only the visible rows are rendered. */
export function MessageRows(props: MessageRowsProps) {
  const { messages, onNearEnd, selected, current } = props
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { lines, lineOf } = useMemo(() => linesOf(messages, format), [messages, format])
  const isPhone = useMediaQuery('(max-width: 768px)', false, { getInitialValueInEffect: false })
  const list = useRef<HTMLDivElement>(null)
  const [offset, setOffset] = useState(0)
  useLayoutEffect(() => setOffset(list.current?.offsetTop ?? 0), [])
  const rows = useWindowVirtualizer({
    count: lines.length,
    estimateSize: (line) =>
      'day' in lines[line]! ? DAY_HEIGHT : isPhone ? PHONE_ROW_HEIGHT : ROW_HEIGHT,
    overscan: 12,
    scrollMargin: offset,
  })
  useEffect(() => rows.measure(), [rows, isPhone])
  const measuredLines = useRef(lines.length)
  useEffect(() => {
    // A list of another length is measured anyway, which takes time if it is long.
    if (measuredLines.current === lines.length) rows.measure()
    measuredLines.current = lines.length
  }, [rows, lines])
  const shown = rows.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (last > lines.length - AHEAD) onNearEnd()
  }, [last, lines.length, onNearEnd])
  const currentLine = current === undefined ? undefined : lineOf[current]
  useEffect(() => {
    if (currentLine !== undefined) rows.scrollToIndex(currentLine)
  }, [rows, currentLine])
  return (
    <div
      className="card"
      role="table"
      aria-label={t('activity.title')}
      aria-rowcount={messages.length}
    >
      <div role="row" className={`list-row list-head ${classes.row}`}>
        <span role="columnheader" aria-label={t('activity.select')}>
          <Checkbox
            size="xs"
            aria-label={t('activity.selectAll')}
            checked={selected.size > 0 && selected.size >= messages.length}
            indeterminate={selected.size > 0 && selected.size < messages.length}
            onChange={props.onToggleAll}
          />
        </span>
        <span role="columnheader">{t('activity.time')}</span>
        <span role="columnheader">{t('activity.outcome')}</span>
        <span role="columnheader">{t('activity.client')}</span>
        <span role="columnheader">{t('activity.message')}</span>
        <span role="columnheader">{t('activity.automation')}</span>
      </div>
      <div ref={list} role="rowgroup" style={{ position: 'relative', height: rows.getTotalSize() }}>
        {shown.map(({ index, start }) => {
          const line = lines[index]!
          if ('day' in line) {
            return (
              <div
                key={`day ${line.day}`}
                role="presentation"
                aria-hidden
                className={`eyebrow ${classes.day}`}
                style={{ top: start - offset, height: DAY_HEIGHT }}
              >
                {format.headingDay(line.day)}
              </div>
            )
          }
          const { place } = line
          const message = messages[place]!
          return (
            <MessageRow
              key={message.eventTriggerId}
              message={message}
              search={props.search}
              top={start - offset}
              isSelected={selected.has(message.eventTriggerId)}
              isCurrent={place === current}
              onToggle={() => props.onToggle(message.eventTriggerId)}
              onCurrent={() => props.onCurrent(place)}
            />
          )
        })}
      </div>
    </div>
  )
}

type MessageRowProps = {
  message: Message
  search: ActivitySearch
  top: number
  isSelected: boolean
  isCurrent: boolean
  onToggle: () => void
  onCurrent: () => void
}

function MessageRow(props: MessageRowProps) {
  const { message, search, top, isSelected, isCurrent, onToggle, onCurrent } = props
  const { t } = useTranslation()
  const format = useTimeFormat()
  const link = useRef<HTMLAnchorElement>(null)
  useEffect(() => {
    if (isCurrent && !link.current?.parentElement?.parentElement?.matches(':focus-within')) {
      link.current?.focus({ preventScroll: true })
    }
  }, [isCurrent])
  const mark = markOf(message)
  const attempts = message.email?.attempts ?? 0
  const name = message.clientName ?? message.objectName ?? `#${message.eventTriggerId}`
  return (
    <div
      role="row"
      className={`list-row ${classes.row} ${classes.message}`}
      data-selected={isSelected || undefined}
      style={{ position: 'absolute', top, left: 0, right: 0 }}
      onFocus={onCurrent}
    >
      <span role="cell" className={classes.check}>
        <Checkbox
          size="xs"
          aria-label={t('activity.selectOne', { name })}
          checked={isSelected}
          onChange={onToggle}
        />
      </span>
      <span role="cell" className="numbers soft">
        <span className="visually-hidden">{format.nearDay(message.scheduledTime)} </span>
        {format.time(message.scheduledTime)}
      </span>
      <span role="cell" className="row">
        <Status mark={mark} />
        {attempts > 1 && (
          <span className="faint tiny">{t('activity.attempts', { count: attempts })}</span>
        )}
      </span>
      <span role="cell" className="ellipsis" style={{ fontWeight: 550 }} dir="auto">
        <Link
          ref={link}
          to="/activity/$eventTriggerId"
          params={{ eventTriggerId: message.eventTriggerId }}
          search={search}
          className={classes.open}
        >
          {name}
        </Link>
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
