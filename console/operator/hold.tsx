import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import type { RestoreState } from '../../src/contract/restore.ts'
import { release } from '../api/restore.ts'
import { Failure } from '../components/states.tsx'
import type { TimeFormat } from '../components/time.ts'

type Hold = NonNullable<RestoreState['hold']>

export function Lost({ hold, format }: { hold: Hold; format: TimeFormat }) {
  const { t } = useTranslation()
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

export function Waiting({ hold: { automations, emails } }: { hold: Hold }) {
  const { t } = useTranslation()
  if (automations.length + emails.length === 0) return <p>{t('restored.nothing')}</p>
  return (
    <div style={{ overflowX: 'auto' }}>
      <table className="table">
        <thead>
          <tr>
            {(['automation', 'past', 'useless', 'due', 'sentBefore'] as const).map((name) => (
              <th key={name} scope="col">
                {t(`restored.columns.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {automations.map(({ business, eventDefnId, description, ...counts }) => (
            <tr key={eventDefnId}>
              <th scope="row" dir="auto" style={{ textAlign: 'start', fontWeight: 'normal' }}>
                {business}: {description ?? t('editor.unnamed')}
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
    </div>
  )
}

export function Release() {
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
