import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { formatMoney, formatNumber, useTranslation } from '../texts/translate.ts'
import { countedObjectsQuery, reportOptionsQuery, type CountedObject } from '../api/reports.ts'
import { useSession } from '../api/session.ts'
import { Failure, Loading } from '../components/states.tsx'
import classes from './reports.module.css'

type Props = { reportId: number; path: string }

/** The objects behind a figure, with a link to each that the person may open. */
export function CountedList({ reportId, path }: Props) {
  const { t } = useTranslation()
  const list = useInfiniteQuery(countedObjectsQuery(reportId, path))
  const labelOf = useStatusLabels(reportId)
  const { data, error } = list
  if (error && !data) return <Failure error={error} onRetry={() => void list.refetch()} />
  if (!data) return <Loading />
  const [{ count, sum, sumByCurrency }] = data.pages as [(typeof data.pages)[number]]
  return (
    <>
      <p className="soft" role="status">
        {[t('reports.counted.count', { count }), ...sumsOf({ count, sum, sumByCurrency })].join(
          ' · ',
        )}
      </p>
      <ul className={classes.lines}>
        {data.pages
          .flatMap(({ items }) => items)
          .map((item, place) => (
            <Item key={place} item={item} status={labelOf(item.status)} />
          ))}
      </ul>
      {list.hasNextPage && (
        <button
          type="button"
          className="button"
          disabled={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
        >
          {t('words.showMore')}
        </button>
      )}
    </>
  )
}

type Sums = { count: number; sum: number | null; sumByCurrency: Record<string, number> | null }

/** The figure itself, if it is more than a count. */
function sumsOf({ count, sum, sumByCurrency }: Sums) {
  if (sumByCurrency) {
    return Object.entries(sumByCurrency).map(([currency, amount]) => formatMoney(amount, currency))
  }
  return sum === null || sum === count ? [] : [formatNumber(sum)]
}

function useStatusLabels(reportId: number) {
  const { data: options } = useQuery(reportOptionsQuery(reportId))
  return (name: string) => options?.statuses.find(({ status }) => status === name)?.label ?? name
}

function Item({ item, status }: { item: CountedObject; status: string }) {
  const { functions } = useSession()
  const { client, clientId, name, staff, localTime, amount, currency } = item
  const canOpen = functions.includes('VIEW_SCHEDULE')
  return (
    <li>
      <div className={`grow small ${classes.entry}`}>
        <div>
          <ObjectLink item={item}>{localTime}</ObjectLink>
          <span className="soft"> · {status}</span>
        </div>
        <div dir="auto">
          {client && canOpen && clientId !== null ? (
            <Link to="/clients/$clientId" params={{ clientId: String(clientId) }}>
              {client}
            </Link>
          ) : (
            client
          )}
        </div>
        <div className="soft" dir="auto">
          {[name, staff].filter((word) => word).join(', ')}
        </div>
      </div>
      {amount !== 1 && (
        <span className="small numbers">
          {currency ? formatMoney(amount, currency) : formatNumber(amount)}
        </span>
      )}
    </li>
  )
}

/** Messages open in Activity, appointments in the calendar; other objects have no page. */
function ObjectLink({ item, children }: { item: CountedObject; children: ReactNode }) {
  const { functions } = useSession()
  const { eventTriggerId, objectType, objectId, localTime } = item
  if (eventTriggerId !== null && functions.includes('VIEW_EMAILS')) {
    return (
      <Link to="/activity/$eventTriggerId" params={{ eventTriggerId }}>
        {children}
      </Link>
    )
  }
  if (objectType === 'CALENDAR' && objectId !== null && functions.includes('VIEW_SCHEDULE')) {
    return (
      <Link to="/calendar" search={{ day: localTime.slice(0, 10), appointment: objectId }}>
        {children}
      </Link>
    )
  }
  return children
}
