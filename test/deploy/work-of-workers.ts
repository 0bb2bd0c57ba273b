import { closeSync, openSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { constants, setPriority } from 'node:os'
import { readReport } from '../../src/email/mail-reports.ts'
import { write } from '../../src/reports/formats/formats.ts'
import { writeInThread } from '../../src/reports/formats/writer-pool.ts'
import { sampleResult } from '../reports/sample-result.ts'

/** Does something in each kind of worker, where no priority can be set, and prints what came of it. */
const fd = openSync('/dev/null', 'w')
const { signal } = new AbortController()
console.log({
  priority: attempt(() => setPriority(constants.priority.PRIORITY_BELOW_NORMAL)),
  pdf: String((await buffer(Readable.from(write('pdf', sampleResult(3), 'A4')))).subarray(0, 4)),
  csv: await writeInThread(sampleResult(3), { format: 'csv', fd, signal }),
  bounce: await readReport({}, 'no report'),
})
closeSync(fd)

function attempt(run: () => void) {
  try {
    run()
    return 'can be set'
  } catch {
    return 'cannot be set'
  }
}
