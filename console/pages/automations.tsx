import { Select, Switch, TextInput } from '@mantine/core'
import { IconBellOff, IconSearch } from '../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { Trans } from '../texts/trans.tsx'
import { useTranslation } from '../texts/translate.ts'
import { automationsQuery, type Automation } from '../api/automations.ts'
import { useSession } from '../api/session.ts'
import { setupQuery, type Setup } from '../api/setup.ts'
import { AutomationMenu } from '../automations/automation-menu.tsx'
import { EffectWindow } from '../automations/effect-window.tsx'
import { NewAutomation } from '../automations/new-automation.tsx'
import { Sentence } from '../automations/sentence-view.tsx'
import { sentenceOf, sentenceText } from '../automations/sentence.ts'
import { MarkShape } from '../components/mark.tsx'
import { useRowKeys } from '../components/row-keys.ts'
import { LoadingRows } from '../components/skeletons.tsx'
import { Empty, Failure } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { PageHead } from '../shell/page-head.tsx'
import classes from './automations.module.css'

export function AutomationsPage() {
  const { t } = useTranslation()
  useRowKeys()
  const { data: automations, error, refetch } = useQuery(automationsQuery)
  const { data: setup, error: setupError, refetch: refetchSetup } = useQuery(setupQuery)
  const { functions } = useSession()
  const [filters, setFilters] = useState<Filters>({ text: '' })
  // A new key resets the fields when the filters are removed.
  const [clearings, setClearings] = useState(0)
  const failure = error ?? setupError
  const total = (key: 'sent' | 'waiting') =>
    automations?.reduce((sum, { activity }) => sum + (activity?.[key] ?? 0), 0) ?? 0
  return (
    <>
      <PageHead
        title={t('words.automations')}
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
      <FilterBar
        key={clearings}
        setup={setup}
        filters={filters}
        onChange={(more) => setFilters({ ...filters, ...more })}
      />
      {failure && !(automations && setup) ? (
        <Failure
          title={t('errors.list')}
          error={failure}
          onRetry={() => void Promise.all([refetch(), refetchSetup()])}
        />
      ) : !automations || !setup ? (
        <LoadingRows rows={10} height={46} />
      ) : (
        <List
          automations={automations}
          setup={setup}
          filters={filters}
          onClear={() => {
            setFilters({ text: '' })
            setClearings(clearings + 1)
          }}
        />
      )}
    </>
  )
}

type Filters = {
  text: string
  locationId?: number | undefined
  professionalId?: number | undefined
  reasonId?: number | undefined
  active?: boolean | undefined
}

type FilterBarProps = {
  setup: Setup | undefined
  filters: Filters
  onChange: (more: Partial<Filters>) => void
}

function FilterBar({ setup, filters, onChange }: FilterBarProps) {
  const { t } = useTranslation()
  return (
    <div className={classes.filters}>
      <TextInput
        leftSection={<IconSearch size={15} aria-hidden />}
        rightSection={<kbd>/</kbd>}
        placeholder={t('automations.find')}
        aria-label={t('automations.find')}
        w={214}
        value={filters.text}
        onChange={(event) => onChange({ text: event.currentTarget.value })}
      />
      <IdFilter
        label={t('editor.locations.all')}
        options={setup?.locations.map(({ locationId, name }) => [locationId, name])}
        onChange={(locationId) => onChange({ locationId })}
      />
      <IdFilter
        label={t('editor.staff.all')}
        options={setup?.professionals.map(({ professionalId, firstName, lastName }) => [
          professionalId,
          `${firstName} ${lastName}`,
        ])}
        onChange={(professionalId) => onChange({ professionalId })}
      />
      <IdFilter
        label={t('editor.services.all')}
        options={setup?.services.map(({ reasonId, name }) => [reasonId, name])}
        onChange={(reasonId) => onChange({ reasonId })}
      />
      <Select
        aria-label={t('automations.onAndOff')}
        placeholder={t('automations.onAndOff')}
        w={176}
        clearable
        data={[
          { value: 'on', label: t('words.on') },
          { value: 'off', label: t('words.off') },
        ]}
        onChange={(value) => onChange({ active: value === null ? undefined : value === 'on' })}
      />
    </div>
  )
}

type IdFilterProps = {
  label: string
  options: [number, string][] | undefined
  onChange: (id: number | undefined) => void
}

function IdFilter({ label, options = [], onChange }: IdFilterProps) {
  return (
    <Select
      aria-label={label}
      placeholder={label}
      w={182}
      clearable
      searchable
      data={options.map(([id, text]) => ({ value: String(id), label: text }))}
      onChange={(value) => onChange(value === null ? undefined : Number(value))}
    />
  )
}

/** An automation without a selection applies to all. */
const selects = (ids: number[], id: number | undefined) =>
  id === undefined || ids.length === 0 || ids.includes(id)

const passes = (automation: Automation, filters: Filters) =>
  selects(automation.locationIdList, filters.locationId) &&
  selects(automation.professionalIdList, filters.professionalId) &&
  selects(automation.reasonIdList, filters.reasonId) &&
  (filters.active === undefined || automation.active === filters.active)

/** The stages of an appointment, and other objects. */
const GROUPS = ['booked', 'before', 'after', 'changed', 'others'] as const
type Group = (typeof GROUPS)[number]
/** A line connects these groups: the life cycle of an appointment. */
const LIFE = new Set<Group>(['booked', 'before', 'after'])

function groupOf({ eventType, triggerHours, triggerMonths, triggerMinutes }: Automation): Group {
  if (eventType.objectType !== 'CALENDAR') return 'others'
  if (eventType.eventType === 'APPT_CREATED') return 'booked'
  if (eventType.eventType === 'APPT_CHANGED') return 'changed'
  return triggerMonths < 0 || triggerHours < 0 || triggerMinutes < 0 ? 'before' : 'after'
}

type ListProps = {
  automations: Automation[]
  setup: Setup
  filters: Filters
  onClear: () => void
}

function List({ automations, setup, filters, onClear }: ListProps) {
  const { t } = useTranslation()
  const canEdit = useSession().functions.includes('EDIT_DEFINITIONS')
  const rows = automations
    .map((automation) => ({
      automation,
      parts: sentenceOf(automation, automation.eventActions ?? [], setup),
    }))
    .filter(
      ({ automation, parts }) =>
        passes(automation, filters) &&
        `${automation.description} ${sentenceText(parts)}`
          .toLowerCase()
          .includes(filters.text.toLowerCase()),
    )
  if (automations.length === 0) {
    return (
      <Empty title={t('automations.none')} actions={canEdit && <NewAutomation />}>
        {t('automations.noneHint')}
      </Empty>
    )
  }
  if (rows.length === 0) {
    return (
      <Empty
        title={t('automations.notFound')}
        actions={
          <button type="button" className="button" onClick={onClear}>
            {t('activity.withoutFilters')}
          </button>
        }
      >
        {t('automations.notFoundHint')}
      </Empty>
    )
  }
  return <Groups rows={rows} />
}

/** The automations in the order of the life of an appointment. */
function Groups({ rows }: { rows: RowProps[] }) {
  const { t } = useTranslation()
  const byGroup = Map.groupBy(rows, ({ automation }) => groupOf(automation))
  return (
    <div className="card" style={{ overflow: 'hidden' }}>
      <div className={`list-row list-head ${classes.row} ${classes.head}`} aria-hidden>
        <span />
        <span>{t('automations.what')}</span>
        <span>{t('automations.fortnight')}</span>
        <span style={{ textAlign: 'right' }}>{t('automations.sent')}</span>
        <span>{t('automations.next')}</span>
        <span style={{ textAlign: 'right' }}>{t('words.on')}</span>
        <span />
      </div>
      {GROUPS.filter((group) => byGroup.has(group)).map((group) => (
        <section key={group} data-life={LIFE.has(group) || undefined}>
          <h2 className={`eyebrow ${classes.group}`} data-visit={group === 'after' || undefined}>
            {t(`automations.groups.${group}`)}
          </h2>
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
  const hasStopped = active && activity?.hasStoppedMatching === true
  return (
    <div
      className={`list-row ${classes.row}`}
      data-off={!active || undefined}
      data-stopped={hasStopped || undefined}
    >
      <svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden>
        <circle r="7" fill="var(--card)" className={classes.gap} />
        <MarkShape mark={hasStopped ? 'late' : active ? 'sent' : 'waiting'} />
      </svg>
      <div>
        <Link
          to="/automations/$eventDefnId"
          params={{ eventDefnId: String(automation.eventDefnId) }}
          className={classes.open}
        >
          <Sentence parts={parts} />
        </Link>
        {hasStopped && (
          <div className={`amber tiny ${classes.stopped}`}>
            <IconBellOff size={14} aria-hidden />
            <span>
              <b>{t('automations.stopped')}</b>. {t('automations.stoppedHint')}
            </span>
          </div>
        )}
      </div>
      <Spark days={activity?.days ?? []} />
      <div className="numbers" style={{ textAlign: 'right', lineHeight: 1.3 }}>
        <span className="strong">{activity?.sent ?? 0}</span>
        {activity && activity.failed > 0 && (
          <div className="clay tiny">{t('automations.failed', { count: activity.failed })}</div>
        )}
      </div>
      <div className="numbers soft small">{next}</div>
      <OnOff automation={automation} label={sentenceText(parts)} />
      <AutomationMenu automation={automation} label={sentenceText(parts)} />
    </div>
  )
}

/** Shows what the switch does to messages before it does it. */
function OnOff({ automation, label }: { automation: Automation; label: string }) {
  const { functions } = useSession()
  const [isAsking, setAsking] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const { active } = automation
  return (
    <>
      <Switch
        ref={input}
        size="sm"
        aria-label={label}
        checked={active}
        disabled={!functions.includes('EDIT_DEFINITIONS')}
        onChange={() => setAsking(true)}
        style={{ justifySelf: 'end' }}
      />
      {isAsking && (
        <EffectWindow
          action={active ? 'switchOff' : 'switchOn'}
          automation={automation}
          label={label}
          onClose={() => {
            setAsking(false)
            input.current?.focus()
          }}
        />
      )}
    </>
  )
}

/** Completed messages of each of the last 14 days. */
function Spark({ days }: { days: number[] }) {
  const maxCount = Math.max(...days, 1)
  return (
    <svg width="104" height="24" aria-hidden>
      {days.map((count, i) => {
        const height = count === 0 ? 1.5 : Math.max(3, (count / maxCount) * 22)
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
