import { useTranslation, type Translate } from '../texts/translate.ts'
import type { MarkName } from './mark-names.ts'
import type { EmailStatus } from '../../src/contract/email.ts'
import type { NamedTrigger, TriggerStatus } from '../../src/contract/event-trigger.ts'

export type { MarkName }

export const MARK_OF_STATUS: Record<TriggerStatus, MarkName> = {
  SCHEDULED: 'waiting',
  RUNNING: 'sending',
  COMPLETED: 'sent',
  FAILED: 'failed',
  SKIPPED: 'skipped',
  EXPIRED: 'late',
  CANCELLED: 'cancelled',
}

const MARK_OF_MAIL: Record<EmailStatus, MarkName> = {
  QUEUED: 'waiting',
  SENDING: 'sending',
  SENT: 'sent',
  CAPTURED: 'captured',
  RETRYING: 'sending',
  FAILED: 'failed',
  SUPPRESSED: 'skipped',
  UNCERTAIN: 'sending',
  CANCELLED: 'cancelled',
}

/** A message is captured, not sent, if its mail was kept because no mail server is configured. */
export const markOf = ({ status, email }: Pick<NamedTrigger, 'status' | 'email'>): MarkName =>
  status === 'COMPLETED' && email?.status === 'CAPTURED' ? 'captured' : MARK_OF_STATUS[status]

type Shape = { mark: MarkName; x?: number; y?: number; r?: number }

/** Each state has its own shape, so that it does not depend on colour. Belongs inside an SVG. */
export function MarkShape({ mark, x = 0, y = 0, r = 5 }: Shape) {
  const at = `translate(${x} ${y})`
  switch (mark) {
    case 'sent':
      return <circle cx={x} cy={y} r={r} fill="var(--mark)" />
    case 'waiting':
      return <Ring x={x} y={y} r={r} />
    case 'captured':
      return (
        <g>
          <Ring x={x} y={y} r={r} />
          <circle cx={x} cy={y} r={r * 0.4} fill="var(--mark)" />
        </g>
      )
    case 'sending':
      return (
        <g transform={at}>
          <circle r={r - 0.75} fill="var(--card)" stroke="var(--mark)" strokeWidth="1.5" />
          <path d={`M0 ${-r} A${r} ${r} 0 0 1 0 ${r} Z`} fill="var(--mark)" />
        </g>
      )
    case 'failed':
      return <Diamond r={r} at={at} />
    case 'skipped':
      return (
        <g>
          <Ring x={x} y={y} r={r} />
          <path
            transform={at}
            d={`M${-r * 0.5} 0 H${r * 0.5}`}
            stroke="var(--soft)"
            strokeWidth="1.5"
          />
        </g>
      )
    case 'late':
      return <Triangle r={r} at={at} />
    case 'cancelled':
      return <Cross r={r} at={at} />
  }
}

const Ring = ({ x, y, r }: { x: number; y: number; r: number }) => (
  <circle
    cx={x}
    cy={y}
    r={r - 0.75}
    fill="var(--card)"
    stroke="var(--line-strong)"
    strokeWidth="1.5"
  />
)

type PlacedShape = { r: number; at: string }

const Diamond = ({ r, at }: PlacedShape) => (
  <rect
    x={r * -0.88}
    y={r * -0.88}
    width={r * 1.76}
    height={r * 1.76}
    rx="1"
    fill="var(--clay)"
    transform={`${at} rotate(45)`}
  />
)

const Triangle = ({ r, at }: PlacedShape) => (
  <path
    transform={at}
    d={`M0 ${-r} L${r * 1.05} ${r * 0.85} H${-r * 1.05} Z`}
    fill="var(--amber-tint)"
    stroke="var(--amber)"
    strokeWidth="1.4"
    strokeLinejoin="round"
  />
)

function Cross({ r, at }: PlacedShape) {
  const arm = r * 0.65
  return (
    <path
      transform={at}
      d={`M${-arm} ${-arm} L${arm} ${arm} M${arm} ${-arm} L${-arm} ${arm}`}
      stroke="var(--faint)"
      strokeWidth="1.7"
      strokeLinecap="round"
    />
  )
}

export function Mark({ mark, size = 12 }: { mark: MarkName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="-6.5 -6.5 13 13"
      style={{ flex: 'none', overflow: 'visible' }}
      aria-hidden
    >
      <MarkShape mark={mark} />
    </svg>
  )
}

/** A mark with its label. */
export function Status(props: Omit<StatusOfRowProps, 't'>) {
  return <StatusOfRow {...props} t={useTranslation().t} />
}

/** The status of one mail: a message can have several. */
export function MailStatus({ status, reason }: { status: EmailStatus; reason: string | null }) {
  const { t } = useTranslation()
  const mark = MARK_OF_MAIL[status]
  return (
    <span className={`status ${mark}`} title={reason ?? undefined}>
      <Mark mark={mark} />
      {t(`mailStatus.${status}`)}
    </span>
  )
}

type StatusOfRowProps = {
  mark: MarkName
  /** Of its first mail. Shown for a message in the queue, because its mail may wait for long. */
  mailStatus?: EmailStatus | undefined
  pill?: boolean
  t: Translate
}

/** The same in a long list, which looks up `t` once for all rows. */
export function StatusOfRow({ mark, mailStatus, pill = false, t }: StatusOfRowProps) {
  const isInQueue =
    mark === 'sending' && mailStatus && ['waiting', 'sending'].includes(MARK_OF_MAIL[mailStatus])
  return (
    <span
      className={`status ${mark}${pill ? ' pill' : ''}`}
      title={mark === 'captured' ? t('status.capturedHint') : undefined}
    >
      <Mark mark={mark} />
      {isInQueue ? t(`mailStatus.${mailStatus}`) : t(`status.${mark}`)}
    </span>
  )
}
