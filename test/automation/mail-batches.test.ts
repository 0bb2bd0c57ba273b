import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeMails } from '../../src/automation/mails.ts'
import { monotonicMs } from '../../src/clock.ts'
import type { Db } from '../../src/database/database.ts'
import { SINGLE_ROWS } from '../../src/database/transact.ts'
import type { ContextRow } from '../../src/store/mail-contexts.ts'
import type { ClaimedTrigger } from '../../src/store/trigger-queue.ts'
import { WorkQueue } from '../../src/work-queue.ts'

/** More triggers than are fired without sharing the event loop. */
const TRIGGERS = 12

/** Fires triggers without actions. Reading an object is noted and takes longer than a time slice. */
function fireBatch(name: string, batches: WorkQueue, order: string[]) {
  const rows: ContextRow[] = Object.defineProperty([], 0, {
    get: () => {
      order.push(name)
      for (const since = monotonicMs(); monotonicMs() - since < 15;);
    },
  })
  const parts = {
    batches,
    captures: true,
    mailFrom: { name: '', address: 'a@example.org' },
    host: 'localhost',
    calendarLink: () => null,
    unsubscribeLink: () => null,
    onError: (error: unknown) => assert.fail(String(error)),
  }
  const now = Temporal.Instant.from('2026-03-02T09:00:00Z')
  const trigger = { eventDefnId: 1, businessId: 1, eventTriggerId: 1, scheduledTime: now }
  const ready = Array.from({ length: TRIGGERS }, () => ({
    trigger: trigger as ClaimedTrigger,
    rows,
    allowPast: true,
  }))
  const tx = { ...SINGLE_ROWS, query: async () => [] } as Partial<Db> as Db
  return makeMails(tx, parts, ready, { actions: new Map(), templates: new Map(), ids: [], now })
}

test('an engine makes the mails of large batches one batch at a time', async () => {
  const order: string[] = []
  const batches = new WorkQueue({ total: 1 })
  await Promise.all([fireBatch('a', batches, order), fireBatch('b', batches, order)])
  assert.equal(order.join(''), 'a'.repeat(TRIGGERS) + 'b'.repeat(TRIGGERS))
})

test('the large batches of two engines in one process do not wait for each other', async () => {
  const order: string[] = []
  const fireOwn = (name: string) => fireBatch(name, new WorkQueue({ total: 1 }), order)
  await Promise.all([fireOwn('a'), fireOwn('b')])
  // The first piece of each begins before the event loop is shared.
  assert.doesNotMatch(order.join(''), /aaa|bbb/)
  assert.equal(order.length, 2 * TRIGGERS)
})
