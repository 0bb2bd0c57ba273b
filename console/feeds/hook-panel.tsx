import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { createHook, type Feed } from '../api/feeds.ts'
import { CopyRow } from '../components/copy-row.tsx'
import { ErrorMessage } from '../components/error-message.tsx'
import { useTimeFormat } from '../components/time.ts'
import { useTranslation } from '../texts/translate.ts'
import classes from './feeds.module.css'

/** The address and the secret with which the source tells at once what changed. Both are shown once. */
export function HookPanel({ feed }: { feed: Feed }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  // The secret is shown once, so it does not stay in the cache.
  const make = useMutation({ mutationFn: () => createHook(feed.feedId), gcTime: 0 })
  const { source } = feed
  if (source !== 'CALCOM' && source !== 'EASYAPPOINTMENTS') return null
  return (
    <section className="card panel" aria-label={t('settings.feeds.hook.title')}>
      <header>
        <h2>{t('settings.feeds.hook.title')}</h2>
      </header>
      <div className={classes.facts}>
        <p>{t(`settings.feeds.hook.hints.${source}`)}</p>
        <div role="status" className={classes.facts}>
          {make.data && (
            <>
              <p className="amber small">{t('settings.feeds.hook.once')}</p>
              <CopyRow
                value={make.data.url}
                name="hook-address"
                label={t('settings.feeds.copyAddress')}
              />
              <CopyRow
                value={make.data.secret}
                name="hook-secret"
                label={t('settings.feeds.hook.copySecret')}
              />
              {make.data.formerUntil !== null && (
                <p className="soft small">
                  {t('settings.feeds.hook.former', { time: format.moment(make.data.formerUntil) })}
                </p>
              )}
            </>
          )}
        </div>
      </div>
      <div className={classes.actions}>
        <Button
          size="compact-sm"
          variant="default"
          loading={make.isPending}
          onClick={() => make.mutate()}
        >
          {t(make.data ? 'settings.feeds.hook.again' : 'settings.feeds.hook.make')}
        </Button>
        {make.error && (
          <span role="alert" className="small clay">
            <ErrorMessage error={make.error} />
          </span>
        )}
      </div>
    </section>
  )
}
