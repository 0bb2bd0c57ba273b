import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { objectPlanQuery, type EventKind } from '../api/objects.ts'
import { Consequences } from '../calendar/what-if.tsx'
import type { EditedRecord } from '../records/use-record.ts'

const TYPING_MS = 250

type Props<Item, Draft extends object> = {
  kind: EventKind<Item, Draft>
  record: EditedRecord<Item, Draft>
  /** The fields without which a new one cannot be saved. */
  required: (keyof Draft & string)[]
}

/** Which messages saving would schedule, move, cancel and send. */
function Effect<Item, Draft extends object>({ kind, record, required }: Props<Item, Draft>) {
  const { id, draft, changes } = record
  const isPlanned =
    Object.keys(changes).length > 0 && required.every((name) => (draft[name] ?? null) !== null)
  const [settled] = useDebouncedValue(isPlanned ? JSON.stringify(changes) : '', TYPING_MS)
  const { data } = useQuery({
    ...objectPlanQuery(kind, id, settled ? (JSON.parse(settled) as Partial<Draft>) : undefined),
    placeholderData: keepPreviousData,
  })
  return (
    <div aria-live="polite" className="small">
      {isPlanned && data && <Consequences plan={data} />}
    </div>
  )
}

/** For forms: what saving would do. */
export const effectOf =
  <Item, Draft extends object>(kind: EventKind<Item, Draft>, required: (keyof Draft & string)[]) =>
  (record: EditedRecord<Item, Draft>) => <Effect kind={kind} record={record} required={required} />
