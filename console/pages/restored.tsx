import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { restoreQuery } from '../api/restore.ts'
import { hasOperatorKey } from '../api/operator-key.ts'
import { Failure, Loading } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { Lost, Release, Waiting } from '../operator/hold.tsx'
import { OperatorKeyForm } from '../operator/key-form.tsx'
import { PageHead } from '../shell/page-head.tsx'

/** What a restored database would send. The operator releases it here; others see their business. */
export function RestoredPage() {
  const { t } = useTranslation()
  const format = useTimeFormat()
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
            <Lost hold={data.hold} format={format} />
            <Waiting hold={data.hold} />
            {isOperator ? (
              <Release />
            ) : (
              <div style={{ maxWidth: 420, marginTop: 24 }}>
                <OperatorKeyForm hint={t('restored.keyHint')} onDone={() => setOperator(true)} />
              </div>
            )}
          </>
        )
      )}
    </>
  )
}
