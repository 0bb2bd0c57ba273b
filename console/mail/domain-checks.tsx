import { Button, CopyButton } from '@mantine/core'
import { IconCheck, IconCopy } from '../components/icons.tsx'
import { useTranslation } from '../texts/translate.ts'
import type { CheckResult, DnsRecord, SenderCheck } from '../../src/contract/sender-domain.ts'
import type { SenderDomain } from '../api/mail.ts'
import { useTimeFormat } from '../components/time.ts'
import classes from './mail.module.css'
import { StateLine, type Tone } from './state-line.tsx'

/** The checks of a sender domain, with the records to publish. */
export function DomainChecks({ domain: { domain, checks, checkedTime, dnsRecords } }: Props) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  return (
    <section className={classes.domain} aria-label={domain}>
      <header className="row">
        <h3 className="grow" dir="auto">
          {t('settings.mail.domain.title', { domain })}
        </h3>
        <span className="faint small">
          {checkedTime === null
            ? t('settings.mail.domain.notChecked')
            : t('settings.mail.domain.checked', { time: format.moment(checkedTime) })}
        </span>
      </header>
      <ul className={classes.lines}>
        {checks.map((check) => (
          <CheckLine key={check.check} check={check} checks={checks} records={dnsRecords} />
        ))}
      </ul>
      <details className={classes.allRecords}>
        <summary className="soft small">{t('settings.mail.domain.allRecords')}</summary>
        {dnsRecords.map((record) => (
          <Record key={record.name} record={record} />
        ))}
      </details>
    </section>
  )
}

type Props = { domain: SenderDomain }

const TONES: Record<CheckResult, Tone> = { PASS: 'good', FAIL: 'bad', UNKNOWN: 'open' }

type CheckProps = { check: SenderCheck; checks: SenderCheck[]; records: DnsRecord[] }

function CheckLine({ check, checks, records }: CheckProps) {
  const { t } = useTranslation()
  const { todo } = check
  const missing = records.filter(
    ({ purpose, name, value }) =>
      purpose === check.check && todo?.includes(name) && todo.includes(value),
  )
  const cause = checks.find((other) => other.check !== check.check && other.todo === todo)
  return (
    <StateLine tone={TONES[check.result]} name={check.check}>
      <span dir="auto">
        <b>{t(`settings.mail.domain.results.${check.result}`)}</b> {check.detail}
      </span>
      {missing.length > 0
        ? missing.map((record) => <Record key={record.name} record={record} todo={todo} />)
        : todo && (
            <div className="soft" dir="auto">
              {cause?.result === 'FAIL' && check.check === 'DMARC'
                ? t('settings.mail.domain.fixFirst', { check: cause.check })
                : todo}
            </div>
          )}
    </StateLine>
  )
}

type RecordProps = { record: DnsRecord; todo?: string | null }

/** A DNS record, with what to do with it if that is known. */
function Record({ record: { type, name, value }, todo }: RecordProps) {
  const { t } = useTranslation()
  const isReplaced = todo?.includes(`Replace the ${type} record at ${name}`)
  const action = todo ? (isReplaced ? 'replace' : 'add') : 'record'
  return (
    <div className={classes.record}>
      <div className="small soft">
        {t(`settings.mail.domain.${action}`, { type })} <code className="mono">{name}</code>
      </div>
      <div className={classes.value}>
        <code className={todo ? 'mono ellipsis' : 'mono'} title={value} dir="ltr">
          {value}
        </code>
        <CopyButton value={value}>
          {({ copied, copy }) => (
            <Button
              variant="default"
              size="compact-sm"
              aria-label={copied ? undefined : t('settings.mail.domain.copyOf', { name })}
              leftSection={
                copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />
              }
              onClick={copy}
            >
              {t(copied ? 'settings.keys.copied' : 'settings.mail.domain.copy')}
            </Button>
          )}
        </CopyButton>
      </div>
    </div>
  )
}
