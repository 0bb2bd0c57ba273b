import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Empty } from '../components/states.tsx'

export function PageMissing() {
  const { t } = useTranslation()
  return (
    <Empty title={t('errors.pageMissing')}>
      <Link to="/">{t('errors.toToday')}</Link>
    </Empty>
  )
}
