import { Menu } from '@mantine/core'
import { ActionMenu } from '../components/action-menu.tsx'
import { IconMailForward } from '../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { scheduleKind, type ReportSchedule } from '../api/report-schedules.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { Loaded } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { nameOfUser } from '../components/user-name.ts'
import { ConfirmWindow } from '../components/windows.tsx'
import { Panel } from '../today/panel.tsx'
import { useFilterWords } from './filter-words.ts'
import { useReportName } from './report-name.ts'
import classes from './reports.module.css'
import { useUsernames } from './schedule-fields.tsx'
import { ScheduleWindow, type EditedSchedule } from './schedule-window.tsx'
import { problemOf, whenInWords } from './schedule-words.ts'
import { searchOf } from './search.ts'

/** The reports that are mailed regularly; for people who may schedule them. */
export function SchedulesPanel() {
  const { t } = useTranslation()
  const { data: schedules, error, refetch } = useQuery(scheduleKind.listQuery)
  const [edited, setEdited] = useState<EditedSchedule>()
  const [note, setNote] = useState<ReactNode>()
  return (
    <Panel title={t('reports.mail.panel')}>
      <Loaded
        query={{ data: schedules, error, refetch }}
        title={t('errors.list')}
        lines={3}
        empty={<p className="soft small">{t('reports.mail.none')}</p>}
      >
        {(schedules) => (
          <ul className={classes.lines}>
            {schedules.map((schedule) => (
              <Schedule
                key={schedule.reportScheduleId}
                schedule={schedule}
                onEdit={() => setEdited({ schedule })}
                onNote={setNote}
              />
            ))}
          </ul>
        )}
      </Loaded>
      <p role="status" className={`small soft ${classes.note}`}>
        {note}
      </p>
      <ScheduleWindow edited={edited} onClose={() => setEdited(undefined)} onSaved={setNote} />
    </Panel>
  )
}

type LineProps = {
  schedule: ReportSchedule
  onEdit: () => void
  onNote: (note: ReactNode) => void
}

function Schedule({ schedule, onEdit, onNote }: LineProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const reportName = useReportName()(schedule.reportId)
  const filters = useFilterWords(schedule.reportId, schedule)
  const names = useUsernames()
  const problem = problemOf(schedule, t)
  const { nextRunTime } = schedule.delivery
  const stopped = [...schedule.stoppedUserIdList.map(names), ...schedule.stoppedAddressList]
  const details = [
    schedule.name && reportName,
    whenInWords(schedule, t),
    t(`reports.formats.${schedule.format}`),
  ]
  return (
    <li>
      <IconMailForward size={17} stroke={1.7} className="accent" aria-hidden />
      <div className="grow small">
        <Link
          to="/reports/$reportId"
          params={{ reportId: schedule.reportId }}
          search={searchOf(schedule)}
          className={`strong ${classes.lineName}`}
          dir="auto"
        >
          {schedule.name ?? reportName}
        </Link>
        <div>{details.filter((word) => word).join(', ')}</div>
        <div className="soft" dir="auto">
          {[t(`reports.mail.ranges.${schedule.range}`), filters].filter((word) => word).join(' · ')}
        </div>
        <div className="soft" dir="auto">
          {t('reports.mail.to', {
            names: [...schedule.userIdList.map(names), ...schedule.addressList].join(', '),
          })}
        </div>
        {stopped.length > 0 && (
          <div className="soft" dir="auto">
            {t('reports.mail.stopped', { names: stopped.join(', ') })}
          </div>
        )}
        {schedule.paused && <div className="amber">{t('reports.mail.isPaused')}</div>}
        <div className="faint tiny">
          {nextRunTime !== null &&
            `${t('reports.mail.next', { time: format.moment(nextRunTime) })} · `}
          {t('reports.mail.by', { name: nameOfUser(schedule.createdUser, t) })}
        </div>
        {problem && <div className="clay">{problem}</div>}
      </div>
      <ScheduleMenu {...{ schedule, onEdit, onNote }} name={schedule.name ?? reportName} />
    </li>
  )
}

function ScheduleMenu({ schedule, name, onEdit, onNote }: LineProps & { name: string }) {
  const { t } = useTranslation()
  const [isAsking, setAsking] = useState(false)
  const remove = () =>
    void scheduleKind.saveActive(schedule, false).then(
      () => onNote(t('reports.mail.deleted', { name })),
      (error: unknown) => onNote(<ErrorMessage error={error} />),
    )
  return (
    <>
      <ActionMenu label={t('settings.setup.actionsOf', { name })}>
        <Menu.Item onClick={onEdit}>{t('settings.setup.edit')}</Menu.Item>
        <Menu.Item color="clay" onClick={() => setAsking(true)}>
          {t('words.remove')}
        </Menu.Item>
      </ActionMenu>
      <ConfirmWindow
        isOpen={isAsking}
        title={t('reports.mail.deleteTitle', { name })}
        hint={t('reports.mail.deleteHint')}
        button={t('reports.mail.deleteButton')}
        onClose={() => setAsking(false)}
        onConfirm={remove}
      />
    </>
  )
}
