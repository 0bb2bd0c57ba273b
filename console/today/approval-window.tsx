import { Button, Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { heldMessagesQuery, type Approval, type Decision } from '../api/approvals.ts'
import type { Message } from '../api/messages.ts'
import { Loaded } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { FormWindow } from '../components/windows.tsx'
import { useHeldDecision } from '../messages/actions.ts'
import classes from './today.module.css'

type Props = { approval: Approval; onClose: () => void }

/** Who would get what and when, by automation. The user sends all, some or none of it. */
export function ApprovalWindow({ approval, onClose }: Props) {
  const { t } = useTranslation()
  const { data: messages, error, refetch } = useQuery(heldMessagesQuery(approval))
  const [left, setLeft] = useState<ReadonlySet<number>>(new Set())
  const hold = useHeldDecision()
  // Those of a bulk call keep their own time if they are not sent now, so it is all or none.
  const canChoose = approval.source === 'IMPORT'
  const decide = (decision: Decision) => {
    hold(decision, approval, decision === 'release' ? [...left] : [])
    onClose()
  }
  const setOut = (ids: number[], isOut: boolean) => {
    const next = new Set(left)
    for (const id of ids) next[isOut ? 'add' : 'delete'](id)
    setLeft(next)
  }
  const count = left.size === 0 ? approval.mails : (messages?.length ?? 0) - left.size
  return (
    <FormWindow isOpen onClose={onClose} title={t('approval.title')} size="lg">
      <Loaded query={{ data: messages, error, refetch }}>
        {(messages) => (
          <div className={classes.held}>
            {[...Map.groupBy(messages, ({ eventDefnId }) => eventDefnId)].map(([id, group]) => (
              <Group key={id} messages={group} left={left} onOut={canChoose ? setOut : undefined} />
            ))}
            {messages.length === 0 && <p className="soft">{t('approval.noList')}</p>}
          </div>
        )}
      </Loaded>
      <div className="row" style={{ justifyContent: 'flex-end', marginTop: 14 }}>
        <Button variant="subtle" color="clay" onClick={() => decide('cancel')}>
          {t('today.approval.cancel')}
        </Button>
        <Button disabled={!messages || count === 0} onClick={() => decide('release')}>
          {left.size === 0
            ? t('today.approval.release', { count })
            : t('approval.releaseSome', { count, others: left.size })}
        </Button>
      </div>
    </FormWindow>
  )
}

type GroupProps = {
  messages: Message[]
  left: ReadonlySet<number>
  onOut: ((ids: number[], isOut: boolean) => void) | undefined
}

function Group({ messages, left, onOut }: GroupProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const [now] = useState(() => Date.now())
  const ids = messages.map(({ eventTriggerId }) => eventTriggerId)
  const out = ids.filter((id) => left.has(id)).length
  const name = messages[0]?.description ?? messages[0]?.templateName ?? t('editor.unnamed')
  return (
    <section>
      <Checkbox
        label={<b dir="auto">{t('approval.group', { name, count: messages.length })}</b>}
        checked={out === 0}
        indeterminate={out > 0 && out < ids.length}
        disabled={!onOut}
        onChange={(event) => onOut?.(ids, !event.currentTarget.checked)}
      />
      <ul className={classes.heldRows}>
        {messages.map((message) => {
          const { eventTriggerId, clientName, objectName, objectTime, scheduledTime } = message
          const isOver = objectTime != null && objectTime < now
          return (
            <li key={eventTriggerId}>
              <Checkbox
                size="xs"
                label={<span dir="auto">{clientName ?? objectName ?? '–'}</span>}
                checked={!left.has(eventTriggerId)}
                disabled={!onOut}
                onChange={(event) => onOut?.([eventTriggerId], !event.currentTarget.checked)}
              />
              <span className="soft numbers small">
                {objectTime != null && t('approval.visit', { time: format.moment(objectTime) })}
                {isOver && <b className="amber"> {t('approval.over')}</b>}
              </span>
              <span className="soft numbers small">
                {scheduledTime <= now
                  ? t('approval.atOnce')
                  : t('approval.at', { time: format.moment(scheduledTime) })}
              </span>
            </li>
          )
        })}
      </ul>
    </section>
  )
}
