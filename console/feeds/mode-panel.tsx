import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { saveFeed, type Feed } from '../api/feeds.ts'
import { CopyRow } from '../components/copy-row.tsx'
import { ErrorMessage } from '../components/error-message.tsx'
import { ConfirmWindow } from '../components/windows.tsx'
import settings from '../setup/settings.module.css'
import { useTranslation } from '../texts/translate.ts'
import classes from './feeds.module.css'
import { RunButton } from './run-button.tsx'
import { isRead } from './words.ts'

/** What follows a mode, and the words of its button. */
const NEXT = { DRAFT: 'SHADOW', SHADOW: 'LIVE', LIVE: 'PAUSED', PAUSED: 'LIVE' } as const

/** What the mode means, a dry run, and the step to the next mode. */
export function ModePanel({ feed }: { feed: Feed }) {
  const { t } = useTranslation()
  const [isSure, setSure] = useState(false)
  const { feedId, mode, state } = feed
  const next = NEXT[mode]
  const go = useMutation({ mutationFn: () => saveFeed({ feedId, mode: next }) })
  const waits = mode === 'SHADOW' && state.completeTime === null
  return (
    <section className="card panel" aria-label={t('settings.feeds.mode')}>
      <header>
        <h2>{t(`settings.feeds.modes.${mode}`)}</h2>
      </header>
      <div className={classes.facts}>
        <p>{t(`settings.feeds.modeHints.${mode}`)}</p>
        {waits && <p className="soft small">{t('settings.feeds.needsComplete')}</p>}
        {!isRead(feed) && mode !== 'PAUSED' && <SendTo feed={feed} />}
      </div>
      <div className={classes.actions}>
        <Button
          size="compact-sm"
          disabled={waits}
          loading={go.isPending}
          onClick={() => (next === 'LIVE' ? setSure(true) : go.mutate())}
        >
          {t(`settings.feeds.go.${mode}`)}
        </Button>
        <RunButton feed={feed} action="dryRun" />
        {go.error && (
          <span role="alert" className="small clay">
            <ErrorMessage error={go.error} />
          </span>
        )}
      </div>
      <ConfirmWindow
        isOpen={isSure}
        title={t(mode === 'PAUSED' ? 'settings.feeds.resumeTitle' : 'settings.feeds.goLiveTitle', {
          name: feed.name,
        })}
        hint={t(mode === 'PAUSED' ? 'settings.feeds.resumeHint' : 'settings.feeds.goLiveHint')}
        button={t(`settings.feeds.go.${mode}`)}
        onClose={() => setSure(false)}
        onConfirm={() => go.mutate()}
      />
    </section>
  )
}

/** Where the program sends its appointments. */
function SendTo({ feed }: { feed: Feed }) {
  const { t } = useTranslation()
  return (
    <div>
      <p className="soft small" style={{ marginBottom: 6 }}>
        {t('settings.feeds.sendTo')}{' '}
        <Link to="/settings/keys" className={settings.textLink}>
          {t('settings.keys.title')}
        </Link>
      </p>
      <CopyRow
        value={`${location.origin}/feed/${feed.feedId}/entries`}
        name="address"
        label={t('settings.feeds.copyAddress')}
      />
    </div>
  )
}
