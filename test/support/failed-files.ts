import type { TestEvent } from 'node:test/reporters'

/**
 * A reporter: "wait" or "assertion" and the file of each failed test, a line each. A wait that ended
 * at its deadline may be the machine's fault, an assertion of a proof never is.
 */
export default async function* failedFiles(events: AsyncIterable<TestEvent>) {
  for await (const event of events) {
    if (event.type !== 'test:fail' || !event.data.file) continue
    const { cause } = event.data.details.error as { cause?: { code?: string } }
    const kind = cause?.code === 'ERR_ASSERTION' ? 'assertion' : 'wait'
    yield `${kind} ${event.data.file}\n`
  }
}
