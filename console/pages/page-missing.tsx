import { Link } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import { Empty } from '../components/states.tsx'

export function PageMissing() {
  const { t } = useTranslation()
  return (
    <Empty title={<h1 style={{ margin: 0, font: 'inherit' }}>{t('errors.pageMissing')}</h1>}>
      <Link to="/">{t('errors.toToday')}</Link>
    </Empty>
  )
}
