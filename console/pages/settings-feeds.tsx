import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { feedsQuery, type Feed } from '../api/feeds.ts'
import { IconPlus } from '../components/icons.tsx'
import { Empty, Loaded } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { healthTone } from '../feeds/words.ts'
import { SettingsColumns } from '../setup/settings-frame.tsx'
import classes from '../setup/settings.module.css'
import { PageHead } from '../shell/page-head.tsx'
import { useTranslation } from '../texts/translate.ts'

/** The connections to other schedulers, and whether they work. */
export function SettingsFeedsPage() {
  const { t } = useTranslation()
  const { data: feeds, error, refetch } = useQuery(feedsQuery)
  return (
    <>
      <PageHead title={t('settings.feeds.title')} lede={t('settings.feeds.lede')}>
        <Button
          component={Link}
          to="/settings/feeds/connect"
          leftSection={<IconPlus size={16} aria-hidden />}
        >
          {t('settings.feeds.connect')}
        </Button>
      </PageHead>
      <SettingsColumns>
        <Loaded
          query={{ data: feeds, error, refetch }}
          empty={<Empty title={t('settings.feeds.none')}>{t('settings.feeds.noneHint')}</Empty>}
        >
          {(feeds) => <FeedTable feeds={feeds} />}
        </Loaded>
      </SettingsColumns>
    </>
  )
}

function FeedTable({ feeds }: { feeds: Feed[] }) {
  const { t } = useTranslation()
  return (
    <div
      className={`card ${classes.scroll}`}
      tabIndex={0}
      role="region"
      aria-label={t('settings.feeds.title')}
    >
      <table className="table">
        <thead>
          <tr>
            <th>{t('words.name')}</th>
            <th>{t('settings.feeds.health')}</th>
            <th>{t('settings.feeds.mode')}</th>
            <th>{t('settings.feeds.appointments')}</th>
            <th>{t('settings.feeds.lastRead')}</th>
          </tr>
        </thead>
        <tbody>
          {feeds.map((feed) => (
            <FeedRow key={feed.feedId} feed={feed} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function FeedRow({ feed }: { feed: Feed }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { feedId, name, source, mode, state } = feed
  const { entries, successTime } = state
  return (
    <tr data-row>
      <td>
        <Link to="/settings/feeds/$feedId" params={{ feedId }} className="strong" dir="auto">
          {name}
        </Link>
        <div className="soft small">{t(`settings.feeds.sources.${source}`)}</div>
      </td>
      <td className={healthTone(state)}>{t(`settings.feeds.healths.${state.health}`)}</td>
      <td>
        <span className="chip">{t(`settings.feeds.modes.${mode}`)}</span>
      </td>
      <td className="numbers">
        {t('settings.feeds.counts', {
          mirrored: entries.MIRRORED ?? 0,
          held: entries.HELD ?? 0,
        })}
      </td>
      <td className="soft numbers">
        {successTime === null ? t('words.neverInSentence') : format.moment(successTime)}
      </td>
    </tr>
  )
}
