import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ProblemError } from '../../src/client/client.ts'
import { Consequences, Refusal } from '../calendar/what-if.tsx'
import type { RecordKind } from './kind.ts'
import type { EditedRecord } from './use-record.ts'

const TYPING_MS = 250
const NONE = '{}'

/** Which messages saving would schedule, move, cancel and send. Saving waits until that is shown. */
export function useEffectOfSaving<Item, Draft extends object>(
  { plan, queryKey }: RecordKind<Item, Draft>,
  { id, draft, changes }: EditedRecord<Item, Draft>,
): { shown: ReactNode; isWaiting: boolean } {
  const { fields = Object.keys(changes) } = plan ?? {}
  const concerned = Object.entries(changes).filter(([name]) => fields.some((one) => one === name))
  const asked = plan?.isAsked(draft, id) ? JSON.stringify(Object.fromEntries(concerned)) : NONE
  const [settled] = useDebouncedValue(asked, TYPING_MS)
  const query = useQuery({
    queryKey: ['calendar', 'plan', ...queryKey, id, settled],
    enabled: settled !== NONE,
    staleTime: 0,
    retry: false,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => plan!.read(JSON.parse(settled) as Partial<Draft>, id, signal),
  })
  const { data, error, isPlaceholderData } = query
  if (asked === NONE) return { shown: null, isWaiting: false }
  // Saving shows at the fields why the service refuses it.
  const isRefused = error instanceof ProblemError && error.status < 500
  return {
    isWaiting: asked !== settled || isPlaceholderData || (!data && !isRefused),
    shown: (
      <div aria-live="polite" className="small">
        {error && !isRefused ? (
          <Refusal error={error} plan={query} />
        ) : (
          data && !error && <Consequences plan={data} />
        )}
      </div>
    ),
  }
}
