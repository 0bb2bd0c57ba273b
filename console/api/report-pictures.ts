import { queryOptions } from '@tanstack/react-query'
import type { AnswerOf } from '../../src/client/client.ts'

/** What a picture of the gallery is drawn from. */
export type PictureRequest = { reportId: number; startDate: string; endDate: string }
export type ObjectSum = AnswerOf<'sumReportRows'>['items'][number]

const MINUTES_MS = 60_000

/** Pictures are decoration: they are read slowly, once, and not retried. */
export const pictureQuery = <T>(
  name: string,
  request: PictureRequest,
  read: (request: PictureRequest, options: { signal: AbortSignal }) => Promise<T>,
) =>
  queryOptions({
    queryKey: ['report-pictures', name, request],
    staleTime: 10 * MINUTES_MS,
    gcTime: 10 * MINUTES_MS,
    retry: false,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) => inTurn(() => read(request, { signal })),
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
