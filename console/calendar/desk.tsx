import { Button } from '@mantine/core'
import { useTranslation } from '../texts/translate.ts'
import { appointmentKind, planQuery, type Appointment } from '../api/calendar.ts'
import { queryClient } from '../api/query-client.ts'
import { useSession } from '../api/session.ts'
import type { StatusName } from '../api/setup.ts'
import { messageOf } from '../components/error-message.tsx'
import { holdAction, showNotice, useShownValues } from '../components/held-actions.tsx'
import { useTimeFormat } from '../components/time.ts'
import { usePageKeys } from '../shell/keys.ts'
import { useNow } from '../shell/page-head.tsx'
import { DESK_STEPS, stepsOf, type DeskStep } from './desk-steps.ts'
import { shortConsequences } from './what-if.tsx'

export type Desk = ReturnType<typeof useDesk>

/** Confirms an appointment, or records that the client arrived or did not come. */
export function useDesk(statuses: StatusName[] = []) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const now = useNow()
  const canEdit = useSession().functions.includes('EDIT_SCHEDULE')
  const held = useShownValues()
  const stepsFor = (visit: Appointment) =>
    canEdit ? stepsOf(visit, statuses, { now, isoDay: format.isoDay }) : []

  /** Says which messages it changes, and does it a few seconds later, unless the user undoes it. */
  const take = async (visit: Appointment, step: DeskStep) => {
    const { status } = DESK_STEPS[step]
    const { calendarId } = visit
    const names = { client: visit.clientName ?? '', step: t(`desk.${step}`) }
    const failed = (error: unknown) => t('held.failed', { reason: messageOf(error, t) })
    try {
      const [stored, plan] = await Promise.all([
        appointmentKind.read(calendarId),
        queryClient.fetchQuery(planQuery({ calendarId, status })),
      ])
      const base = appointmentKind.draftOf(stored.item)
      holdAction({
        text: t('desk.held', { ...names, effect: shortConsequences(plan, t) }),
        shown: { record: recordOf(visit), value: status },
        run: () =>
          appointmentKind
            .save({
              id: calendarId,
              draft: { ...base, status },
              base,
              changes: { status },
              options: { ifMatch: stored.etag, keepalive: true },
            })
            .then(() => t('desk.done', names), failed),
      })
    } catch (error) {
      showNotice(failed(error))
    }
  }
  return {
    stepsFor,
    take,
    /** The appointments as they will be when the actions that can be undone have run. */
    withHeld: <Visit extends Appointment>(visits: Visit[]) =>
      visits.map((visit) => {
        const status = held.get(recordOf(visit))
        return status === undefined ? visit : { ...visit, status }
      }),
  }
}

const recordOf = ({ calendarId }: Appointment) => `calendar/${calendarId}`

/** The keys of the steps, for the appointment that has the focus, else for the chosen one. */
export function useDeskKeys(desk: Desk, visits: Appointment[], chosen?: Appointment) {
  const takeStep = (step: DeskStep) => () => {
    const focused = document.activeElement?.closest<HTMLElement>('[data-visit]')?.dataset.visit
    const visit = focused ? visits.find(({ calendarId }) => calendarId === Number(focused)) : chosen
    if (visit && desk.stepsFor(visit).includes(step)) void desk.take(visit, step)
  }
  usePageKeys({
    [DESK_STEPS.confirmed.key]: takeStep('confirmed'),
    [DESK_STEPS.arrived.key]: takeStep('arrived'),
    [DESK_STEPS.noShow.key]: takeStep('noShow'),
  })
}

type ButtonsProps = { desk: Desk; visit: Appointment; hasKeys?: boolean }

/** One button for each step that makes sense now. */
export function DeskButtons({ desk, visit, hasKeys = false }: ButtonsProps) {
  const { t } = useTranslation()
  return desk.stepsFor(visit).map((step) => (
    <Button
      key={step}
      size="compact-sm"
      variant="default"
      aria-label={t('desk.stepOf', { step: t(`desk.${step}`), client: visit.clientName ?? '' })}
      rightSection={hasKeys && <kbd aria-hidden data-key={DESK_STEPS[step].key.toUpperCase()} />}
      onClick={() => void desk.take(visit, step)}
    >
      {t(`desk.${step}`)}
    </Button>
  ))
}
