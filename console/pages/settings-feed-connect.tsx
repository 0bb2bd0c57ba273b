import { Link, useNavigate } from '@tanstack/react-router'
import { ConnectForm } from '../feeds/connect-form.tsx'
import { StepList } from '../feeds/steps.tsx'
import { SettingsColumns } from '../setup/settings-frame.tsx'
import settings from '../setup/settings.module.css'
import { PageHead } from '../shell/page-head.tsx'
import { useTranslation } from '../texts/translate.ts'

/** The first step to a feed: its source and credential. From then on it is a draft with an address. */
export function SettingsFeedConnectPage() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  return (
    <>
      <PageHead title={t('settings.feeds.connect')} lede={t('settings.feeds.connectLede')} />
      <SettingsColumns>
        <Link to="/settings/feeds" className={settings.textLink}>
          {t('settings.feeds.all')}
        </Link>
        <StepList />
        <section className="card panel">
          <ConnectForm
            onDone={({ feedId }) =>
              void navigate({
                to: '/settings/feeds/$feedId',
                params: { feedId },
                search: { step: 'calendars' },
              })
            }
          />
        </section>
      </SettingsColumns>
    </>
  )
}
