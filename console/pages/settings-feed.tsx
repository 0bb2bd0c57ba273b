import { Button, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { feedQuery, feedRulesKind, type Feed } from '../api/feeds.ts'
import { Failure, Loading } from '../components/states.tsx'
import { FormWindow } from '../components/windows.tsx'
import { ChangeForm } from '../feeds/change-form.tsx'
import { DeleteForm } from '../feeds/delete-form.tsx'
import { DifferencesTab } from '../feeds/differences-tab.tsx'
import { EntriesTab } from '../feeds/entries-tab.tsx'
import { HealthPanel } from '../feeds/health-panel.tsx'
import { MatchesTab } from '../feeds/matches-tab.tsx'
import { HookPanel } from '../feeds/hook-panel.tsx'
import { ModePanel } from '../feeds/mode-panel.tsx'
import { RulesTab } from '../feeds/rules-tab.tsx'
import { RunsTab } from '../feeds/runs-tab.tsx'
import { useRecord } from '../records/use-record.ts'
import { SettingsColumns } from '../setup/settings-frame.tsx'
import settings from '../setup/settings.module.css'
import { PageHead } from '../shell/page-head.tsx'
import { useTranslation } from '../texts/translate.ts'

/** One feed: whether it works, its mode, and what became of every entry. */
export function SettingsFeedPage() {
  const { t } = useTranslation()
  const { feedId } = useParams({ from: '/shell/settings/feeds/$feedId' })
  const { data: feed, error, refetch } = useQuery(feedQuery(feedId))
  const [opened, setOpened] = useState<'change' | 'delete'>()
  const navigate = useNavigate()
  return (
    <>
      <PageHead
        title={feed ? <span dir="auto">{feed.name}</span> : t('settings.feeds.one')}
        lede={
          feed &&
          `${t(`settings.feeds.sources.${feed.source}`)} · ${t(`settings.feeds.modes.${feed.mode}`)}`
        }
      >
        {feed?.active && (
          <>
            <Button variant="default" onClick={() => setOpened('change')}>
              {t('settings.feeds.change')}
            </Button>
            <Button variant="default" onClick={() => setOpened('delete')}>
              {t('settings.feeds.remove')}
            </Button>
          </>
        )}
      </PageHead>
      <SettingsColumns>
        <Link to="/settings/feeds" className={settings.textLink}>
          {t('settings.feeds.all')}
        </Link>
        {error && !feed ? (
          <Failure error={error} onRetry={() => void refetch()} />
        ) : !feed ? (
          <Loading />
        ) : feed.active ? (
          <Panels key={feed.feedId} feed={feed} />
        ) : (
          <p className="soft">{t('settings.feeds.isDeleted')}</p>
        )}
      </SettingsColumns>
      {feed && (
        <>
          <FormWindow
            isOpen={opened === 'change'}
            leaving="nothing"
            onClose={() => setOpened(undefined)}
            title={t('settings.feeds.change')}
          >
            <ChangeForm feed={feed} onDone={() => setOpened(undefined)} />
          </FormWindow>
          <FormWindow
            isOpen={opened === 'delete'}
            leaving="nothing"
            onClose={() => setOpened(undefined)}
            title={t('settings.feeds.removeTitle', { name: feed.name })}
          >
            <DeleteForm feed={feed} onDone={() => void navigate({ to: '/settings/feeds' })} />
          </FormWindow>
        </>
      )}
    </>
  )
}

const TABS = ['entries', 'rules', 'matches', 'differences', 'runs'] as const

function Panels({ feed }: { feed: Feed }) {
  const { t } = useTranslation()
  // Another tab must not lose unsaved rules.
  const rules = useRecord({ kind: feedRulesKind, id: feed.feedId })
  return (
    <>
      <HealthPanel feed={feed} />
      <ModePanel feed={feed} />
      <HookPanel feed={feed} />
      <section className="card panel">
        <Tabs defaultValue="entries" keepMounted={false}>
          <Tabs.List>
            {TABS.map((tab) => (
              <Tabs.Tab key={tab} value={tab}>
                {t(`settings.feeds.tabs.${tab}`)}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value="entries" pt="md">
            <EntriesTab feed={feed} />
          </Tabs.Panel>
          <Tabs.Panel value="rules" pt="md">
            <RulesTab feed={feed} record={rules} />
          </Tabs.Panel>
          <Tabs.Panel value="matches" pt="md">
            <MatchesTab feed={feed} />
          </Tabs.Panel>
          <Tabs.Panel value="differences" pt="md">
            <DifferencesTab feed={feed} />
          </Tabs.Panel>
          <Tabs.Panel value="runs" pt="md">
            <RunsTab feed={feed} />
          </Tabs.Panel>
        </Tabs>
      </section>
    </>
  )
}
