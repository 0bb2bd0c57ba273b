import { useMediaQuery } from '@mantine/hooks'
import { useNavigate, useRouter } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import {
  memo,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
  type MouseEvent,
} from 'react'
import { useTranslation, type Translate } from '../texts/translate.ts'
import type { Message } from '../api/messages.ts'
import { markOf, StatusOfRow } from '../components/mark.tsx'
import {
  asSentence,
  isQuoted,
  useReasonWords,
  type SayReasons,
} from '../components/reason-words.ts'
import { useTimeFormat, type TimeFormat } from '../components/time.ts'
import classes from './activity.module.css'
import type { ActivitySearch } from './search.ts'
import type { LoadedList } from './loaded-list.ts'

const ROW_HEIGHT = 38
const PHONE_ROW_HEIGHT = 60
const DAY_HEIGHT = 29
/** The next page is fetched this many rows before the end. */
const AHEAD = 200
/** More new rows in one frame would block the page while it scrolls fast; the others follow at once. */
const MAX_NEW_ROWS = 10

type MessageRowsProps = {
  list: LoadedList
  search: ActivitySearch
  onNearEnd: () => void
  selected: ReadonlySet<number>
  onToggle: (id: number) => void
  onToggleAll: () => void
  /** The place of the message that shortcuts act on. */
  current: number | undefined
  onCurrent: (eventTriggerId: number) => void
}

/** Messages by day; only the visible rows are rendered. */
export function MessageRows(props: MessageRowsProps) {
  const { list, onNearEnd, selected, current } = props
  const { messages, lines } = list
  const { t } = useTranslation()
  const format = useTimeFormat()
  const say = useReasonWords()
  const link = useMessageLink(props.search)
  const { rows, group, offset } = useRows(list)
  const shown = rows.getVirtualItems()
  const drawn = useDrawnLines(shown)
  const last = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (last > lines.length - AHEAD) onNearEnd()
  }, [last, lines.length, onNearEnd])
  useScrollTo(rows, list, current)
  return (
    <div
      className={`card ${classes.table}`}
      role="table"
      aria-label={t('activity.title')}
      aria-rowcount={messages.length}
    >
      <Head count={messages.length} selected={selected.size} onToggleAll={props.onToggleAll} />
      <div
        ref={group}
        role="rowgroup"
        style={{ position: 'relative', height: rows.getTotalSize() }}
      >
        {shown.map(({ index, start }) => {
          const line = lines[index]!
          if ('day' in line) {
            return (
              <DayHeading key={`day ${line.day}`} top={start - offset}>
                {format.headingDay(line.day)}
              </DayHeading>
            )
          }
          const { place } = line
          const message = messages[place]!
          if (!drawn.has(index)) return undefined
          return (
            <MessageRow
              key={message.eventTriggerId}
              message={message}
              top={start - offset}
              isSelected={selected.has(message.eventTriggerId)}
              isCurrent={place === current}
              onToggle={props.onToggle}
              onCurrent={props.onCurrent}
              t={t}
              format={format}
              say={say}
              link={link}
            />
          )
        })}
      </div>
    </div>
  )
}

const DayHeading = ({ top, children }: { top: number; children: string }) => (
  <div
    role="presentation"
    aria-hidden
    className={`eyebrow ${classes.day}`}
    style={{ top, height: DAY_HEIGHT }}
  >
    {children}
  </div>
)

type HeadProps = { count: number; selected: number; onToggleAll: () => void }

function Head({ count, selected, onToggleAll }: HeadProps) {
  const { t } = useTranslation()
  return (
    <div role="row" className={`list-row list-head ${classes.row}`}>
      <span role="columnheader" aria-label={t('activity.select')}>
        <input
          type="checkbox"
          className={classes.box}
          aria-label={t('activity.selectAll')}
          checked={selected > 0 && selected >= count}
          ref={(box) => {
            if (box) box.indeterminate = selected > 0 && selected < count
          }}
          onChange={onToggleAll}
        />
      </span>
      <span role="columnheader">{t('activity.time')}</span>
      <span role="columnheader">{t('activity.outcome')}</span>
      <span role="columnheader">{t('activity.client')}</span>
      <span role="columnheader">{t('activity.message')}</span>
      <span role="columnheader">{t('activity.automation')}</span>
    </div>
  )
}

/** The virtual rows of the list, the element that they are in, and where it begins on the page. */
function useRows(list: LoadedList) {
  const { lines } = list
  const isPhone = useMediaQuery('(max-width: 768px)', false, { getInitialValueInEffect: false })
  const group = useRef<HTMLDivElement>(null)
  const [offset, setOffset] = useState(0)
  useLayoutEffect(() => setOffset(group.current?.offsetTop ?? 0), [])
  const rows = useWindowVirtualizer({
    count: lines.length,
    estimateSize: (line) =>
      'day' in lines[line]! ? DAY_HEIGHT : isPhone ? PHONE_ROW_HEIGHT : ROW_HEIGHT,
    overscan: 4,
    scrollMargin: offset,
  })
  useEffect(() => rows.measure(), [rows, isPhone])
  const measuredLines = useRef(lines.length)
  useEffect(() => {
    // If the length changes, the virtualizer measures anyway. Measuring a long list takes time.
    if (measuredLines.current === lines.length) rows.measure()
    measuredLines.current = lines.length
  }, [rows, list, lines])
  return { rows, group, offset }
}

/** Scrolls to the message that shortcuts act on, when it becomes another one. */
function useScrollTo(
  rows: ReturnType<typeof useRows>['rows'],
  { messages, lineOf }: LoadedList,
  current: number | undefined,
) {
  const currentLine = current === undefined ? undefined : lineOf[current]
  const currentId = current === undefined ? undefined : messages[current]?.eventTriggerId
  const scrolledTo = useRef<number>(undefined)
  useEffect(() => {
    // A message that arrives above changes the line; the list stays where it was scrolled to.
    if (currentLine === undefined || scrolledTo.current === currentId) return
    scrolledTo.current = currentId
    rows.scrollToIndex(currentLine)
  }, [rows, currentLine, currentId])
}

/** The lines that are drawn already and a few new ones; the others follow soon. */
function useDrawnLines(shown: { index: number }[]): ReadonlySet<number> {
  const [chooseLines] = useState(createLineChooser)
  const drawn = chooseLines(shown)
  const [, drawMore] = useReducer((times: number) => times + 1, 0)
  const isComplete = drawn.size === shown.length
  useEffect(() => {
    if (isComplete) return
    const timer = setTimeout(drawMore)
    return () => clearTimeout(timer)
  })
  return drawn
}

function createLineChooser() {
  let drawn: ReadonlySet<number> = new Set()
  return (shown: { index: number }[]) => {
    const [before, others] = [[], []] as [number[], number[]]
    for (const { index } of shown) (drawn.has(index) ? before : others).push(index)
    drawn = new Set([...before, ...others.slice(0, MAX_NEW_ROWS)])
    return drawn
  }
}

type MessageLink = {
  hrefOf: (eventTriggerId: number) => string
  onClick: (event: MouseEvent<HTMLAnchorElement>, eventTriggerId: number) => void
}

/** Works like `Link` of the router, without its cost for every row that scrolls into view. */
function useMessageLink(search: ActivitySearch): MessageLink {
  const { basepath, options } = useRouter()
  const navigate = useNavigate()
  const query = options.stringifySearch(search)
  const open = useCallback(
    (eventTriggerId: number) =>
      void navigate({ to: '/activity/$eventTriggerId', params: { eventTriggerId }, search }),
    [navigate, search],
  )
  return useMemo(
    () => ({
      hrefOf: (eventTriggerId) => `${basepath}/activity/${eventTriggerId}${query}`,
      onClick: (event, eventTriggerId) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
        event.preventDefault()
        open(eventTriggerId)
      },
    }),
    [basepath, query, open],
  )
}

/** "Reminder two days before, for the appointment of Thu 19 Nov, 14:00": of a message without mail yet. */
function contentOf(message: Message, t: Translate, format: TimeFormat) {
  const { templateName, objectType, objectTime } = message
  const object = objectTime
    ? t(`message.objects.${objectType}`, { time: format.moment(objectTime) })
    : t(`message.objectsWithoutTime.${objectType}`)
  return templateName ? t('activity.content', { name: templateName, object }) : object
}

type MessageRowProps = {
  message: Message
  top: number
  isSelected: boolean
  isCurrent: boolean
  onToggle: (eventTriggerId: number) => void
  onCurrent: (place: number) => void
  t: Translate
  format: TimeFormat
  say: SayReasons
  link: MessageLink
}

/** Replies of mail servers are quoted. */
const toneOf = ({ statusReasons }: Message, mark: string) =>
  statusReasons.length === 0
    ? ''
    : mark !== 'failed'
      ? 'soft'
      : isQuoted(statusReasons)
        ? 'clay mono'
        : 'clay'

/** The link of a row, focused while shortcuts act on the row. */
function useFocusedLink(isCurrent: boolean) {
  const anchor = useRef<HTMLAnchorElement>(null)
  useEffect(() => {
    if (isCurrent && !anchor.current?.parentElement?.parentElement?.matches(':focus-within')) {
      anchor.current?.focus({ preventScroll: true })
    }
  }, [isCurrent])
  return anchor
}

/** Uses plain elements, because many rows are drawn in each frame while the list scrolls. */
const MessageRow = memo(function MessageRow(props: MessageRowProps) {
  const { message, top, isSelected, isCurrent, t, format, link } = props
  const { eventTriggerId, scheduledTime } = message
  const anchor = useFocusedLink(isCurrent)
  const mark = markOf(message)
  const attempts = message.email?.attempts ?? 0
  const name = message.clientName ?? message.objectName ?? '–'
  return (
    <div
      role="row"
      className={`list-row ${classes.row} ${classes.message}`}
      data-selected={isSelected || undefined}
      style={{ position: 'absolute', top, left: 0, right: 0 }}
      onFocus={() => props.onCurrent(eventTriggerId)}
    >
      <span role="cell" className={classes.check}>
        <input
          type="checkbox"
          className={classes.box}
          aria-label={t('activity.selectOne', { name })}
          checked={isSelected}
          onChange={() => props.onToggle(eventTriggerId)}
        />
      </span>
      <span
        role="cell"
        className="numbers soft"
        aria-label={`${format.nearDay(scheduledTime)} ${format.time(scheduledTime)}`}
      >
        {format.time(scheduledTime)}
      </span>
      <span role="cell" className="row">
        <StatusOfRow mark={mark} mailStatus={message.email?.status} t={t} />
        {attempts > 1 && (
          <span className="faint tiny">{t('activity.attempts', { count: attempts })}</span>
        )}
      </span>
      <span role="cell" className="ellipsis" style={{ fontWeight: 550 }} dir="auto">
        <a
          ref={anchor}
          href={link.hrefOf(eventTriggerId)}
          className={classes.open}
          onClick={(event) => link.onClick(event, eventTriggerId)}
        >
          {name}
        </a>
      </span>
      <span role="cell" className={`ellipsis ${toneOf(message, mark)}`} dir="auto">
        {asSentence(props.say(message.statusReasons), message.statusReasons) ||
          (message.email?.subject ?? contentOf(message, t, format))}
      </span>
      <span role="cell" className="ellipsis soft" dir="auto">
        {message.description}
      </span>
    </div>
  )
})
