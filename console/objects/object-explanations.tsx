import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import type { ObjectType } from '../../src/contract/event-type.ts'
import { explanationsQuery } from '../api/objects.ts'
import type { RecordId } from '../records/kind.ts'
import { Failure, Loading } from '../components/states.tsx'
import { CheckList } from '../messages/check-list.tsx'
import { splitChecks, useWhy } from '../messages/why.ts'

type Props = { objectType: ObjectType; id: RecordId }

/** Why each automation did, will or will not send a mail about the object. */
export function ObjectExplanations({ objectType, id }: Props) {
  const { t } = useTranslation()
  const whyOf = useWhy()
  const { data, error, refetch } = useQuery(explanationsQuery(objectType, id))
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading lines={6} />
  if (data.length === 0) return <p className="soft small">{t('objects.noAutomations')}</p>
  return (
    <div className="column" style={{ gap: 14 }}>
      {data.map((explanation) => (
        <section key={explanation.eventDefnId}>
          <b className="strong" dir="auto">
            {explanation.description ?? t('editor.unnamed')}
          </b>
          <p style={{ margin: '2px 0 4px' }} dir="auto">
            {whyOf(explanation)}
          </p>
          <details>
            <summary className="soft small">{t('why.checks')}</summary>
            <CheckList {...splitChecks(explanation)} />
          </details>
        </section>
      ))}
    </div>
  )
}
