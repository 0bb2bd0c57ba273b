import type { Clock } from '../clock.ts'
import type { Database } from '../database/database.ts'
import { limitLockWaits } from '../database/lock-waits.ts'
import type { Mailbox } from '../contract/addresses.ts'
import type { Mailer } from '../email/mailer.ts'
import type { BouncedMail } from '../email/verp.ts'
import { readDatabaseTime } from '../store/database-time.ts'
import type { OperatorProblem } from '../store/operator-problems.ts'
import type { SettingsCache } from '../store/settings.ts'
import { createApprovalLoop } from './approval-loop.ts'
import { createDeliverLoop } from './deliver-loop.ts'
import { Deliveries, type DeliveryEvents } from './deliver.ts'
import { FireLoops } from './fire-loops.ts'
import type { FireContext } from './fire.ts'
import { createHeartbeatLoop, createTakeoverLoop, takeoverMs } from './lease-loops.ts'
import { WakeSignal } from './loop.ts'
import { repeat, type Loop } from '../repeat.ts'
import { createNoticeLoop } from './notices.ts'
import { OperatorProblems } from './operator-problems.ts'
import { createPlanLoop, type PlannerParts } from './planner.ts'
import { createReconciler } from './reconcile.ts'
import { createReplanLoop } from './replan.ts'
import { createSetBackLoop } from './set-back-loop.ts'
import { createSenderLoop, type SenderCheckParts } from './sender-domains.ts'
import { Throttle } from './throttle.ts'
import { WorkQueue } from '../work-queue.ts'

/** The engine gets everything it uses as a parameter, so that a simulation can drive the real one. */
export type EngineParts = {
  database: Database
  settings: SettingsCache
  clock: Clock
  /** Random bytes, for the worker's name: a restarted worker has another name. */
  random(size: number): Buffer
  leaseSeconds: number
  mailer: Mailer
  /** There is no mail server: mails are stored and shown, none is sent. */
  captures: boolean
  mailFrom: Mailbox
  bounceAddress?(mail: BouncedMail): string
  /** Absent: sender domains are not checked. */
  senderChecks?: SenderCheckParts
  host: string
  /** For links to the console; default: `host`. */
  publicUrl?: string
  unsubscribeLink: FireContext['unsubscribeLink']
  calendarLink: FireContext['calendarLink']
  answerLinks?: NonNullable<FireContext['answerLinks']>
  onError(error: unknown): void
  onEnded?: NonNullable<FireContext['onEnded']>
  decide?: NonNullable<FireContext['decide']>
  onPlanned?: PlannerParts['onPlanned']
  onOperatorProblem?(problem: OperatorProblem): void
  batchSize?: number
  /** Loops of other parts of the service, which start and stop with the engine. */
  moreLoops?: Loop[]
  /** With more queued mails than this, the triggers of a business are not fired. */
  maxQueuedEmails?: number
  maxRenderWaitMs?: number
  maxStopWaitMs?: number
  /** How long planning, approvals and notices wait for a locked row of a business. */
  maxLockWaitMs?: number
} & DeliveryEvents

export type Engine = ReturnType<typeof createEngine>

const MAX_LOCK_WAIT_MS = 1_000

/** The loops of a node's worker, and `run`, which starts and stops them. */
export function createEngine(parts: EngineParts) {
  const { clock, leaseSeconds, onError, maxLockWaitMs = MAX_LOCK_WAIT_MS } = parts
  const database = limitLockWaits(parts.database, maxLockWaitMs)
  const db = database.engine
  const now = () => clock.now()
  const worker = parts.random(9).toString('base64url')
  let workers = 0
  const nextWorker = () => `${worker} ${(workers += 1)}`
  const queued = new WakeSignal()
  const problems = new OperatorProblems({ ...parts, db, now })
  const deliveries = new Deliveries({ ...parts, db, now, nextWorker, problems })
  const fireLoops = new FireLoops({
    ...parts,
    ...(!parts.captures && {
      throttle: new Throttle(db, parts.maxQueuedEmails),
      onFired: () => queued.wake(),
    }),
    db,
    now,
    problems,
    confirmNow: async (tx) => clock.confirm?.(() => readDatabaseTime(tx)) ?? now(),
    nextWorker,
    batches: new WorkQueue({ total: 1 }),
    batchSize: parts.batchSize ?? 500,
  })
  const leaseParts = { db, now, leaseSeconds }
  const loops = {
    fire: fireLoops.fire,
    retry: fireLoops.retry,
    sweep: fireLoops.sweep,
    deliver: createDeliverLoop({ db, now, deliveries }, queued),
    takeover: createTakeoverLoop(leaseParts),
    heartbeat: createHeartbeatLoop(leaseParts, { fireLoops, deliveries }),
    setBack: createSetBackLoop({ db, clock, leaseSeconds }, { fireLoops, deliveries }),
    replan: createReplanLoop({ ...parts, db, now }, takeoverMs(leaseSeconds)),
    plan: createPlanLoop({ ...parts, database, now }),
    approve: createApprovalLoop({ ...parts, database, now }),
    notices: createNoticeLoop({ ...parts, database, now }),
    reconcile: createReconciler({ db, now, worker, leaseSeconds }).loop,
    senders: parts.senderChecks ? [createSenderLoop({ ...parts.senderChecks, db, now })] : [],
  }

  /** Runs until stopped. Claimed triggers and mails that were not begun are then released. */
  const run = async (stopping: AbortSignal) => {
    // Without hints due triggers are found up to a second later.
    const stopListening = database.listen('bellwether_due', () => fireLoops.wake())
    const wakeAll = () => [fireLoops, queued, deliveries].forEach((one) => one.wake())
    stopping.addEventListener('abort', wakeAll)
    await Promise.all(
      [...Object.values(loops).flat(), ...(parts.moreLoops ?? [])].map((loop) =>
        repeat(loop, { stopping, onError }),
      ),
    )
    await stopListening()
    await fireLoops.stop()
    await deliveries.stop().catch(onError)
  }
  return { worker, loops, deliveries, run, lastClaimTime: () => fireLoops.lastClaimTime }
}
