import { Switch, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Trans, useTranslation } from 'react-i18next'
import { automationsQuery, switchAutomation, type Automation } from '../api/automations.ts'
import { useSession } from '../api/session.ts'
import { setupQuery, type Setup } from '../api/setup.ts'
import { AutomationMenu } from '../automations/automation-menu.tsx'
import { NewAutomation } from '../automations/new-automation.tsx'
import { Sentence } from '../automations/sentence-view.tsx'
import { sentenceOf, sentenceText } from '../automations/sentence.ts'
import { MarkShape } from '../components/mark.tsx'
import { Empty, Failure, Loading } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { PageHead } from '../shell/page-head.tsx'
import classes from './automations.module.css'

export function AutomationsPage() {
  const { t } = useTranslation()
  const { data: automations, error, refetch } = useQuery(automationsQuery)
  const { data: setup, error: setupError } = useQuery(setupQuery)
  const { functions } = useSession()
  const [text, setText] = useState('')
  const failure = error ?? setupError
  const total = (key: 'sent' | 'waiting') =>
    automations?.reduce((sum, { activity }) => sum + (activity?.[key] ?? 0), 0) ?? 0
  return (
    <>
      <PageHead
        title={t('automations.title')}
        lede={
          automations && (
            <Trans
              i18nKey="automations.lede"
              values={{ count: automations.length, sent: total('sent'), waiting: total('waiting') }}
              components={{ b: <b /> }}
            />
          )
        }
      >
        {functions.includes('EDIT_DEFINITIONS') && <NewAutomation />}
      </PageHead>
      {failure && !(automations && setup) ? (
        <Failure error={failure} onRetry={() => void refetch()} />
      ) : !automations || !setup ? (
        <Loading lines={10} height={28} />
      ) : (
        <>
          <TextInput
            leftSection={<IconSearch size={15} aria-hidden />}
            placeholder={t('automations.find')}
            aria-label={t('automations.find')}
            w={260}
            mb={14}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <List automations={automations} setup={setup} text={text} />
        </>
      )}
    </>
  )
}

/** The stages of an appointment, and other objects. */
const GROUPS = ['booked', 'before', 'after', 'changed', 'others'] as const
type Group = (typeof GROUPS)[number]

function groupOf({ eventType, triggerHours, triggerMonths, triggerMinutes }: Automation): Group {
  if (eventType.objectType !== 'CALENDAR') return 'others'
  if (eventType.eventType === 'APPT_CREATED') return 'booked'
  if (eventType.eventType === 'APPT_CHANGED') return 'changed'
  return triggerMonths < 0 || triggerHours < 0 || triggerMinutes < 0 ? 'before' : 'after'
}

function List({
  automations,
  setup,
  text,
}: {
  automations: Automation[]
  setup: Setup
  text: string
}) {
  const { t } = useTranslation()
  const rows = automations
    .map((automation) => ({
      automation,
      parts: sentenceOf(automation, automation.eventActions ?? [], setup),
    }))
    .filter(({ automation, parts }) =>
      `${automation.description} ${sentenceText(parts)}`.toLowerCase().includes(text.toLowerCase()),
    )
  if (automations.length === 0) {
    return <Empty title={t('automations.none')}>{t('automations.noneHint')}</Empty>
  }
  if (rows.length === 0) {
    return <Empty title={t('automations.notFound')}>{t('automations.notFoundHint')}</Empty>
  }
  const byGroup = Map.groupBy(rows, ({ automation }) => groupOf(automation))
  return (
    <div className="card" style={{ overflow: 'hidden' }}>
      <div className={`list-row list-head ${classes.row} ${classes.head}`} aria-hidden>
        <span />
        <span>{t('automations.what')}</span>
        <span>{t('automations.fortnight')}</span>
        <span style={{ textAlign: 'right' }}>{t('automations.sent')}</span>
        <span>{t('automations.next')}</span>
        <span style={{ textAlign: 'right' }}>{t('automations.on')}</span>
        <span />
      </div>
      {GROUPS.filter((group) => byGroup.has(group)).map((group) => (
        <section key={group}>
          <h2 className={`eyebrow ${classes.group}`}>{t(`automations.groups.${group}`)}</h2>
          {byGroup.get(group)!.map(({ automation, parts }) => (
            <Row key={automation.eventDefnId} automation={automation} parts={parts} />
          ))}
        </section>
      ))}
    </div>
  )
}

type RowProps = { automation: Automation; parts: ReturnType<typeof sentenceOf> }

function Row({ automation, parts }: RowProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { active, activity, eventType } = automation
  const isEvent = eventType.eventCategory === 'EVENT'
  const next = !active
    ? t('automations.off')
    : activity?.nextTime
      ? format.moment(activity.nextTime)
      : t(isEvent ? 'automations.whenItHappens' : 'automations.nothingAhead')
  return (
    <div className={`list-row ${classes.row}`} data-off={!active || undefined}>
      <svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden>
        <MarkShape mark={active ? 'sent' : 'waiting'} />
      </svg>
      <Link
        to="/automations/$eventDefnId"
        params={{ eventDefnId: String(automation.eventDefnId) }}
        className={classes.open}
      >
        <Sentence parts={parts} />
      </Link>
      <Spark days={activity?.days ?? []} />
      <div className="numbers" style={{ textAlign: 'right', lineHeight: 1.3 }}>
        <span className="strong">{activity?.sent ?? 0}</span>
        {activity && activity.failed > 0 && (
          <div className="clay tiny">{t('automations.failed', { count: activity.failed })}</div>
        )}
      </div>
      <div className="numbers soft small">
        {next}
        {active && activity?.hasStoppedMatching && (
          <div className="amber tiny" title={t('automations.stoppedHint')}>
            {t('automations.stopped')}
          </div>
        )}
      </div>
      <OnOff automation={automation} label={sentenceText(parts)} />
      <AutomationMenu automation={automation} label={sentenceText(parts)} />
    </div>
  )
}

function OnOff({ automation, label }: { automation: Automation; label: string }) {
  const { functions } = useSession()
  const { mutate, isPending, variables } = useMutation({
    mutationFn: (active: boolean) => switchAutomation(automation, active),
  })
  return (
    <Switch
      size="sm"
      aria-label={label}
      checked={isPending ? variables : automation.active}
      disabled={isPending || !functions.includes('EDIT_DEFINITIONS')}
      onChange={(event) => mutate(event.currentTarget.checked)}
      style={{ justifySelf: 'end' }}
    />
  )
}

/** Completed messages of each of the last 14 days. */
function Spark({ days }: { days: number[] }) {
  const most = Math.max(...days, 1)
  return (
    <svg width="104" height="24" aria-hidden>
      {days.map((count, i) => {
        const height = count === 0 ? 1.5 : Math.max(3, (count / most) * 22)
        return (
          <rect
            key={i}
            x={i * 7.4}
            y={23.5 - height}
            width="5"
            height={height}
            rx="1.2"
            fill={count === 0 ? 'var(--line-strong)' : 'var(--mark)'}
            opacity={count === 0 ? 0.6 : 1}
          />
        )
      })}
    </svg>
  )
}
