import { Button, Checkbox, PasswordInput, Select, TextInput } from '@mantine/core'
import { useMutation, type UseMutationResult } from '@tanstack/react-query'
import { useState } from 'react'
import { saveFeed, testFeed, type Feed, type FeedBody, type FeedTest } from '../api/feeds.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { faultAt } from '../components/faults.ts'
import { useForm } from '../components/form.ts'
import { SubmitRow } from '../components/windows.tsx'
import settings from '../setup/settings.module.css'
import { useTranslation } from '../texts/translate.ts'
import classes from './feeds.module.css'
import { secretLabel } from './words.ts'

const SOURCES = ['CALDAV', 'ICS', 'CALCOM', 'EASYAPPOINTMENTS', 'INLET'] as const
type Source = (typeof SOURCES)[number]

/** Connects a source as a draft: its account, with a test. */
export function ConnectForm({ onDone }: { onDone: (feed: Feed) => void }) {
  const { t } = useTranslation()
  const [source, setSource] = useState<Source>('CALDAV')
  const [account, setAccount] = useState(NO_ACCOUNT)
  const [name, setName] = useState('')
  const [hosts, setHosts] = useState<string[]>([])
  const body = bodyOf({ name, source, account, hosts })
  const test = useMutation({ mutationFn: () => testFeed(body) })
  const form = useForm(async () => onDone(await saveFeed(body)))
  const forget = () => {
    test.reset()
    setHosts([])
  }
  const faultOf = (field: string) => form.faultAt(field) ?? faultAt(test.error, field)
  return (
    <form onSubmit={form.onSubmit} className={classes.steps}>
      <SourceFields
        name={name}
        source={source}
        faultOf={faultOf}
        onName={setName}
        onSource={(chosen) => {
          setSource(chosen)
          // Most accounts of Cal.com are there.
          setAccount({ ...NO_ACCOUNT, url: chosen === 'CALCOM' ? CALCOM_API : '' })
          forget()
        }}
      />
      {source !== 'INLET' && (
        <section aria-label={t('settings.feeds.account')} className={settings.form}>
          <h3>{t('settings.feeds.account')}</h3>
          <AccountFields
            source={source}
            account={account}
            faultOf={faultOf}
            urlFault={pointedAt(form.faultAt, test.error)}
            onChange={(more) => {
              setAccount({ ...account, ...more })
              forget()
            }}
          />
          <TestButton test={test} isDisabled={name.trim() === ''} />
        </section>
      )}
      {test.data && test.data.otherHosts.length > 0 && (
        <HostFields test={test.data} hosts={hosts} onChange={setHosts} />
      )}
      <SubmitRow label={t('settings.feeds.create')} form={form} />
      <p className="soft small" style={{ margin: 0 }}>
        {t('settings.feeds.createHint')}
      </p>
    </form>
  )
}

type SourceProps = {
  name: string
  source: Source
  faultOf: (field: string) => string | undefined
  onName: (name: string) => void
  onSource: (source: Source) => void
}

function SourceFields({ name, source, faultOf, onName, onSource }: SourceProps) {
  const { t } = useTranslation()
  return (
    <section aria-label={t('words.source')} className={settings.form}>
      <h3>{t('words.source')}</h3>
      <TextInput
        label={t('words.name')}
        description={t('settings.feeds.nameHint')}
        data-autofocus
        required
        withAsterisk={false}
        value={name}
        error={faultOf('name')}
        onChange={(event) => onName(event.currentTarget.value)}
      />
      <Select
        label={t('words.source')}
        description={t(`settings.feeds.sourceHints.${source}`)}
        allowDeselect={false}
        value={source}
        data={SOURCES.map((one) => ({ value: one, label: t(`settings.feeds.sources.${one}`) }))}
        error={faultOf('source')}
        onChange={(value) => onSource(value as Source)}
      />
    </section>
  )
}

const CALCOM_API = 'https://api.cal.com'
const NO_ACCOUNT = { url: '', username: '', secret: '' }
type Account = typeof NO_ACCOUNT

type Draft = {
  name: string
  source: Source
  account: Account
  hosts: string[]
}

function bodyOf({ name, source, account, hosts }: Draft): FeedBody {
  const { url, username, secret } = account
  const connection = {
    url: withScheme(url.trim()),
    ...(source === 'CALDAV' && username.trim() && { username: username.trim() }),
    ...(hosts.length > 0 && { hosts }),
  }
  return {
    name: name.trim(),
    source,
    mode: 'DRAFT',
    ...(source !== 'ICS' && source !== 'INLET' && { connection }),
    ...(source !== 'INLET' && secret !== '' && { secret: secret.trim() }),
  }
}

/** People write an address as they say it: "cloud.example.org". */
const withScheme = (url: string) => (url === '' || /^https?:/i.test(url) ? url : `https://${url}`)

/** `/connection/url` has a field of its own, too. */
const pointedAt = (inForm: (field: string) => string | undefined, tested: unknown) =>
  inForm('connection/url') ?? faultAt(tested, 'connection')

type AccountProps = {
  source: Source
  account: Account
  faultOf: (field: string) => string | undefined
  urlFault: string | undefined
  onChange: (more: Partial<Account>) => void
}

function AccountFields({ source, account, faultOf, urlFault, onChange }: AccountProps) {
  const { t } = useTranslation()
  if (source === 'ICS') {
    return (
      <PasswordInput
        label={t('settings.feeds.address')}
        description={t('settings.feeds.addressHint')}
        autoComplete="off"
        value={account.secret}
        error={faultOf('secret')}
        visibilityToggleButtonProps={{ 'aria-label': t('settings.feeds.showSecret') }}
        onChange={(event) => onChange({ secret: event.currentTarget.value })}
      />
    )
  }
  const isBooking = source === 'CALCOM' || source === 'EASYAPPOINTMENTS'
  return (
    <>
      <TextInput
        label={t('settings.feeds.url')}
        description={isBooking && t(`settings.feeds.urlHints.${source}`)}
        placeholder="https://"
        type="url"
        autoComplete="off"
        value={account.url}
        error={urlFault}
        onChange={(event) => onChange({ url: event.currentTarget.value })}
      />
      {!isBooking && (
        <TextInput
          label={t('settings.feeds.username')}
          autoComplete="off"
          value={account.username}
          onChange={(event) => onChange({ username: event.currentTarget.value })}
        />
      )}
      <PasswordInput
        label={t(secretLabel(source))}
        description={t(
          isBooking ? `settings.feeds.secretHints.${source}` : 'settings.feeds.passwordHint',
        )}
        autoComplete="new-password"
        value={account.secret}
        error={faultOf('secret')}
        visibilityToggleButtonProps={{ 'aria-label': t('settings.feeds.showSecret') }}
        onChange={(event) => onChange({ secret: event.currentTarget.value })}
      />
    </>
  )
}

type TestProps = { test: UseMutationResult<FeedTest, Error, void>; isDisabled: boolean }

function TestButton({ test, isDisabled }: TestProps) {
  const { t } = useTranslation()
  return (
    <>
      <Button
        variant="default"
        loading={test.isPending}
        disabled={isDisabled}
        onClick={() => test.mutate()}
        style={{ justifySelf: 'start' }}
      >
        {t('settings.feeds.test')}
      </Button>
      <TestResult
        // A field shows its own fault.
        error={faultAt(test.error, 'name', 'connection', 'secret') ? undefined : test.error}
        result={test.data}
      />
    </>
  )
}

/** Each check with what was found. */
export function TestResult({ result, error }: { result: FeedTest | undefined; error: unknown }) {
  const { t } = useTranslation()
  return (
    <div role="status" className="small">
      {error ? (
        <span className="clay">
          <ErrorMessage error={error} />
        </span>
      ) : (
        result && (
          <>
            <b className={result.ok ? 'strong' : 'strong clay'}>
              {t(result.ok ? 'settings.feeds.testOk' : 'settings.feeds.testFailed')}
            </b>
            {result.ok ? <FoundCalendars result={result} /> : <FailedChecks result={result} />}
          </>
        )
      )}
    </div>
  )
}

/** The calendars, with how many entries each has. */
function FoundCalendars({ result }: { result: FeedTest }) {
  const { t } = useTranslation()
  return (
    <ul className={classes.plain}>
      {result.calendars.map(({ key, name, entries }) => (
        <li key={key}>
          <bdi>{name}</bdi>
          {entries != null && `: ${t('settings.feeds.entries', { count: entries })}`}
        </li>
      ))}
    </ul>
  )
}

/** What to do, and what the service found in its own words. */
function FailedChecks({ result }: { result: FeedTest }) {
  const { t } = useTranslation()
  return (
    <>
      <p style={{ margin: '2px 0' }}>{t('settings.feeds.testFailedHint')}</p>
      <ul className={`${classes.plain} soft`} dir="auto">
        {result.checks
          .filter(({ ok }) => !ok)
          .map(({ check, detail }) => (
            <li key={check}>{detail}</li>
          ))}
      </ul>
    </>
  )
}

type HostProps = { test: FeedTest; hosts: string[]; onChange: (hosts: string[]) => void }

function HostFields({ test, hosts, onChange }: HostProps) {
  const { t } = useTranslation()
  return (
    <Checkbox.Group
      label={t('settings.feeds.hosts')}
      description={t('settings.feeds.hostsHint')}
      value={hosts}
      onChange={onChange}
    >
      <div className={settings.scopes} style={{ marginTop: 6 }}>
        {test.otherHosts.map((host) => (
          <Checkbox key={host} value={host} label={<code>{host}</code>} />
        ))}
      </div>
    </Checkbox.Group>
  )
}
