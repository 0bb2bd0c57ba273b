import { Button, Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import {
  heldMessagesQuery,
  type Approval,
  type Decision,
  type HeldMessage,
} from '../api/approvals.ts'
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
            {[...Map.groupBy(messages, groupName)].map(([name, group]) => (
              <Group key={name} {...{ name, left }} messages={group} onOut={setOut} />
            ))}
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
            : t(isCancelled(approval) ? 'approval.releaseSome' : 'approval.releaseOnly', {
                count,
                others: left.size,
              })}
        </Button>
      </div>
    </FormWindow>
  )
}

/** Messages of an import that are left out are cancelled; others stay as they are. */
const isCancelled = ({ source }: Approval) => source === 'IMPORT' || source === 'FEED'

const groupName = ({ description, templateName }: HeldMessage) => description ?? templateName

type GroupProps = {
  name: string | null | undefined
  messages: HeldMessage[]
  left: ReadonlySet<number>
  onOut: (ids: number[], isOut: boolean) => void
}

function Group({ name, messages, left, onOut }: GroupProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const [now] = useState(() => Date.now())
  const ids = messages.map(({ id }) => id)
  const out = ids.filter((id) => left.has(id)).length
  return (
    <section>
      <Checkbox
        label={
          <b dir="auto">
            {t('approval.group', { name: name ?? t('editor.unnamed'), count: messages.length })}
          </b>
        }
        checked={out === 0}
        indeterminate={out > 0 && out < ids.length}
        onChange={(event) => onOut(ids, !event.currentTarget.checked)}
      />
      <ul className={classes.heldRows}>
        {messages.map((message) => {
          const { id, clientName, objectName, objectTime, scheduledTime } = message
          const isOver = objectTime != null && objectTime < now
          return (
            <li key={id}>
              <Checkbox
                size="xs"
                label={<span dir="auto">{clientName ?? objectName ?? '–'}</span>}
                checked={!left.has(id)}
                onChange={(event) => onOut([id], !event.currentTarget.checked)}
              />
              <span className="soft small">
                {objectTime != null && t('approval.visit', { time: format.moment(objectTime) })}
                {isOver && <b className="amber"> {t('approval.over')}</b>}
              </span>
              <span className="soft small">
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
