import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { decideVanished, type Feed } from '../api/feeds.ts'
import { overviewQuery } from '../api/overview.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { useTimeFormat } from '../components/time.ts'
import { ConfirmWindow } from '../components/windows.tsx'
import { useTranslation } from '../texts/translate.ts'
import classes from './feeds.module.css'
import { RunButton } from './run-button.tsx'
import { healthTone, isRead } from './words.ts'

/** Whether the feed works, since when, why not, and what to do. */
export function HealthPanel({ feed }: { feed: Feed }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { health, since, cause, successTime, nextPullTime } = feed.state
  return (
    <section className="card panel" aria-label={t('settings.feeds.health')}>
      <header>
        <h2 className={healthTone(feed.state)}>{t(`settings.feeds.healths.${health}`)}</h2>
        {health !== 'OK' && (
          <span className="soft small">
            {t('settings.feeds.since', { time: format.moment(since) })}
          </span>
        )}
      </header>
      <div className={classes.facts}>
        {health !== 'OK' && (
          <>
            {cause && (
              <p className="small" dir="auto">
                {cause}
              </p>
            )}
            <p>{t(`settings.feeds.todo.${health}`)}</p>
          </>
        )}
        <Proof feed={feed} />
        <p className="soft small">
          {successTime === null
            ? t('settings.feeds.neverReadYet')
            : t('settings.feeds.readAt', { time: format.moment(successTime) })}{' '}
          {nextPullTime !== null &&
            t('settings.feeds.nextAt', { time: format.moment(nextPullTime) })}
        </p>
      </div>
      {health === 'NEEDS_DECISION' && <Vanished feed={feed} />}
      {isRead(feed) && feed.mode !== 'DRAFT' && (
        <div className={classes.actions}>
          <RunButton feed={feed} action="pull" />
        </div>
      )}
    </section>
  )
}

/** What the last reconciliation proved. */
function Proof({ feed }: { feed: Feed }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { data } = useQuery(overviewQuery())
  const sentence = data?.feeds.find(({ feedId }) => feedId === feed.feedId)?.sentence
  if (!sentence) return null
  const { all, skipped, held, checkedTime } = sentence
  return (
    <p className="strong">
      {t('settings.feeds.proof', { count: all, name: feed.name })}{' '}
      {t('settings.feeds.proofRest', { skipped, held, time: format.moment(checkedTime) })}
    </p>
  )
}

/** Many entries vanished at once: a person decides about their appointments. */
function Vanished({ feed }: { feed: Feed }) {
  const { t } = useTranslation()
  const [isSure, setSure] = useState(false)
  const decide = useMutation({
    mutationFn: (decision: 'cancel' | 'keep') => decideVanished(feed.feedId, decision),
  })
  return (
    <div className={classes.actions} style={{ marginBottom: 12 }}>
      <Button
        size="compact-sm"
        variant="default"
        loading={decide.isPending}
        onClick={() => decide.mutate('keep')}
      >
        {t('words.keepThem')}
      </Button>
      <Button size="compact-sm" color="clay" onClick={() => setSure(true)}>
        {t('settings.feeds.cancelVanished')}
      </Button>
      {decide.error && (
        <span role="alert" className="small clay">
          <ErrorMessage error={decide.error} />
        </span>
      )}
      <ConfirmWindow
        isOpen={isSure}
        title={t('settings.feeds.cancelVanishedTitle')}
        hint={t('settings.feeds.cancelVanishedHint')}
        button={t('settings.feeds.cancelVanished')}
        onClose={() => setSure(false)}
        onConfirm={() => decide.mutate('cancel')}
      />
    </div>
  )
}
