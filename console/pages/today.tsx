import { PageHead, useNow } from '../shell/page-head.tsx'
import { useTimeFormat } from '../components/time.ts'

export function TodayPage() {
  const format = useTimeFormat()
  const now = useNow()
  return <PageHead title={format.longDay(now)} />
}
