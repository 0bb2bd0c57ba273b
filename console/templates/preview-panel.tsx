import { ActionIcon, SegmentedControl, Select } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '../components/icons.tsx'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { ProblemError } from '../../src/client/client.ts'
import {
  unsavedPreviewQuery,
  type Example,
  type Preview,
  type TemplateBody,
} from '../api/templates.ts'
import { faultsIn } from '../components/faults.ts'
import { framedMail } from '../components/mail-frame.tsx'
import { Empty, Failure, Loading } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import classes from './template.module.css'

const VIEWS = ['phone', 'dark', 'desktop', 'text'] as const
type View = (typeof VIEWS)[number]

type Props = {
  emailTemplateId: number
  /** The unsaved changes. */
  changes: TemplateBody
  examples: Example[] | undefined
  example: Example | undefined
  onChoose: (key: string) => void
}

/** The mail about a real appointment, with the unsaved changes. */
export function PreviewPanel({ emailTemplateId, changes, examples, example, onChoose }: Props) {
  const { t } = useTranslation()
  const [view, setView] = useState<View>('phone')
  return (
    <>
      <div className={classes.previewHead}>
        <h2 className="eyebrow grow">{t('template.preview.title')}</h2>
        <SegmentedControl
          size="xs"
          aria-label={t('template.preview.title')}
          value={view}
          onChange={(next) => setView(next as View)}
          data={VIEWS.map((value) => ({ value, label: t(`template.preview.views.${value}`) }))}
        />
      </div>
      {!examples ? (
        <Loading lines={6} />
      ) : !example ? (
        <Empty title={t('template.preview.none')}>{t('template.preview.noneHint')}</Empty>
      ) : (
        <>
          <ExampleChooser examples={examples} example={example} onChoose={onChoose} />
          <Mail emailTemplateId={emailTemplateId} changes={changes} about={example} view={view} />
        </>
      )}
    </>
  )
}

type ChooserProps = { examples: Example[]; example: Example; onChoose: (key: string) => void }

function ExampleChooser({ examples, example, onChoose }: ChooserProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const place = examples.indexOf(example)
  const step = (by: number) =>
    onChoose(examples[(place + by + examples.length) % examples.length]!.key)
  return (
    <div className="row" style={{ gap: 6 }}>
      <Select
        className="grow"
        aria-label={t('template.preview.about')}
        allowDeselect={false}
        searchable
        data={examples.map(({ key, name, time }) => ({
          value: key,
          label: time === null ? name : `${name}, ${format.moment(time)}`,
        }))}
        value={example.key}
        onChange={(key) => key && onChoose(key)}
      />
      <ActionIcon
        variant="default"
        size={34}
        aria-label={t('template.preview.previous')}
        onClick={() => step(-1)}
      >
        <IconChevronLeft size={15} />
      </ActionIcon>
      <ActionIcon
        variant="default"
        size={34}
        aria-label={t('template.preview.next')}
        onClick={() => step(1)}
      >
        <IconChevronRight size={15} />
      </ActionIcon>
    </div>
  )
}

type MailProps = {
  emailTemplateId: number
  changes: TemplateBody
  about: Example
  view: View
}

function Mail({ emailTemplateId, changes, about, view }: MailProps) {
  const { t } = useTranslation()
  const { objectType, objectId } = about
  const { data, error, refetch } = useQuery({
    ...unsavedPreviewQuery(emailTemplateId, { objectType, objectId }, changes),
    placeholderData: keepPreviousData,
  })
  if (error && !isFault(error) && !data) {
    return <Failure error={error} onRetry={() => void refetch()} />
  }
  return (
    <>
      {error && (
        <p role="status" className={`amber tiny ${classes.previewFault}`}>
          {t('template.preview.fault', { reason: faultText(error) })}
        </p>
      )}
      {data && <MailView mail={data} view={view} />}
      {!data && !error && <Loading lines={8} />}
    </>
  )
}

const isFault = (error: Error) => error instanceof ProblemError && error.status === 422

const faultText = (error: Error) =>
  faultsIn(error)
    .map(({ detail }) => detail)
    .join('; ') || error.message

function MailView({ mail, view }: { mail: Preview; view: View }) {
  const { t } = useTranslation()
  if (view === 'text') {
    return (
      <pre className={classes.textMail} tabIndex={0} dir="auto">
        {mail.text}
      </pre>
    )
  }
  const head = (
    <header className={classes.mailHead}>
      <div className={classes.mailFrom}>
        <span className={classes.initial} aria-hidden>
          {[...mail.fromName][0] ?? '?'}
        </span>
        <div style={{ minWidth: 0 }}>
          <b className="ellipsis" dir="auto">
            {mail.fromName || mail.from}
          </b>
          <div className={classes.mailTo} dir="auto">
            {mail.to === null
              ? t('template.preview.noAddress')
              : t('template.preview.to', { name: mail.toName ?? mail.to })}
          </div>
        </div>
      </div>
      <div className={classes.mailSubject} dir="auto">
        {mail.subject}
      </div>
    </header>
  )
  const isDesktop = view === 'desktop'
  const scheme = view === 'dark' ? 'dark' : 'light'
  return (
    <div className={isDesktop ? classes.desktop : classes.phone} data-scheme={scheme}>
      {!isDesktop && (
        <div className={classes.statusBar} aria-hidden>
          10:00
          <span />
        </div>
      )}
      {head}
      <div className={classes.frameBox}>
        <iframe title={t('words.mailFrame')} sandbox="" srcDoc={framedMail(mail.html, scheme)} />
      </div>
    </div>
  )
}
