import { ActionIcon, Select } from '@mantine/core'
import { IconChevronLeft, IconChevronRight, IconPaperclip } from '../components/icons.tsx'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import type { RecipientValue } from '../../src/contract/event-action.ts'
import type { ObjectType } from '../../src/contract/event-type.ts'
import type { Forecast } from '../../src/contract/forecast.ts'
import {
  previewAddress,
  previewQuery,
  scheduledQuery,
  type AutomationBody,
} from '../api/automation.ts'
import { MailFrame } from '../components/mail-frame.tsx'
import { Empty, Failure, Loading } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { useBacktest } from './backtest-card.tsx'
import type { Draft } from './draft.ts'
import classes from './editor.module.css'

type Props = { draft: Draft; body: AutomationBody; plan: Forecast | undefined }

/** The mail for a real appointment that matches the automation. */
export function MailPreview({ draft, body, plan }: Props) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const examples = useExamples(draft, body, plan)
  const [chosen, setChosen] = useState<string>()
  const mail = draft.mails.find(({ emailTemplateId }) => emailTemplateId !== null)
  if (!mail?.emailTemplateId) return <p className="soft small">{t('editor.mail.choose')}</p>
  if (!examples) return <Loading lines={5} />
  if (examples.length === 0) {
    return <Empty title={t('editor.mail.noExample')}>{t('editor.mail.noExampleHint')}</Empty>
  }
  const place = Math.max(
    0,
    examples.findIndex(({ key }) => key === chosen),
  )
  const example = examples[place]!
  const step = (by: number) =>
    setChosen(examples[(place + by + examples.length) % examples.length]!.key)
  return (
    <section aria-label={t('words.mailFrame')}>
      <div className={`row small ${classes.mailHead}`}>
        <span className="eyebrow">{t('editor.mail.title')}</span>
        <Select
          size="xs"
          w={260}
          aria-label={t('editor.mail.title')}
          allowDeselect={false}
          searchable
          data={examples.map(({ key, name, objectTime }) => ({
            value: key,
            label: objectTime === null ? name : `${name}, ${format.moment(objectTime)}`,
          }))}
          value={example.key}
          onChange={(key) => key && setChosen(key)}
        />
        {example.time !== null && (
          <span className="faint ellipsis">
            {t('editor.mail.goes', { time: format.moment(example.time) })}
          </span>
        )}
        <span className="grow" />
        <StepButtons onStep={step} />
      </div>
      <Mail
        emailTemplateId={mail.emailTemplateId}
        recipient={mail.recipient.value}
        about={example}
      />
    </section>
  )
}

/** In one line, however long the words before them are. */
function StepButtons({ onStep }: { onStep: (by: number) => void }) {
  const { t } = useTranslation()
  return (
    <ActionIcon.Group>
      <ActionIcon
        variant="subtle"
        aria-label={t('editor.mail.previous')}
        onClick={() => onStep(-1)}
      >
        <IconChevronLeft size={17} />
      </ActionIcon>
      <ActionIcon variant="subtle" aria-label={t('editor.mail.next')} onClick={() => onStep(1)}>
        <IconChevronRight size={17} />
      </ActionIcon>
    </ActionIcon.Group>
  )
}

type MailProps = {
  emailTemplateId: number
  recipient: RecipientValue
  about: { objectType: ObjectType; objectId: number | string }
}

function Mail({ emailTemplateId, recipient, about: { objectType, objectId } }: MailProps) {
  const { t } = useTranslation()
  const about = { objectType, objectId }
  const { data, error, refetch } = useQuery({
    ...previewQuery(emailTemplateId, about, recipient),
    placeholderData: keepPreviousData,
  })
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading lines={5} />
  const isVisit = objectType === 'CALENDAR' || objectType === 'CLASS_SCHEDULE'
  const files = [
    ...(isVisit ? [t('editor.mail.calendarFile')] : []),
    ...data.attachments.map(({ name }) => name),
  ]
  return (
    <div className={`card ${classes.mail}`}>
      <header className={classes.mailLines}>
        <div className="strong" dir="auto">
          {data.subject}
        </div>
        <div className={classes.mailTo} dir="auto">
          {data.fromName && <span className="strong">{data.fromName} </span>}
          {data.from && `<${data.from}> `}
          {t('editor.mail.to', { to: data.to ?? t('editor.mail.noAddress') })}
        </div>
        {data.emptyTokens.length > 0 && (
          <div className={classes.mailEmpty}>
            {t('editor.mail.emptyTokens', { tokens: data.emptyTokens.join(', ') })}
          </div>
        )}
      </header>
      <MailFrame
        title={t('words.mailFrame')}
        address={previewAddress(emailTemplateId, about, recipient)}
        className={classes.frame}
      />
      {files.length > 0 && (
        <footer className={classes.mailFiles} aria-label={t('editor.mail.files')}>
          <IconPaperclip size={15} aria-hidden />
          {files.join(', ')}
        </footer>
      )}
    </div>
  )
}

type Example = {
  key: string
  objectType: ObjectType
  objectId: number | string
  name: string
  objectTime: number | null
  /** When the message is sent. */
  time: number | null
}

type Named = {
  objectType: ObjectType
  objectId: number | null
  objectUUId: string | null
  clientName?: string | null
  objectName?: string | null
  objectTime?: number | null
}

/** Example appointments: the next messages, else past ones from the backtest. */
function useExamples(draft: Draft, body: AutomationBody, plan: Forecast | undefined) {
  const scheduled = useQuery({
    ...scheduledQuery(draft.eventDefnId ?? 0),
    enabled: draft.eventDefnId !== undefined,
  })
  const backtest = useBacktest(body, 30)
  const kind = draft.eventType.objectType
  const planned = plan?.samples.filter(({ change }) => change === 'create' || change === 'move')
  const cancelled = new Set(plan?.samples.filter(({ change }) => change === 'cancel').map(keyOf))
  const found = [
    ...(planned ?? []).map((sample) => exampleOf(sample, sample.to)),
    ...(scheduled.data?.items ?? []).map((message) => exampleOf(message, message.scheduledTime)),
    ...(backtest.data?.samples ?? []).map((sample) => exampleOf(sample, sample.scheduledTime)),
  ].filter(({ key, objectType }) => objectType === kind && !cancelled.has(key))
  const isLoading = found.length === 0 && (scheduled.isLoading || backtest.isLoading)
  if (isLoading) return undefined
  const first = new Map<string, Example>()
  for (const example of found) if (!first.has(example.key)) first.set(example.key, example)
  return [...first.values()]
}

const keyOf = ({ objectType, objectId, objectUUId }: Named) =>
  `${objectType} ${objectId ?? objectUUId}`

const exampleOf = (object: Named, time: number | null): Example => ({
  key: keyOf(object),
  objectType: object.objectType,
  objectId: (object.objectId ?? object.objectUUId)!,
  name: object.clientName ?? object.objectName ?? String(object.objectId ?? object.objectUUId),
  objectTime: object.objectTime ?? null,
  time,
})
