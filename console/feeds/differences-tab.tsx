import { useQuery } from '@tanstack/react-query'
import { differencesQuery, type Feed, type FeedDifference } from '../api/feeds.ts'
import { Failure, Loading } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { useTranslation } from '../texts/translate.ts'
import classes from './feeds.module.css'
import { useReasonWords } from './words.ts'

/** What the last reconciliation found. */
export function DifferencesTab({ feed }: { feed: Feed }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { data, error, refetch } = useQuery(differencesQuery(feed.feedId))
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading />
  const { checkedTime, items } = data
  if (checkedTime === null) return <p className="soft">{t('settings.feeds.neverCompared')}</p>
  return (
    <>
      <p className="soft small" style={{ marginTop: 0 }}>
        {t('settings.feeds.compared', { time: format.moment(checkedTime) })}
      </p>
      {items.length === 0 && <p>{t('settings.feeds.noDifference')}</p>}
      <ul className={classes.list}>
        {items.map((difference) => (
          <Difference
            key={[difference.key, difference.kind, difference.field].join(' ')}
            difference={difference}
          />
        ))}
      </ul>
    </>
  )
}

function Difference({ difference }: { difference: FeedDifference }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { field: fieldName } = useReasonWords()
  const { kind, key, title, field, source, ours, since } = difference
  return (
    <li className={classes.entry}>
      <span className="strong" dir="auto">
        {title ?? key}
      </span>
      <div className="small">{t(`settings.feeds.differences.${kind}`)}</div>
      {field !== null && (
        <div className="small soft">
          {fieldName(field)}: {t('settings.feeds.inSource')} <bdi>{source ?? '–'}</bdi>,{' '}
          {t('settings.feeds.here')} <bdi>{ours ?? '–'}</bdi>
        </div>
      )}
      {since !== null && (
        <div className="small soft">
          {t('settings.feeds.since', { time: format.moment(since) })}
        </div>
      )}
    </li>
  )
}
