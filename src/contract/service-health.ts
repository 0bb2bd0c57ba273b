import { Type, type Static } from 'typebox'
import { about, Moment, Named, OrNull } from './schema.ts'

const Count = (description: string, example: number) => about(Type.Integer(), description, example)
const Since = (description: string) => about(OrNull(Moment), description, 1_789_000_000_000)
const Words = (description: string, example: string) => about(Type.String(), description, example)

const MailDelivery = Named('MailDelivery', {
  captured: about(
    Type.Boolean(),
    'SMTP_URL is not set: every mail is stored, and none is sent.',
    false,
  ),
  failingSince: Since('Since when the mail server has taken no mail, in ms; null: it takes mails.'),
  phase: about(OrNull(Type.String()), 'Where in the dialogue it fails.', 'connect'),
  reply: about(OrNull(Type.String()), 'The last reply of the mail server.', '421 try again later'),
  lastAcceptedTime: Since('When it last accepted a mail, in ms.'),
  retryRequestedTime: Since('When a caller last asked to try it, in ms.'),
})

const ServiceQueue = Named('ServiceQueue', {
  pendingTriggers: Count(
    'Triggers that have not ended, overdue ones included; at most 100,000 are counted.',
    480,
  ),
  overdueTriggers: Count('Triggers that should have fired more than a second ago.', 0),
  oldestOverdueTime: Since('When the oldest of them was due, in ms.'),
  stuckLeases: Count('Triggers of a dead node that no other node has taken over.', 0),
  unplannedDefinitions: Count('Saved definitions whose triggers are still being planned.', 0),
  waitingEmails: Count('Mails to be sent, without those that wait on purpose.', 3),
  oldestWaitingEmailTime: Since('When the oldest of them was made, in ms.'),
  emailsAboveLimit: Count('Mails that wait for the next day because of a daily limit.', 0),
  lateTriggers: Count('Triggers of the last 24 hours that ended more than a minute late.', 0),
  expiredTriggers: Count('Triggers of the last 24 hours that came too late to be sent.', 0),
  gaveUpTriggers: Count('Triggers of the last 7 days that failed too often.', 0),
  pausedBusinesses: Count('Businesses whose mail is paused.', 1),
})

const LastReconciliation = Named('LastReconciliation', {
  endedTime: about(Moment, 'When it ended, in ms.'),
  missing: Count('Objects that match a reminder and have no trigger.', 0),
  unfounded: Count('Pending triggers that no definition requires.', 0),
  doubled: Count('Triggers that exist more than once.', 0),
  stoppedMatching: Count('Active definitions that stopped matching.', 0),
})

const AnsweringNode = Named('AnsweringNode', {
  role: about(Type.Enum(['all', 'api', 'worker'], { title: 'NodeRole' }), 'Its ROLE.', 'all'),
  version: Words('The version of the program.', '0.2.0'),
  nodeVersion: Words('The version of Node.', '26.5.0'),
  lastIterationTime: Since('When its engine last finished an iteration, in ms; null: no engine.'),
  busyConnections: Count('Its connections to the database that are in use.', 2),
  maxConnections: Count('The most that it opens.', 30),
  waitingForConnection: Count('Statements that wait for a connection.', 0),
})

const ServiceDatabase = Named('ServiceDatabase', {
  version: Words('The version of PostgreSQL.', '18.1'),
  schemaVersion: Count('The number of the newest migration.', 64),
  freeBytes: about(
    OrNull(Type.Integer()),
    'Free space of the disk; null with DATABASE_URL.',
    90_000_000_000,
  ),
  totalBytes: about(
    OrNull(Type.Integer()),
    'Size of the disk; null with DATABASE_URL.',
    200_000_000_000,
  ),
  replicaLagSeconds: about(
    OrNull(Type.Number()),
    'How far the read replica is behind; null if none is used.',
    0.4,
  ),
})

/** What the operator must know to run the service: see docs/operate/monitor.md. */
export const ServiceHealth = Named('ServiceHealth', {
  node: about(AnsweringNode, 'The node that answers.'),
  nodes: about(
    Type.Array(
      Named('NodeRun', {
        nodeId: Words('The id of this run.', '0197e2a4-6f0b-7c1e-9d55-3f1c0a5b7d21'),
        host: Words('The name of its machine.', 'bellwether-1'),
        role: about(Type.Enum(['all', 'api', 'worker'], { title: 'NodeRole' }), 'Its ROLE.'),
        version: Words('The version of the program.', '0.2.0'),
        startedTime: about(Moment, 'When it started, in ms.'),
        seenTime: about(Moment, 'When it last checked in, in ms.'),
        stoppedTime: Since('When it stopped, in ms; null: it runs, or ended without saying so.'),
        running: Type.Boolean({ description: 'Whether it checked in lately.' }),
      }),
    ),
    'The last 50 runs of the program in 30 days, the latest first.',
  ),
  backupTime: Since('When the command `backup` last wrote a file, in ms; null: never.'),
  activeWorkers: Count('Workers of all nodes that hold claimed work now.', 2),
  database: about(ServiceDatabase, 'The database.'),
  mail: about(MailDelivery, 'The mail server.'),
  queue: about(ServiceQueue, 'What is to be done, and what was late.'),
  reconciliation: about(
    OrNull(LastReconciliation),
    'The last comparison of all triggers with their definitions; null before the first one.',
  ),
  problems: about(
    Type.Array(
      Named('OperatorProblem', {
        businessId: OrNull(Type.Integer()),
        detail: Words('What fails, and what to do.', 'The DKIM key cannot sign.'),
        since: about(Moment, 'Since when, in ms.'),
      }),
    ),
    'Failures that only the operator can fix. Mails wait for them.',
  ),
})
export type ServiceHealth = Static<typeof ServiceHealth>
