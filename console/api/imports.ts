import { queryOptions } from '@tanstack/react-query'
import {
  ConnectionError,
  ProblemError,
  type AnswerOf,
  type Problem,
} from '../../src/client/client.ts'
import { client } from './client.ts'
import { queryClient } from './query-client.ts'

export type FileResult = AnswerOf<'importCsv'>
export type FileQuestion = FileResult['questions'][number]
export type NamedKind = FileResult['newObjects'][number]['kind']

/** What a person has decided about a file. */
export type Choices = {
  kind: string
  /** The field of each corrected column; '' for a column that is not imported. */
  map: Record<string, string>
  dates: 'dmy' | 'mdy' | undefined
  statuses: Record<string, string>
  /** `client:Anna Keller` → id or `new` */
  matches: Record<string, string>
  defaults: Record<string, string>
  create: NamedKind[]
  /** The name of a kept mapping. */
  mapping: string | undefined
  /** The rows are history: no mail is sent about their creation. */
  isHistory: boolean
}

type Sending = {
  file: File
  choices: Choices
  /** Called with the share of the file that was sent, from 0 to 1. */
  onProgress?: (share: number) => void
}

/** What an import would do. */
export const tryFile = (sending: Sending) => send<FileResult>(sending, { dryRun: 'true' })

export async function importFile(sending: Sending, keepAs: string) {
  const fileName = sending.file.name.slice(0, 200)
  const result = await send<FileResult>(sending, { fileName, ...(keepAs && { keepAs }) })
  void queryClient.invalidateQueries()
  return result
}

/** The refused rows as a CSV file. */
export const readRefusedRows = (sending: Sending) =>
  send<Blob>(sending, { dryRun: 'true', refused: 'csv' }, 'blob')

export const mappingsQuery = queryOptions({
  queryKey: ['import-mappings'],
  queryFn: () => client.listImportMappings(),
})

export async function undoImport(fileImportId: number) {
  const undone = await client.undoFileImport({ fileImportId })
  void queryClient.invalidateQueries()
  return undone
}

/** Uses XMLHttpRequest, because `fetch` does not report upload progress. */
function send<T>(
  { file, choices, onProgress }: Sending,
  more: Record<string, string>,
  responseType: 'text' | 'blob' = 'text',
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const call = new XMLHttpRequest()
  call.open('POST', `/import/csv?${queryOf(choices, more)}`)
  call.responseType = responseType
  call.setRequestHeader('content-type', 'text/csv')
  call.upload.addEventListener('progress', ({ loaded, total }) =>
    onProgress?.(total ? loaded / total : 0),
  )
  call.addEventListener('error', () =>
    reject(new ConnectionError('The service cannot be reached.')),
  )
  call.addEventListener('load', async () => {
    const content = call.response as string | Blob
    if (call.status === 200)
      return resolve((responseType === 'blob' ? content : parse(content as string)) as T)
    const problem = typeof content === 'string' ? content : await content.text()
    reject(new ProblemError(call.status, parse(problem) as Problem))
  })
  call.send(file)
  return promise
}

function queryOf(choices: Choices, more: Record<string, string>) {
  const query = new URLSearchParams({ kind: choices.kind, ...more })
  const append = (name: string, pairs: Record<string, string>) => {
    for (const [key, value] of Object.entries(pairs)) query.append(name, `${key}=${value}`)
  }
  append('map', choices.map)
  append('status', choices.statuses)
  append('match', choices.matches)
  append('default', choices.defaults)
  for (const kind of choices.create) query.append('create', kind)
  if (choices.dates) query.set('dates', choices.dates)
  if (choices.mapping) query.set('mapping', choices.mapping)
  if (choices.isHistory) query.set('events', 'none')
  return query
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
