import { Select, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import type { AboutObject } from '../api/automation.ts'
import { followedEmailQuery, isOpen } from '../api/mail.ts'
import type { Template } from '../api/setup.ts'
import { sendTest } from '../api/templates.ts'
import { useForm } from '../components/form.ts'
import { MailStatus } from '../components/mark.tsx'
import { Failure, Loading } from '../components/states.tsx'
import { asSentence, useReasonWords } from '../components/reason-words.ts'
import { useTimeFormat } from '../components/time.ts'
import { ServerWords } from '../messages/server-words.tsx'
import settings from '../setup/settings.module.css'
import { SubmitRow } from '../components/windows.tsx'
import { Panel } from '../today/panel.tsx'
import type { TestMail } from './test-mail.ts'

/** Sends one test mail, and shows what the mail server answers. */
export function TryIt({ testMail }: { testMail: TestMail }) {
  const { t } = useTranslation()
  const { template, about, isLoading, error, retry } = testMail
  return (
    <Panel title={t('settings.mail.test.title')}>
      {error && !about ? (
        <Failure error={error} onRetry={retry} />
      ) : isLoading ? (
        <Loading lines={3} />
      ) : !template ? (
        <p className="soft small">
          {t('settings.mail.test.noTemplate')}{' '}
          <Link to="/templates">{t('settings.mail.test.toTemplates')}</Link>
        </p>
      ) : !about ? (
        <>
          <TemplateSelect testMail={testMail} template={template} />
          <p className="soft small">{t('settings.mail.test.noObject')}</p>
        </>
      ) : (
        <TestForm testMail={testMail} template={template} about={about} />
      )}
    </Panel>
  )
}

type FormProps = { testMail: TestMail; template: Template; about: AboutObject }

function TestForm({ testMail, template, about }: FormProps) {
  const { t } = useTranslation()
  const [emailId, setEmailId] = useState<number>()
  const form = useForm(
    async (value) => {
      const { emailTemplateId } = template
      const { items } = await sendTest({ emailTemplateId, ...about, to: [value('to').trim()] })
      setEmailId(items[0]?.emailId)
    },
    ['to/0'],
  )
  return (
    <>
      <form className={settings.form} onSubmit={form.onSubmit}>
        <p className="soft small" style={{ margin: 0 }}>
          {t('settings.mail.test.hint')}
        </p>
        <TemplateSelect testMail={testMail} template={template} />
        <TextInput
          name="to"
          type="email"
          label={t('words.sendATestTo')}
          placeholder={t('template.test.placeholder')}
          required
          withAsterisk={false}
          error={form.faultAt('to/0')}
        />
        <SubmitRow label={t('template.test.button')} form={form} />
      </form>
      {emailId !== undefined && <TestResult key={emailId} emailId={emailId} />}
    </>
  )
}

type SelectProps = { testMail: TestMail; template: Template }

function TemplateSelect({ testMail: { templates = [], choose }, template }: SelectProps) {
  const { t } = useTranslation()
  return (
    <Select
      label={t('words.template')}
      allowDeselect={false}
      searchable
      data={templates.map(({ emailTemplateId, templateName, language }) => ({
        value: String(emailTemplateId),
        label: language ? `${templateName} (${language})` : templateName,
      }))}
      value={String(template.emailTemplateId)}
      onChange={(id) => id && choose(Number(id))}
    />
  )
}

function TestResult({ emailId }: { emailId: number }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const say = useReasonWords()
  const { data: email, error, refetch } = useQuery(followedEmailQuery(emailId))
  const queries = useQueryClient()
  const hasOutcome = email !== undefined && !isOpen(email)
  useEffect(() => {
    if (!hasOutcome) return
    // The other cards of the page count this mail.
    void queries.invalidateQueries({ queryKey: ['mail'] })
    void queries.invalidateQueries({ queryKey: ['overview'] })
  }, [hasOutcome, queries])
  if (error && !email) return <Failure error={error} onRetry={() => void refetch()} />
  const attempt = email?.attempts.at(-1)
  return (
    <div role="status" style={{ marginTop: 16 }}>
      {email && (
        <>
          <div className="row" style={{ flexWrap: 'wrap' }}>
            <MailStatus status={email.status} reason={null} />
            <span className="soft small" dir="auto">
              {t('settings.mail.test.sentTo', {
                to: email.to,
                time: format.timeWithSeconds(attempt?.time ?? email.createdDate),
              })}
            </span>
          </div>
          {attempt ? (
            <ServerWords attempt={attempt} />
          ) : (
            <div className="soft small" dir="auto">
              {email.statusReason
                ? asSentence(say(email.statusReasons), email.statusReasons)
                : t('settings.mail.test.noAnswer')}
            </div>
          )}
        </>
      )}
    </div>
  )
}
