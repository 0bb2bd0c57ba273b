import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { formatNumber, textOr, useTranslation } from '../texts/translate.ts'
import { businessesQuery, retryMailAsOperator, type ServiceHealth } from '../api/operator.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import type { TimeFormat } from '../components/time.ts'
import { Panel } from '../today/panel.tsx'
import classes from './operator.module.css'

type Props = { health: ServiceHealth; format: TimeFormat }

/** What only the operator can fix. */
export function ProblemsPanel({ health: { problems }, format }: Props) {
  const { t } = useTranslation()
  const { data: businesses } = useQuery(businessesQuery)
  if (problems.length === 0) return null
  const nameOf = (businessId: number | null) =>
    businessId === null
      ? t('operator.allBusinesses')
      : (businesses?.find((one) => one.businessId === businessId)?.name ?? '…')
  return (
    <Panel title={t('operator.problems')}>
      <ul className={classes.list}>
        {problems.map(({ businessId, detail, since }) => (
          <li key={`${businessId} ${detail}`}>
            <b className="strong" dir="auto">
              {nameOf(businessId)}
            </b>
            : {detail}{' '}
            <span className="soft">{t('operator.since', { time: format.moment(since) })}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

export function MailPanel({ health: { mail, queue }, format }: Props) {
  const { t } = useTranslation()
  const retry = useMutation({ mutationFn: retryMailAsOperator })
  const { captured, failingSince, phase, reply, lastAcceptedTime, retryRequestedTime } = mail
  return (
    <Panel title={t('operator.mail.title')}>
      {captured ? (
        <p>{t('operator.mail.captured')}</p>
      ) : failingSince === null ? (
        <p>{t('operator.mail.works')}</p>
      ) : (
        <>
          <p className="clay">
            {t('operator.mail.fails', {
              time: format.moment(failingSince),
              phase: textOr(`operator.mail.phases.${phase}`, phase ?? ''),
            })}
          </p>
          <blockquote className="server-words" style={{ margin: 0 }}>
            {reply}
          </blockquote>
          <p>
            <Button variant="default" loading={retry.isPending} onClick={() => retry.mutate()}>
              {t('today.noMail.tryNow')}
            </Button>{' '}
            <span role="status" className="small soft">
              {retry.isSuccess && t('today.noMail.isTried')}
            </span>
            {retry.error && (
              <span className="small clay">
                <ErrorMessage error={retry.error} />
              </span>
            )}
          </p>
        </>
      )}
      <Facts
        facts={[
          [t('operator.mail.waiting'), queue.waitingEmails],
          [t('operator.mail.oldest'), momentOf(queue.oldestWaitingEmailTime, format)],
          [t('operator.mail.aboveLimit'), queue.emailsAboveLimit],
          [t('operator.mail.lastAccepted'), momentOf(lastAcceptedTime, format)],
          ...(retryRequestedTime === null
            ? []
            : [[t('operator.mail.retried'), format.moment(retryRequestedTime)] as Fact]),
        ]}
      />
    </Panel>
  )
}

export function QueuePanel({ health: { queue, reconciliation, activeWorkers }, format }: Props) {
  const { t } = useTranslation()
  return (
    <Panel title={t('operator.queue.title')}>
      <Facts
        facts={[
          [t('operator.queue.pending'), queue.pendingTriggers],
          [t('operator.queue.overdue'), bad(queue.overdueTriggers)],
          [t('operator.queue.oldest'), momentOf(queue.oldestOverdueTime, format)],
          [t('operator.queue.stuck'), bad(queue.stuckLeases)],
          [t('operator.queue.unplanned'), queue.unplannedDefinitions],
          [t('operator.queue.late'), queue.lateTriggers],
          [t('operator.queue.expired'), bad(queue.expiredTriggers)],
          [t('operator.queue.gaveUp'), bad(queue.gaveUpTriggers)],
          [t('operator.queue.workers'), activeWorkers],
          ...(reconciliation
            ? [
                [
                  t('operator.queue.faults', { time: format.moment(reconciliation.endedTime) }),
                  bad(countTriggerFaults(reconciliation)),
                ] as Fact,
              ]
            : []),
        ]}
      />
    </Panel>
  )
}

/** Triggers that the last reconciliation found missing, unfounded or doubled. */
export const countTriggerFaults = (reconciliation: ServiceHealth['reconciliation']) =>
  reconciliation ? reconciliation.missing + reconciliation.unfounded + reconciliation.doubled : 0

/** The nodes of the last weeks: which runs, and when one ended. */
export function NodesPanel({ health: { nodes }, format }: Props) {
  const { t } = useTranslation()
  const [isLong, setLong] = useState(false)
  if (nodes.length === 0) return null
  const shown = isLong ? nodes : nodes.slice(0, SHOWN_NODES)
  return (
    <Panel title={t('operator.nodes.title')}>
      <ul className={classes.list}>
        {shown.map(({ nodeId, host, role, version, startedTime, ...node }) => (
          <li key={nodeId}>
            <b className="strong" dir="auto">
              {host}
            </b>
            , {t(`operator.node.roles.${role}`)}, {version}:{' '}
            <span className={node.running || node.stoppedTime !== null ? 'soft' : classes.bad}>
              {t(
                node.running
                  ? 'operator.nodes.runs'
                  : node.stoppedTime === null
                    ? 'operator.nodes.lost'
                    : 'operator.nodes.stopped',
                {
                  start: format.moment(startedTime),
                  end: format.moment(node.stoppedTime ?? node.seenTime),
                },
              )}
            </span>
          </li>
        ))}
      </ul>
      {nodes.length > SHOWN_NODES && !isLong && (
        <Button variant="default" size="compact-sm" onClick={() => setLong(true)}>
          {t('operator.nodes.all', { count: nodes.length })}
        </Button>
      )}
    </Panel>
  )
}

const SHOWN_NODES = 5

export function NodePanel({ health: { node, database, backupTime }, format }: Props) {
  const { t } = useTranslation()
  const { freeBytes, totalBytes, replicaLagSeconds } = database
  const gigabytes = (bytes: number) => Math.round(bytes / 1e8) / 10
  return (
    <Panel title={t('operator.node.title')}>
      <Facts
        facts={[
          ['Bellwether', node.version],
          ['Node.js', node.nodeVersion],
          ['PostgreSQL', database.version],
          [t('operator.node.schema'), String(database.schemaVersion)],
          [
            t('operator.node.backup'),
            backupTime === null ? t('operator.node.noBackup') : format.moment(backupTime),
          ],
          [t('operator.node.role'), t(`operator.node.roles.${node.role}`)],
          [t('operator.node.iteration'), momentOf(node.lastIterationTime, format)],
          [
            t('operator.node.connections'),
            t('operator.node.connectionsOf', {
              busy: node.busyConnections,
              max: node.maxConnections,
              waiting: node.waitingForConnection,
            }),
          ],
          ...(freeBytes === null || totalBytes === null
            ? []
            : [
                [
                  t('operator.node.disk'),
                  t('operator.node.free', {
                    free: formatNumber(gigabytes(freeBytes)),
                    total: formatNumber(gigabytes(totalBytes)),
                  }),
                ] as Fact,
              ]),
          ...(replicaLagSeconds === null
            ? []
            : [[t('operator.node.replica'), `${replicaLagSeconds} s`] as Fact]),
        ]}
      />
    </Panel>
  )
}

type Fact = [label: string, value: ReactNode]

function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl className={classes.facts}>
      {facts.map(([label, value]) => [
        <dt key={`${label} name`}>{label}</dt>,
        <dd key={label}>{typeof value === 'number' ? formatNumber(value) : value}</dd>,
      ])}
    </dl>
  )
}

const momentOf = (time: number | null, format: TimeFormat) =>
  time === null ? '–' : format.moment(time)

/** A count that should be 0. */
const bad = (count: number) =>
  count === 0 ? 0 : <span className={classes.bad}>{formatNumber(count)}</span>
