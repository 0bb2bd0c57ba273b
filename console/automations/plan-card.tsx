import { IconArrowRight } from '../components/icons.tsx'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { formatNumber, useTranslation } from '../texts/translate.ts'
import type { Forecast } from '../../src/contract/forecast.ts'
import { ProblemError } from '../../src/client/client.ts'
import { planSamplesQuery, type AutomationBody } from '../api/automation.ts'
import { faultsIn } from '../components/faults.ts'
import { Mark, type MarkName } from '../components/mark.tsx'
import { Failure, Loading } from '../components/states.tsx'
import { useReasonWords } from '../components/reason-words.ts'
import { useTimeFormat } from '../components/time.ts'
import classes from './editor.module.css'

type Sample = Forecast['samples'][number]
type Kind = Sample['change']

const MARKS: Record<Kind, MarkName> = {
  move: 'sending',
  cancel: 'cancelled',
  create: 'waiting',
  expired: 'late',
}
const KINDS: Kind[] = ['move', 'cancel', 'create', 'expired']

const PLAN_ID = 'plan'

/** The number of examples before "See all". */
const SHOWN = 6

type Props = {
  body: AutomationBody
  plan: Forecast | undefined
  error: unknown
  isEvent: boolean
  onRetry: () => void
}

/** The messages that saving would move, cancel and schedule, with examples. */
export function PlanCard({ body, plan, error, isEvent, onRetry }: Props) {
  const { t } = useTranslation()
  return (
    <section
      id={PLAN_ID}
      className={`card ${classes.planCard}`}
      aria-busy={(!plan && !error) || undefined}
    >
      <header className="row">
        <h2 className={classes.cardTitle}>{t('editor.plan.title')}</h2>
        <span className="grow" />
        <span className="faint tiny">{t('editor.plan.nothingSent')}</span>
      </header>
      {error instanceof ProblemError && error.status === 422 ? (
        <Faults error={error} />
      ) : error && !plan ? (
        <Failure error={error} onRetry={onRetry} />
      ) : !plan ? (
        <Loading lines={5} height={22} />
      ) : (
        <>
          <div className={`numbers ${classes.figures}`} aria-live="polite">
            {KINDS.map((kind) => (
              <Figure
                key={kind}
                count={plan[kind]}
                mark={MARKS[kind]}
                label={t(`editor.plan.${kind}`)}
              />
            ))}
          </div>
          {plan.lacksPostalAddress && (
            <p className="amber small">{t('editor.plan.lacksPostalAddress')}</p>
          )}
          <Samples body={body} plan={plan} isEvent={isEvent} />
        </>
      )}
    </section>
  )
}

/** On a phone: the figures of the plan, always visible, with a link to the plan. */
export function PlanFigures({ plan }: { plan: Forecast }) {
  const { t } = useTranslation()
  return (
    <button
      type="button"
      className={`numbers ${classes.barFigures}`}
      title={t('editor.plan.title')}
      onClick={() => document.getElementById(PLAN_ID)?.scrollIntoView()}
    >
      {KINDS.map((kind) => (
        <span key={kind} className="row" style={{ gap: 5 }}>
          <Mark mark={MARKS[kind]} size={10} />
          <b>{formatNumber(plan[kind])}</b> {t(`editor.plan.${kind}`)}
        </span>
      ))}
    </button>
  )
}

function Figure({ count, mark, label }: { count: number; mark: MarkName; label: string }) {
  return (
    <div>
      <div className={classes.figure} data-none={count === 0 || undefined}>
        {formatNumber(count)}
      </div>
      <div className="row soft tiny" style={{ gap: 6 }}>
        <Mark mark={mark} size={10} />
        {label}
      </div>
    </div>
  )
}

function Faults({ error }: { error: ProblemError }) {
  const { t } = useTranslation()
  return (
    <div role="alert" className="small" style={{ paddingTop: 8 }}>
      <div className="strong amber">{t('editor.plan.invalid')}</div>
      {faultsIn(error).map(({ pointer, detail }) => (
        <div key={pointer + detail} className="soft">
          <span className="mono">{pointer}</span> {detail}
        </div>
      ))}
      {error.errors.length === 0 && <div className="soft">{error.message}</div>}
    </div>
  )
}

type SamplesProps = Pick<Props, 'body' | 'isEvent'> & { plan: Forecast }

function Samples({ body, plan, isEvent }: SamplesProps) {
  const { t } = useTranslation()
  const [isExpanded, setExpanded] = useState(false)
  const all = useInfiniteQuery({
    ...planSamplesQuery(body),
    enabled: isExpanded,
    placeholderData: keepPreviousData,
  })
  const total = KINDS.reduce((sum, kind) => sum + plan[kind], 0)
  const pages = isExpanded ? all.data?.pages : undefined
  const samples = pages?.flatMap((page) => page.samples) ?? pickSamples(plan.samples)
  if (total === 0) {
    return (
      <p className="faint small" style={{ margin: '4px 0 6px' }}>
        {t(isEvent ? 'editor.plan.whenItHappens' : 'editor.plan.nothing')}
      </p>
    )
  }
  return (
    <>
      <ul className={classes.samples} data-expanded={isExpanded || undefined}>
        {samples.map((sample, place) => (
          <SampleLine key={place} sample={sample} />
        ))}
      </ul>
      {plan.partial && <p className="amber small">{t('editor.plan.partial')}</p>}
      <div className="row" style={{ gap: 18 }}>
        {isExpanded && all.hasNextPage && (
          <button
            type="button"
            className={classes.link}
            disabled={all.isFetching}
            onClick={() => void all.fetchNextPage()}
          >
            {t('words.showMore')}
          </button>
        )}
        {(total > samples.length || isExpanded) && (
          <button
            type="button"
            className={classes.link}
            aria-expanded={isExpanded}
            onClick={() => setExpanded(!isExpanded)}
          >
            {isExpanded ? t('editor.plan.seeFewer') : t('editor.plan.seeAll', { count: total })}
          </button>
        )}
      </div>
    </>
  )
}

/** Some of each kind, so that rare changes are shown too. */
function pickSamples(samples: Sample[]): Sample[] {
  const byKind = KINDS.map((kind) => samples.filter(({ change }) => change === kind))
  const kinds = byKind.filter((some) => some.length > 0)
  const each = Math.ceil(SHOWN / Math.max(kinds.length, 1))
  return kinds.flatMap((some) => some.slice(0, each)).slice(0, SHOWN)
}

function SampleLine({ sample }: { sample: Sample }) {
  const { t } = useTranslation()
  const say = useReasonWords()
  const format = useTimeFormat()
  const { change, clientName, objectName, objectTime, objectType, from, to, reasons } = sample
  const isVisit = objectType === 'CALENDAR' || objectType === 'CLASS_SCHEDULE'
  return (
    <li className={classes.sample}>
      <div className="row">
        <Mark mark={MARKS[change]} size={11} />
        <span className="strong ellipsis" dir="auto">
          {clientName ?? objectName ?? sample.objectId ?? sample.objectUUId}
        </span>
        {objectTime != null && (
          <span className="faint ellipsis">
            {t(isVisit ? 'editor.plan.visit' : 'editor.plan.due', {
              time: format.moment(objectTime),
            })}
          </span>
        )}
      </div>
      <div className={`numbers soft ${classes.sampleTimes}`}>
        {from !== null && <s>{format.moment(from)}</s>}
        {from !== null && to !== null && <IconArrowRight size={13} aria-label="→" />}
        {to !== null &&
          (change === 'expired' ? <s>{format.moment(to)}</s> : <b>{format.moment(to)}</b>)}
        {reasons.length > 0 && <span dir="auto"> · {say(reasons)}</span>}
      </div>
    </li>
  )
}
