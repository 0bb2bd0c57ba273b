import { Link } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import { Empty } from '../components/states.tsx'

export function PageMissing() {
  const { t } = useTranslation()
  return (
    <Empty title={t('errors.pageMissing')}>
      <Link to="/">{t('errors.toToday')}</Link>
    </Empty>
  )
}
