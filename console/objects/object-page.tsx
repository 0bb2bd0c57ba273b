import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import type { SetupItem } from '../api/setup-objects.ts'
import { showNotice } from '../components/held-actions.tsx'
import { LoadingColumns } from '../components/skeletons.tsx'
import { Failure } from '../components/states.tsx'
import { recordQuery } from '../records/editor.ts'
import type { RecordId, RecordKind } from '../records/kind.ts'
import { SetupForm, type FormProps } from '../setup/setup-window.tsx'
import { PageHead } from '../shell/page-head.tsx'
import { useSession } from '../api/session.ts'
import { Section } from './object-parts.tsx'

type Props<Item extends SetupItem, Draft extends object> = Omit<
  FormProps<Item, Draft>,
  'onSaved'
> & {
  kind: RecordKind<Item, Draft>
  id: RecordId
  /** The right that changing it needs. */
  needs: 'EDIT_SCHEDULE' | 'EDIT_SETUP'
  title: (item: Item) => ReactNode
  lede: (item: Item) => ReactNode
  /** The link to the list. */
  back: ReactNode
  /** What users see who may not change it. */
  readOnly: (item: Item) => ReactNode
  /** What else belongs to it: its messages, or its parts. */
  children: (item: Item) => ReactNode
}

/** One object: its form, and what belongs to it. */
export function ObjectPage<Item extends SetupItem, Draft extends object>(
  props: Props<Item, Draft>,
) {
  const { id, needs, title, lede, back, readOnly, children, ...form } = props
  const { t } = useTranslation()
  const canEdit = useSession().functions.includes(needs)
  const { data, error, refetch } = useQuery(recordQuery(form.kind, id))
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />
  if (!data) return <LoadingColumns hasHeading />
  const { item } = data
  return (
    <>
      <PageHead title={<span dir="auto">{title(item)}</span>} lede={lede(item)}>
        {back}
      </PageHead>
      <div className="two-columns">
        <Section title={t('objects.details')}>
          {canEdit ? (
            <SetupForm key={id} {...form} id={id} onSaved={() => showNotice(t('objects.saved'))} />
          ) : (
            readOnly(item)
          )}
        </Section>
        <div className="column" style={{ gap: 20, minWidth: 0 }}>
          {children(item)}
        </div>
      </div>
    </>
  )
}
