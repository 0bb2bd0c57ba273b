import { queryOptions } from '@tanstack/react-query'
import { client, MAX_PAGE } from './client.ts'
import type { CountedObject } from './reports.ts'

/** What a picture of the gallery is drawn from. */
export type PictureRequest = {
  reportId: number
  startDate: string
  endDate: string
  /** Few rows are enough for the picture of a list. */
  limit: number
  measure?: string
}

export const MAX_PICTURE_ROWS = MAX_PAGE
const MINUTES_MS = 60_000

/** The rows behind a report. Pictures are decoration: they are read slowly, once, and not retried. */
export const pictureQuery = (request: PictureRequest) =>
  queryOptions({
    queryKey: ['report-pictures', request],
    staleTime: 10 * MINUTES_MS,
    gcTime: 10 * MINUTES_MS,
    retry: false,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }): Promise<CountedObject[]> =>
      inTurn(async () => (await client.listReportRows(request, { signal })).items),
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
