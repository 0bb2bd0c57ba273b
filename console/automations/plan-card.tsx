import { IconArrowRight } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { Forecast } from '../../src/contract/forecast.ts'
import { ProblemError } from '../../src/client/client.ts'
import { Mark, type MarkName } from '../components/mark.tsx'
import { Failure, Loading } from '../components/states.tsx'
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

/** The number of examples before "See all". */
const SHOWN = 6
export const ALL_SAMPLES = 200

type Props = {
  plan: Forecast | undefined
  error: unknown
  isEvent: boolean
  isExpanded: boolean
  onExpand: (isExpanded: boolean) => void
  onRetry: () => void
}

/** What saving would move, cancel and schedule, with examples. */
export function PlanCard({ plan, error, isEvent, isExpanded, onExpand, onRetry }: Props) {
  const { t } = useTranslation()
  return (
    <section className={`card ${classes.planCard}`} aria-busy={(!plan && !error) || undefined}>
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
          <Samples plan={plan} isEvent={isEvent} isExpanded={isExpanded} onExpand={onExpand} />
        </>
      )}
    </section>
  )
}

function Figure({ count, mark, label }: { count: number; mark: MarkName; label: string }) {
  return (
    <div>
      <div className={classes.figure} data-none={count === 0 || undefined}>
        {count.toLocaleString()}
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
      {error.errors.map(({ pointer, detail }) => (
        <div key={pointer + detail} className="soft">
          <span className="mono">{pointer}</span> {detail}
        </div>
      ))}
      {error.errors.length === 0 && <div className="soft">{error.message}</div>}
    </div>
  )
}

type SamplesProps = Pick<Props, 'isEvent' | 'isExpanded' | 'onExpand'> & { plan: Forecast }

function Samples({ plan, isEvent, isExpanded, onExpand }: SamplesProps) {
  const { t } = useTranslation()
  const total = KINDS.reduce((sum, kind) => sum + plan[kind], 0)
  const samples = isExpanded ? plan.samples : pickSamples(plan.samples)
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
      {isExpanded && total > plan.samples.length && (
        <p className="faint small">{t('editor.plan.shown', { count: ALL_SAMPLES })}</p>
      )}
      {total > samples.length || isExpanded ? (
        <button type="button" className={classes.link} onClick={() => onExpand(!isExpanded)}>
          {isExpanded ? t('editor.plan.seeFewer') : t('editor.plan.seeAll', { count: total })}
        </button>
      ) : null}
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
  const format = useTimeFormat()
  const { change, clientName, objectName, objectTime, objectType, from, to, reason } = sample
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
        {reason && <span> · {reason}</span>}
      </div>
    </li>
  )
}
