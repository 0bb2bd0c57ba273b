import { queryOptions } from '@tanstack/react-query'
import { client, MAX_PAGE } from './client.ts'
import type { CountedObject } from './reports.ts'

/** What a picture of the gallery is drawn from. */
export type PictureRequest = {
  reportId: number
  startDate: string
  endDate: string
  measure?: string
}

const LIST_ROWS = 6
/** More rows would take too long for a picture. */
const MAX_PAGES = 4
const MINUTES_MS = 60_000

/** Few rows are enough for the picture of a list. */
export const listPictureQuery = (request: PictureRequest) =>
  rowsQuery([request, 'list'], async (signal) => {
    const { items } = await client.listReportRows({ ...request, limit: LIST_ROWS }, { signal })
    return items
  })

/** The rows behind the figures of a report; of the shorter time if there are too many. */
export const pictureQuery = (request: PictureRequest, shorter: PictureRequest) =>
  rowsQuery(
    [request],
    async (signal) => (await readAll(request, signal)) ?? (await readAll(shorter, signal)) ?? [],
  )

/** Undefined if there are too many rows. */
async function readAll(request: PictureRequest, signal: AbortSignal) {
  const rows: CountedObject[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { items, nextCursor } = await client.listReportRows(
      { ...request, limit: MAX_PAGE, cursor },
      { signal },
    )
    rows.push(...items)
    if (nextCursor === null) return rows
    cursor = nextCursor
  }
  return undefined
}

/** Pictures are decoration: they are read slowly, once, and not retried. */
const rowsQuery = (key: unknown[], read: (signal: AbortSignal) => Promise<CountedObject[]>) =>
  queryOptions({
    queryKey: ['report-pictures', ...key],
    staleTime: 10 * MINUTES_MS,
    gcTime: 10 * MINUTES_MS,
    retry: false,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) => inTurn(() => read(signal)),
  })

/** More requests at once would delay the other pages of the console. */
const MAX_AT_ONCE = 2
let running = 0
const waiting: (() => void)[] = []

async function inTurn<T>(work: () => Promise<T>) {
  while (running >= MAX_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
  running += 1
  try {
    return await work()
  } finally {
    running -= 1
    waiting.shift()?.()
  }
}
