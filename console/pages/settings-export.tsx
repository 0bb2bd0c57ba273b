import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import { IconDownload } from '../components/icons.tsx'
import { PageHead } from '../shell/page-head.tsx'
import classes from '../setup/settings.module.css'
import { SettingsColumns } from '../setup/settings-frame.tsx'

/** The data of the business as a file. The browser saves it as it arrives: it may be large. */
export function SettingsExportPage() {
  const { t } = useTranslation()
  return (
    <>
      <PageHead title={t('settings.export.title')} lede={t('settings.export.lede')} />
      <SettingsColumns>
        <section className="card panel">
          <header>
            <h2>{t('settings.export.file')}</h2>
          </header>
          <p className="soft">{t('settings.export.holds')}</p>
          <p className="soft small">{t('settings.export.personal')}</p>
          <Button
            component="a"
            href="/export"
            download
            leftSection={<IconDownload size={16} aria-hidden />}
          >
            {t('settings.export.button')}
          </Button>
        </section>
        <section className="card panel">
          <header>
            <h2>{t('settings.export.others')}</h2>
          </header>
          <p className="soft">
            {t('settings.export.client')}{' '}
            <Link to="/clients" className={classes.textLink}>
              {t('navigation.clients')}
            </Link>
          </p>
          <p className="soft">
            {t('settings.export.programs')}{' '}
            <a href="/docs" className={classes.textLink}>
              {t('settings.keys.docs')}
            </a>
          </p>
        </section>
      </SettingsColumns>
    </>
  )
}
