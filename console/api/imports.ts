import { queryClient } from './query-client.ts'
import {
  ConnectionError,
  ProblemError,
  type AnswerOf,
  type Problem,
} from '../../src/client/client.ts'

export type CsvResult = AnswerOf<'importCsv'>

export type CsvImport = {
  file: Blob
  kind: string
  /** The field of each column; '' for a column that is not imported. */
  map: Record<string, string>
  timeZone: string
  /** The rows are history: no mail is sent about their creation. */
  isHistory: boolean
  dryRun: boolean
  /** Called with the share of the file that was sent, from 0 to 1. */
  onProgress?: (share: number) => void
}

/** The columns of a file: a dry run of its first line. */
export async function readHeader(file: File, kind: string) {
  const start = await file.slice(0, MAX_HEADER_BYTES).text()
  const header = start.split(/\r?\n/, 1)[0]!
  const { columns, fields } = await importCsv({
    file: new Blob([header]),
    kind,
    map: {},
    timeZone: '',
    isHistory: true,
    dryRun: true,
  })
  return { columns, fields }
}

const MAX_HEADER_BYTES = 65_536

/** Uses XMLHttpRequest, because `fetch` does not report upload progress. */
export function importCsv(wanted: CsvImport): Promise<CsvResult> {
  const { promise, resolve, reject } = Promise.withResolvers<CsvResult>()
  const call = new XMLHttpRequest()
  call.open('POST', `/import/csv?${queryOf(wanted)}`)
  call.setRequestHeader('content-type', 'text/csv')
  call.upload.addEventListener('progress', ({ loaded, total }) =>
    wanted.onProgress?.(total ? loaded / total : 0),
  )
  call.addEventListener('error', () =>
    reject(new ConnectionError('The service cannot be reached.')),
  )
  call.addEventListener('load', () => {
    const answer = parse(call.responseText)
    if (call.status !== 200) return reject(new ProblemError(call.status, answer as Problem))
    if (!wanted.dryRun) void queryClient.invalidateQueries()
    resolve(answer as CsvResult)
  })
  call.send(wanted.file)
  return promise
}

function queryOf({ kind, map, timeZone, isHistory, dryRun }: CsvImport) {
  const query = new URLSearchParams({ kind })
  for (const [column, field] of Object.entries(map)) query.append('map', `${column}=${field}`)
  if (timeZone) query.set('timeZone', timeZone)
  if (isHistory) query.set('events', 'none')
  if (dryRun) query.set('dryRun', 'true')
  return query
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
