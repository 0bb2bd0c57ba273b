import { Button } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import { ProblemError } from '../../src/client/client.ts'
import { Trans } from '../texts/trans.tsx'
import { useTranslation, type Translate } from '../texts/translate.ts'
import type { Plan } from '../api/calendar.ts'
import { ErrorMessage } from '../components/error-message.tsx'

const PARTS = ['move', 'create', 'cancel', 'expired'] as const

/** The automations whose mail is sent immediately by saving. */
const namesAtOnce = ({ samples }: Plan, t: Translate) =>
  samples
    .filter(({ change }) => change === 'atOnce')
    .map(({ templateName, description }) => templateName ?? description ?? t('whatIf.unnamed'))
    .join(', ')

/** The effect of saving: "3 messages move; nothing is sent now." */
export function Consequences({ plan }: { plan: Plan }) {
  const { t } = useTranslation()
  const parts: ReactNode[] = PARTS.filter((part) => plan[part] > 0).map((part) => (
    <Trans
      key={part}
      i18nKey={`whatIf.${part}`}
      values={{ count: plan[part] }}
      components={{ b: <b /> }}
    />
  ))
  if (plan.atOnce > 0) {
    parts.push(
      <Trans
        key="atOnce"
        i18nKey="whatIf.atOnce"
        values={{ names: namesAtOnce(plan, t) }}
        components={{ b: <b /> }}
      />,
    )
  }
  if (parts.length > 0 && plan.atOnce === 0) parts.push(t('whatIf.noneAtOnce'))
  return (
    <p style={{ margin: 0 }} data-plan>
      {plan.partial ? `${t('whatIf.atLeast')} ` : parts.length === 0 && t('whatIf.nothing')}
      {parts.map((part, place) => (
        // oxlint-disable-next-line react/no-array-index-key -- the parts have a fixed order
        <Fragment key={place}>
          {place > 0 && '; '}
          {part}
          {place === parts.length - 1 && '.'}
        </Fragment>
      ))}
    </p>
  )
}

/** The same in a few words: "2 move, 1 too late". */
export function shortConsequences(plan: Plan, t: Translate) {
  const parts: string[] = PARTS.filter((part) => plan[part] > 0).map((part) =>
    t(`whatIf.short.${part}`, { count: plan[part] }),
  )
  if (plan.atOnce > 0) parts.push(t('whatIf.short.atOnce', { names: namesAtOnce(plan, t) }))
  return parts.length > 0 ? parts.join(', ') : t('whatIf.short.nothing')
}

/** Whether the plan is that of what is typed now: saving waits for it. */
export const isPlanOf = (
  typed: unknown,
  settled: unknown,
  { isSuccess, isPlaceholderData }: { isSuccess: boolean; isPlaceholderData: boolean },
) => typed === settled && isSuccess && !isPlaceholderData

type RefusalProps = {
  error: unknown
  /** The request of the plan, of which `error` may be. */
  plan: { error: unknown; isFetching: boolean; refetch: () => Promise<unknown> }
}

/** Why it cannot be saved. A plan that was not computed can be requested again. */
export function Refusal({ error, plan }: RefusalProps) {
  const { t } = useTranslation()
  const isRefused = error !== plan.error || (error instanceof ProblemError && error.status === 422)
  return (
    <div role="alert" className="clay">
      {t(isRefused ? 'whatIf.refused' : 'whatIf.noPlan')}: <ErrorMessage error={error} />
      {!isRefused && (
        <Button
          variant="default"
          size="compact-sm"
          mt={6}
          style={{ display: 'block' }}
          loading={plan.isFetching}
          onClick={() => void plan.refetch()}
        >
          {t('errors.again')}
        </Button>
      )}
    </div>
  )
}
