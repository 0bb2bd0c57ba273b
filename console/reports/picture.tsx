import { useInViewport } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { pictureQuery } from '../api/report-pictures.ts'
import { addDays } from '../components/days.ts'
import { useBusinessTimeFormat } from '../components/time.ts'
import { DRAWINGS, type DrawingName } from './drawings.tsx'
import { HEIGHT, WIDTH } from './picture-shapes.ts'
import classes from './reports.module.css'
import { daysOf, type Period } from './search.ts'

type Plan = {
  drawing: DrawingName
  period?: Period
  /** More days until today than the period has. */
  days?: number
}

const DAYS: Plan = { drawing: 'days' }
const LIST: Plan = { drawing: 'list' }

/** How the picture of a report is drawn; a report that is not named gets that of a list. */
const PLANS: Record<number, Plan> = {
  100: DAYS,
  102: DAYS,
  103: { drawing: 'staff' },
  104: DAYS,
  105: { drawing: 'heat' },
  106: { drawing: 'days', period: 'next30Days' },
  201: { drawing: 'missedDays' },
  202: { drawing: 'cancelledDays' },
  204: { drawing: 'missedDays' },
  205: { drawing: 'cancelledDays' },
  301: { drawing: 'staff' },
  302: { drawing: 'staff' },
  401: { drawing: 'services' },
  402: { drawing: 'locations' },
  501: { drawing: 'clients' },
  502: DAYS,
  // Nobody has lapsed within 60 days.
  503: { drawing: 'list', days: 180 },
  504: { drawing: 'clients' },
  601: { drawing: 'places' },
  701: { drawing: 'names' },
  901: { drawing: 'messages' },
  902: DAYS,
  903: { drawing: 'names' },
  904: DAYS,
  905: DAYS,
  951: { drawing: 'names' },
}

/** A small picture, mostly of the last 30 days, read when it comes into view. The report has the figures. */
export function ReportPicture({ reportId }: { reportId: number }) {
  const { drawing, period = 'last30Days', days } = PLANS[reportId] ?? LIST
  const { from, to } = daysOf({ period }, useBusinessTimeFormat().isoDay(Date.now()))
  const startDate = days ? addDays(to, 1 - days) : from
  const { ref, inViewport } = useInViewport<HTMLDivElement>()
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    if (inViewport) setSeen(true)
  }, [inViewport])
  const { data: shapes } = useQuery({
    ...pictureQuery(drawing, { reportId, startDate, endDate: to }, DRAWINGS[drawing]),
    enabled: isSeen,
  })
  return (
    <div ref={ref} className={classes.picture} aria-hidden>
      {shapes && (
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} data-picture={drawing}>
          {shapes}
        </svg>
      )}
    </div>
  )
}
