import { Button } from '@mantine/core'
import { IconRefresh } from '../components/icons.tsx'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useTranslation, type Translate } from '../texts/translate.ts'
import type { Overview } from '../../src/contract/overview.ts'
import { checkMail, senderDomainsQuery, type SenderDomain } from '../api/mail.ts'
import { mailStateOf, overviewQuery } from '../api/overview.ts'
import { Failure, Loading } from '../components/states.tsx'
import { useReasonWords, type SayReasons } from '../components/reason-words.ts'
import { DoesItWork } from '../mail/does-it-work.tsx'
import { HowItIsSet } from '../mail/how-it-is-set.tsx'
import classes from '../mail/mail.module.css'
import { ServerAnswers } from '../mail/server-answers.tsx'
import { useTestMail } from '../mail/test-mail.ts'
import { TryIt } from '../mail/try-it.tsx'
import { PageHead } from '../shell/page-head.tsx'
import { SettingsColumns } from '../setup/settings-frame.tsx'

export function SettingsMailPage() {
  const { t } = useTranslation()
  const say = useReasonWords()
  const overview = useQuery(overviewQuery())
  const domains = useQuery(senderDomainsQuery)
  const mail = overview.data?.mail
  const error = domains.error ?? overview.error
  const check = useMutation({ mutationFn: () => checkMail(domains.data ?? []) })
  return (
    <>
      <PageHead
        title={t('settings.mail.title')}
        lede={mail && domains.data && ledeOf(mail, domains.data, t, say)}
      >
        {mail && domains.data && (
          <Button
            variant="default"
            leftSection={<IconRefresh size={16} aria-hidden />}
            loading={check.isPending}
            onClick={() => check.mutate()}
          >
            {t('settings.mail.check')}
          </Button>
        )}
      </PageHead>
      <SettingsColumns>
        {check.error && <Failure title={t('errors.notDone')} error={check.error} />}
        {mail && domains.data ? (
          <Cards mail={mail} domains={domains.data} />
        ) : error ? (
          <Failure
            error={error}
            onRetry={() => {
              void overview.refetch()
              void domains.refetch()
            }}
          />
        ) : (
          <Loading lines={10} />
        )}
      </SettingsColumns>
    </>
  )
}

function Cards({ mail, domains }: { mail: Overview['mail']; domains: SenderDomain[] }) {
  const testMail = useTestMail()
  return (
    <>
      <DoesItWork mail={mail} domains={domains} />
      <ServerAnswers />
      <div className={classes.two}>
        <TryIt testMail={testMail} />
        <HowItIsSet testMail={testMail} />
      </div>
    </>
  )
}

/** Whether mails are sent, and how many checks of the sender domains fail. */
function ledeOf(mail: Overview['mail'], domains: SenderDomain[], t: Translate, say: SayReasons) {
  const checks = domains.flatMap((domain) => domain.checks)
  const failed = checks.filter(({ result }) => result === 'FAIL').length
  return [
    stateSentence(mail, t, say),
    failed > 0 && t('settings.mail.failedChecks', { count: failed }),
  ]
    .filter(Boolean)
    .join(' ')
}

function stateSentence(mail: Overview['mail'], t: Translate, say: SayReasons) {
  if (mail.paused) return t('settings.mail.paused')
  switch (mailStateOf(mail)) {
    case 'captured':
      return t('today.captured')
    case 'works':
      return t('settings.mail.sends', { count: mail.sentLastDay })
    case 'outage':
    case 'stopped':
      return t('today.mailStopped', { problem: say(mail.problems) })
  }
}
