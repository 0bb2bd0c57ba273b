import { queryOptions } from '@tanstack/react-query'
import type { AnswerOf } from '../../src/client/client.ts'
import type { ReportFormat } from '../../src/contract/report.ts'
import { client } from './client.ts'
import { queryClient } from './query-client.ts'
import { printInBackground, type PrintRequest } from './reports.ts'

export type SharedFile = AnswerOf<'listSharedReportFiles'>['items'][number]

/** The newest links that work, of all people of the business. */
export const sharedFilesQuery = queryOptions({
  queryKey: ['report-links'],
  queryFn: async ({ signal }) =>
    (await client.listSharedReportFiles({ limit: 100 }, { signal })).items,
})

const listAgain = () => queryClient.invalidateQueries({ queryKey: sharedFilesQuery.queryKey })

const DAY_MS = 86_400_000

/** Prints a file and creates a link to it, which anyone can open for some days. */
export async function shareFile(request: PrintRequest, format: ReportFormat, days: number) {
  const runId = await printInBackground(request, format, () => {})
  const link = await client.createReportLink({ runId, expiresTime: Date.now() + days * DAY_MS })
  await listAgain()
  return link
}

export async function revokeLink({ runId, reportLinkId }: SharedFile) {
  await client.revokeReportLink({ runId, reportLinkId })
  await listAgain()
}
