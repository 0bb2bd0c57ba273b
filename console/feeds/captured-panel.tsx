import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { automationsQuery } from '../api/automations.ts'
import { capturedQuery, type Feed } from '../api/feeds.ts'
import { setupQuery } from '../api/setup.ts'
import { Sentence } from '../automations/sentence-view.tsx'
import { sentenceOf } from '../automations/sentence.ts'
import { Failure, Loading } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import settings from '../setup/settings.module.css'
import { useTranslation } from '../texts/translate.ts'
import classes from './feeds.module.css'

/** What clients and staff would have got, by automation: to be read before going live. */
export function CapturedPanel({ feed }: { feed: Feed }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { data: setup } = useQuery(setupQuery)
  const { data: automations } = useQuery(automationsQuery)
  const { data: captured, error, refetch } = useQuery(capturedQuery(feed.feedId))
  const known = new Map(automations?.map((one) => [one.eventDefnId, one]))
  const sentenceFor = (eventDefnId: number) => {
    const found = known.get(eventDefnId)
    return found && setup && sentenceOf(found, found.eventActions ?? [], setup)
  }
  return (
    <section className="card panel" aria-label={t('settings.feeds.captured')}>
      <header>
        <h2>{t('settings.feeds.captured')}</h2>
      </header>
      {error && !captured ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : !captured ? (
        <Loading />
      ) : captured.length === 0 ? (
        <p className="soft">{t('settings.feeds.noCaptured')}</p>
      ) : (
        <ul className={classes.list}>
          {captured.map(({ eventDefnId, count, latest }) => (
            <li key={eventDefnId} className={classes.entry}>
              <div className="strong">
                <span className="numbers">{count} ×</span>{' '}
                <Sentence parts={sentenceFor(eventDefnId) ?? []} />
              </div>
              <ul className={`${classes.plain} small`}>
                {latest.map(({ emailId, eventTriggerId, to, subject, createdDate }) => (
                  <li key={emailId}>
                    <Link
                      to="/activity/$eventTriggerId"
                      params={{ eventTriggerId }}
                      className={settings.textLink}
                      dir="auto"
                    >
                      {subject}
                    </Link>{' '}
                    <span className="soft">
                      <bdi>{to}</bdi> · {format.moment(createdDate)}
                    </span>
                  </li>
                ))}
              </ul>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
