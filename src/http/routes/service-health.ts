import type { Findings } from '../../automation/reconcile.ts'
import { ServiceHealth } from '../../contract/service-health.ts'
import { readMigrations } from '../../database/migrate.ts'
import { findInstallation } from '../../store/installation.ts'
import { listNodes, type NodeRow } from '../../store/nodes.ts'
import { listOperatorProblems } from '../../store/operator-problems.ts'
import {
  countActiveWorkers,
  countPendingTriggers,
  readQueueHealth,
} from '../../store/queue-health.ts'
import { findLastReconciliation } from '../../store/reconciliation.ts'
import { readServerVersion } from '../../store/database-time.ts'
import { VERSION } from '../../version.ts'
import { toWire } from '../server/serialize.ts'
import { operation, type Routes, type Services } from '../server/services.ts'
import { readMailServer } from './waiting-emails.ts'

/** What `doctor` and the metrics know of the whole service, for the operator's page. */
export const serviceHealth: Routes = async (app, services) => {
  app.get(
    '/business/health',
    operation(
      'getServiceHealth',
      'See how the whole service works: mail, queues, database, versions',
      {
        config: { operator: true },
        tags: ['Operation'],
        description: 'Only for the operator. `GET /readyz` says whether a node can work.',
        response: { 200: ServiceHealth },
      },
    ),
    async () => toWire(await readServiceHealth(services)),
  )
}

async function readServiceHealth(services: Services) {
  const { config, database, clock } = services
  const now = clock.now()
  const { engine } = database
  const [
    health,
    pendingTriggers,
    activeWorkers,
    last,
    problems,
    nodes,
    installation,
    replica,
    version,
  ] = await Promise.all([
    readQueueHealth(engine, now, config.leaseSeconds),
    countPendingTriggers(engine),
    countActiveWorkers(engine, now),
    findLastReconciliation<Findings>(engine),
    listOperatorProblems(engine),
    listNodes(engine, SHOWN_NODES),
    findInstallation(engine),
    database.checkReplica(),
    readServerVersion(engine),
  ])
  const space = database.diskSpace()
  return {
    node: describeNode(services),
    nodes: nodes.map((node) => ({ ...node, running: isRunning(node, now) })),
    backupTime: installation?.backupTime ?? null,
    activeWorkers,
    database: {
      version,
      // A node only starts if the schema is that of its program.
      schemaVersion: (await readMigrations()).at(-1)!.version,
      freeBytes: space?.freeBytes ?? null,
      totalBytes: space?.totalBytes ?? null,
      replicaLagSeconds: replica && 'lagSeconds' in replica ? replica.lagSeconds : null,
    },
    mail: await describeMail(services),
    queue: {
      pendingTriggers,
      overdueTriggers: health.overdue,
      oldestOverdueTime: health.oldestOverdue,
      stuckLeases: health.stuckLeases,
      unplannedDefinitions: health.unplanned,
      waitingEmails: health.emailsWaiting,
      oldestWaitingEmailTime: health.oldestWaitingEmail,
      emailsAboveLimit: health.emailsAboveLimit,
      lateTriggers: health.late,
      expiredTriggers: health.expired,
      gaveUpTriggers: health.gaveUp,
      pausedBusinesses: health.pausedBusinesses,
    },
    reconciliation: last ? describeReconciliation(last.endedAt, last.findings) : null,
    problems: problems.map(({ businessId, detail, since }) => ({ businessId, detail, since })),
  }
}

const SHOWN_NODES = 50

/** A node checks in every 5 s; a busy one may be late. */
const isRunning = ({ seenTime, stoppedTime }: NodeRow, now: Temporal.Instant) =>
  stoppedTime === null && Temporal.Instant.compare(seenTime, now.subtract({ minutes: 1 })) > 0

function describeNode({ config, database, lastClaimTime }: Services) {
  const pools = database.listPools()
  const sum = (read: (pool: (typeof pools)[number]) => number) =>
    pools.reduce((total, pool) => total + read(pool), 0)
  return {
    role: config.role,
    version: VERSION,
    nodeVersion: process.versions.node,
    lastIterationTime: lastClaimTime?.() ?? null,
    busyConnections: sum(({ busy }) => busy),
    maxConnections: sum(({ max }) => max),
    waitingForConnection: sum(({ waiting }) => waiting),
  }
}

async function describeMail(services: Services) {
  const server = await readMailServer(services)
  const outage = server?.outage
  return {
    captured: services.config.smtpUrl === undefined,
    failingSince: outage?.since ?? null,
    phase: outage?.phase ?? null,
    reply: outage?.reply ?? null,
    lastAcceptedTime: server?.lastAcceptedTime ?? null,
    retryRequestedTime: server?.retryRequestedTime ?? null,
  }
}

const describeReconciliation = (
  endedTime: Temporal.Instant,
  { missing, unfounded, doubled, stoppedMatching }: Findings,
) => ({ endedTime, missing, unfounded, doubled, stoppedMatching })
