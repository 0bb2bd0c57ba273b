import { Button, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { feedQuery, feedRulesKind, type Feed } from '../api/feeds.ts'
import { Loaded } from '../components/states.tsx'
import { FormWindow } from '../components/windows.tsx'
import { CapturedPanel } from '../feeds/captured-panel.tsx'
import { ChangeForm } from '../feeds/change-form.tsx'
import { DeleteForm } from '../feeds/delete-form.tsx'
import { DifferencesTab } from '../feeds/differences-tab.tsx'
import { DraftSteps } from '../feeds/draft-steps.tsx'
import { EntriesTab } from '../feeds/entries-tab.tsx'
import { HealthPanel } from '../feeds/health-panel.tsx'
import { MatchesTab } from '../feeds/matches-tab.tsx'
import { HookPanel } from '../feeds/hook-panel.tsx'
import { ModePanel } from '../feeds/mode-panel.tsx'
import { ruleOf } from '../feeds/rule-words.ts'
import { MAX_RULES, RulesTab, type OpenedRule } from '../feeds/rules-tab.tsx'
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
  const { step = 'calendars' } = useSearch({ from: '/shell/settings/feeds/$feedId' })
  const { data: feed, error, refetch } = useQuery(feedQuery(feedId))
  const [opened, setOpened] = useState<'change' | 'delete'>()
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
              {t('words.change')}
            </Button>
            <Button variant="default" onClick={() => setOpened('delete')}>
              {t('words.remove')}
            </Button>
          </>
        )}
      </PageHead>
      <SettingsColumns>
        <Link to="/settings/feeds" className={settings.textLink}>
          {t('settings.feeds.all')}
        </Link>
        <Loaded query={{ data: feed, error, refetch }}>
          {(feed) =>
            !feed.active ? (
              <p className="soft">{t('settings.feeds.isDeleted')}</p>
            ) : feed.mode === 'DRAFT' ? (
              <DraftSteps key={feed.feedId} feed={feed} step={step} />
            ) : (
              <Panels key={feed.feedId} feed={feed} />
            )
          }
        </Loaded>
      </SettingsColumns>
      {feed && <FeedWindows feed={feed} opened={opened} onClose={() => setOpened(undefined)} />}
    </>
  )
}

type WindowsProps = { feed: Feed; opened: 'change' | 'delete' | undefined; onClose: () => void }

/** Changes the feed, or removes it. */
function FeedWindows({ feed, opened, onClose }: WindowsProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  return (
    <>
      <FormWindow
        isOpen={opened === 'change'}
        leaving="nothing"
        onClose={onClose}
        title={t('words.change')}
      >
        <ChangeForm feed={feed} onDone={onClose} />
      </FormWindow>
      <FormWindow
        isOpen={opened === 'delete'}
        leaving="nothing"
        onClose={onClose}
        title={t('settings.feeds.removeTitle', { name: feed.name })}
      >
        <DeleteForm feed={feed} onDone={() => void navigate({ to: '/settings/feeds' })} />
      </FormWindow>
    </>
  )
}

const TABS = ['entries', 'rules', 'matches', 'differences', 'runs'] as const
type Tab = (typeof TABS)[number]

function Panels({ feed }: { feed: Feed }) {
  const { t } = useTranslation()
  // Another tab must not lose unsaved rules.
  const rules = useRecord({ kind: feedRulesKind, id: feed.feedId })
  const [tab, setTab] = useState<Tab>('entries')
  const [opened, setOpened] = useState<OpenedRule>()
  const content: Record<Tab, () => ReactNode> = {
    entries: () => (
      <EntriesTab
        feed={feed}
        onRule={(entry) => {
          const place = rules.draft.rules.length
          if (place < MAX_RULES) setOpened({ rule: ruleOf(entry), place })
          setTab('rules')
        }}
      />
    ),
    rules: () => <RulesTab feed={feed} record={rules} opened={opened} onOpen={setOpened} />,
    matches: () => <MatchesTab feed={feed} />,
    differences: () => <DifferencesTab feed={feed} />,
    runs: () => <RunsTab feed={feed} />,
  }
  return (
    <>
      <HealthPanel feed={feed} />
      <ModePanel feed={feed} />
      {feed.mode === 'SHADOW' && <CapturedPanel feed={feed} />}
      <HookPanel feed={feed} />
      <section className="card panel">
        <Tabs value={tab} onChange={(next) => setTab(next as Tab)} keepMounted={false}>
          <Tabs.List>
            {TABS.map((tab) => (
              <Tabs.Tab key={tab} value={tab}>
                {t(`settings.feeds.tabs.${tab}`)}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value={tab} pt="md">
            {content[tab]()}
          </Tabs.Panel>
        </Tabs>
      </section>
    </>
  )
}
