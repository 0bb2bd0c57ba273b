import { Button, PasswordInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { ProblemError } from '../../src/client/client.ts'
import type { RestoreState } from '../../src/contract/restore.ts'
import { release, restoreQuery } from '../api/restore.ts'
import { acceptOperatorKey, hasOperatorKey } from '../api/start.ts'
import { useForm } from '../components/form.ts'
import { Failure, Loading } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { PageHead } from '../shell/page-head.tsx'

type Hold = NonNullable<RestoreState['hold']>

/** What a restored database would send. The operator releases it here; others see their business. */
export function RestoredPage() {
  const { t } = useTranslation()
  const [isOperator, setOperator] = useState(hasOperatorKey)
  const { data, error } = useQuery(restoreQuery(isOperator ? 'operator' : 'business'))
  return (
    <>
      <PageHead title={t('restored.title')} lede={data && !data.held && t('restored.released')} />
      {error ? (
        <Failure error={error} />
      ) : !data ? (
        <Loading />
      ) : (
        data.hold && (
          <>
            <Lost hold={data.hold} />
            <Waiting hold={data.hold} />
            {isOperator ? <Release /> : <OperatorKey onDone={() => setOperator(true)} />}
          </>
        )
      )}
    </>
  )
}

function Lost({ hold }: { hold: Hold }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { newerState, unknown, lostFrom, lostUntil, heldSince } = hold
  const times = {
    from: format.moment(lostFrom),
    until: lostUntil === null ? t('restored.unknownTime') : format.moment(lostUntil),
    since: format.moment(heldSince),
  }
  return (
    <section>
      <p>{t('restored.lost', times)}</p>
      {newerState && <p>{t('restored.taken', newerState)}</p>}
      {unknown.length > 0 && (
        <p>
          {t('restored.unknown', {
            changes: unknown.map((change) => t(`restored.changes.${change}`)).join(', '),
          })}
        </p>
      )}
    </section>
  )
}

function Waiting({ hold: { automations, emails } }: { hold: Hold }) {
  const { t } = useTranslation()
  if (automations.length + emails.length === 0) return <p>{t('restored.nothing')}</p>
  return (
    <table className="card" style={{ width: '100%', padding: 16 }}>
      <thead>
        <tr style={{ textAlign: 'start' }}>
          {(['automation', 'past', 'useless', 'due', 'sentBefore'] as const).map((name) => (
            <th key={name} scope="col" style={{ textAlign: 'start' }}>
              {t(`restored.columns.${name}`)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {automations.map(({ business, eventDefnId, description, ...counts }) => (
          <tr key={eventDefnId}>
            <th scope="row" dir="auto" style={{ textAlign: 'start', fontWeight: 'normal' }}>
              {business}: {description ?? `#${eventDefnId}`}
            </th>
            <td className="numbers">{counts.past}</td>
            <td className="numbers">{counts.useless}</td>
            <td className="numbers">{counts.due}</td>
            <td className="numbers">{counts.sentBefore}</td>
          </tr>
        ))}
        {emails.map(({ business, businessId, emails: count }) => (
          <tr key={businessId}>
            <th scope="row" dir="auto" style={{ textAlign: 'start', fontWeight: 'normal' }}>
              {business}: {t('restored.queued')}
            </th>
            <td className="numbers">{count}</td>
            <td colSpan={3} />
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Release() {
  const { t } = useTranslation()
  const { mutate, isPending, error } = useMutation({ mutationFn: release })
  return (
    <section>
      <p>{t('restored.choose')}</p>
      <div className="row">
        {(['EXPIRE', 'SEND'] as const).map((past) => (
          <Button
            key={past}
            variant={past === 'EXPIRE' ? 'filled' : 'default'}
            loading={isPending}
            onClick={() => mutate(past)}
          >
            {t(`restored.past.${past}`)}
          </Button>
        ))}
      </div>
      {error && <Failure title={t('errors.notDone')} error={error} />}
    </section>
  )
}

function OperatorKey({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation()
  const [isRefused, setRefused] = useState(false)
  const form = useForm(async (value) => {
    setRefused(false)
    try {
      await acceptOperatorKey(value('key').trim())
    } catch (error) {
      if (!(error instanceof ProblemError && [401, 403].includes(error.status))) throw error
      return setRefused(true)
    }
    onDone()
  })
  return (
    <form onSubmit={form.onSubmit} style={{ maxWidth: 420, marginTop: 24 }}>
      <PasswordInput
        name="key"
        label={t('start.key')}
        description={t('restored.keyHint')}
        autoComplete="off"
        required
        withAsterisk={false}
        error={isRefused ? t('start.keyRefused') : form.message}
      />
      <Button type="submit" mt="md" variant="default" loading={form.isBusy}>
        {t('start.continue')}
      </Button>
    </form>
  )
}
