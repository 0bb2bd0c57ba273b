import { Link } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import { Empty } from '../components/states.tsx'

/** Shown instead of a page that the role of the person may not open. */
export function NoRight() {
  const { t } = useTranslation()
  return (
    <Empty title={t('errors.noRight')} actions={<Link to="/">{t('errors.toStart')}</Link>}>
      {t('errors.noRightHint')}
    </Empty>
  )
}
