import { Button } from '@mantine/core'
import { IconMailForward } from '../components/icons.tsx'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import type { PrintRequest } from '../api/reports.ts'
import { useSession } from '../api/session.ts'
import { ScheduleWindow, type EditedSchedule } from './schedule-window.tsx'
import { RANGE_OF_PERIOD } from './schedule-words.ts'
import { DEFAULT_PERIOD, storedOf, type ReportSearch } from './search.ts'

type Props = { request: PrintRequest; search: ReportSearch; onSaved: (note: string) => void }

/** Has the report mailed regularly, with the filters of the page. */
export function MailButton({ request, search, onSaved }: Props) {
  const { t } = useTranslation()
  const { functions, userId } = useSession()
  const [edited, setEdited] = useState<EditedSchedule>()
  if (!functions.includes('SCHEDULE_REPORTS')) return null
  const isFree = search.from !== undefined || search.to !== undefined
  const suggested = {
    reportId: request.reportId,
    ...storedOf(request),
    ...(isFree ? {} : { range: RANGE_OF_PERIOD[search.period ?? DEFAULT_PERIOD] }),
    userIdList: [userId],
  }
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconMailForward size={17} stroke={1.7} aria-hidden />}
        onClick={() => setEdited({ schedule: undefined, suggested })}
      >
        {t('reports.mail.button')}
      </Button>
      <ScheduleWindow edited={edited} onClose={() => setEdited(undefined)} onSaved={onSaved} />
    </>
  )
}
