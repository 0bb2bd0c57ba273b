import type { FeedTest } from '../../contract/feed.ts'
import { SourceError, type Source, type SourceAccount } from '../source.ts'

const USUAL_RATE = 60
/** Requests a minute of a pull that reads everything. */
const FIRST_RATE = 120

/** The requests of one pull, question or listing. It is closed at the end. */
type Session = { close(): void }

type Reading = Required<Pick<Source, 'pull' | 'list' | 'read'>>

/** What a source does with the requests of a session, in place of the account. */
type Work<S extends Session> = {
  [F in keyof Reading]: Reading[F] extends (account: SourceAccount, ...more: infer M) => infer R
    ? (session: S, ...more: M) => R
    : never
}

/** The parts of a source that open a session for each call. */
export function inSessions<S extends Session>(
  open: (account: SourceAccount, requestsPerMinute: number) => S,
  { pull, list, read }: Work<S>,
): Reading & { once: Once<S> } {
  const once: Once<S> = async (account, work) => {
    const session = open(account, USUAL_RATE)
    try {
      return await work(session)
    } finally {
      session.close()
    }
  }
  return {
    once,
    async *pull(account, what) {
      const session = open(account, what.cursor === null ? FIRST_RATE : USUAL_RATE)
      try {
        return yield* pull(session, what)
      } finally {
        session.close()
      }
    },
    list: (account) => once(account, list),
    read: (account, keys) => once(account, (session) => read(session, keys)),
  }
}

type Once<S> = <T>(account: SourceAccount, work: (session: S) => Promise<T>) => Promise<T>

type Tested = { detail: string; name: string; entries: number | null }

/** A test of one question, with one calendar. A source that fails says why. */
export async function testBy(check: string, ask: () => Promise<Tested>): Promise<FeedTest> {
  try {
    const { detail, name, entries } = await ask()
    const checks = [{ check, ok: true, detail }]
    return { ok: true, checks, calendars: [{ key: '', name, entries }], otherHosts: [] }
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    return failedTest(check, error.message)
  }
}

export const failedTest = (check: string, detail: string): FeedTest => ({
  ok: false,
  checks: [{ check, ok: false, detail }],
  calendars: [],
  otherHosts: [],
})
