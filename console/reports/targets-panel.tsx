import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { figuresQuery, targetKind, type ReportTarget } from '../api/report-targets.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { Loaded } from '../components/states.tsx'
import { Panel } from '../today/panel.tsx'
import { useFilterWords } from './filter-words.ts'
import { useReportName } from './report-name.ts'
import classes from './reports.module.css'
import { useUsernames } from './schedule-fields.tsx'
import { searchOf } from './search.ts'
import { TargetWindow, type EditedTarget } from './target-window.tsx'

/** Targets on figures of reports, with a mail when one is crossed; for owners. */
export function TargetsPanel() {
  const { t } = useTranslation()
  const { data: targets, error, refetch } = useQuery(targetKind.listQuery)
  const [edited, setEdited] = useState<EditedTarget>()
  return (
    <Panel title={t('reports.targets.panel')}>
      <Loaded
        query={{ data: targets, error, refetch }}
        title={t('errors.list')}
        lines={2}
        empty={<p className="soft small">{t('reports.targets.none')}</p>}
      >
        {(targets) => (
          <ul className={classes.lines}>
            {targets.map((target) => (
              <Target
                key={target.reportTargetId}
                target={target}
                onEdit={() => setEdited({ target })}
              />
            ))}
          </ul>
        )}
      </Loaded>
      <Button variant="default" size="xs" onClick={() => setEdited({ target: undefined })}>
        {t('reports.targets.add')}
      </Button>
      <TargetWindow edited={edited} onClose={() => setEdited(undefined)} />
    </Panel>
  )
}

function Target({ target, onEdit }: { target: ReportTarget; onEdit: () => void }) {
  const { t } = useTranslation()
  const names = useUsernames()
  const reportName = useReportName()(target.reportId)
  const filters = useFilterWords(target.reportId, { ...target, groupBy: null })
  const { data: figures } = useQuery(figuresQuery(target.reportId))
  const { kpi, currency, direction, range, userIdList, paused, state } = target
  const remove = useMutation({ mutationFn: () => targetKind.saveActive(target, false) })
  const figure = figures?.find(({ name }) => name === kpi)
  const label = figure?.label ?? kpi
  const write = (value: number | null) =>
    value === null
      ? '–'
      : t(`reports.targets.inUnit.${figure?.unit ?? 'count'}`, { value, currency: currency ?? '' })
  return (
    <li>
      <div className="grow small">
        <Link
          to="/reports/$reportId"
          params={{ reportId: target.reportId }}
          search={searchOf({ ...target, groupBy: null })}
          className={`strong ${classes.lineName}`}
          dir="auto"
        >
          {target.name ?? t(`reports.targets.${direction}`, { label, value: write(target.value) })}
        </Link>
        {target.name !== null && (
          <div>{t(`reports.targets.${direction}`, { label, value: write(target.value) })}</div>
        )}
        <div className="soft" dir="auto">
          {[reportName, t(`reports.mail.ranges.${range}`), filters].filter(Boolean).join(' · ')}
        </div>
        <div className="soft" dir="auto">
          {t('reports.mail.to', { names: userIdList.map(names).join(', ') })}
        </div>
        <div className={paused || state.lastError ? 'amber' : 'soft'}>
          {paused
            ? t('reports.mail.isPaused')
            : (state.lastError ??
              t(`reports.targets.${state.crossedTime === null ? 'kept' : 'crossed'}`, {
                value: write(state.lastValue),
              }))}
        </div>
        {remove.error && <ErrorMessage error={remove.error} />}
      </div>
      <Button variant="subtle" size="xs" onClick={onEdit}>
        {t('reports.targets.change')}
      </Button>
      <Button variant="subtle" size="xs" loading={remove.isPending} onClick={() => remove.mutate()}>
        {t('reports.targets.remove')}
      </Button>
    </li>
  )
}
