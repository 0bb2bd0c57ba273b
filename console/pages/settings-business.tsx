import { Button, ColorInput, Select, Switch, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import type { QuietHours } from '../../src/contract/business.ts'
import { businessKind, type BusinessFields } from '../api/business.ts'
import { useSession } from '../api/session.ts'
import { setupQuery } from '../api/setup.ts'
import clients from '../clients/clients.module.css'
import { FormState } from '../components/form-state.tsx'
import { LanguageSelect } from '../components/language-select.tsx'
import { Failure, Loading } from '../components/states.tsx'
import { TimeZoneSelect } from '../components/time-zone-select.tsx'
import { formatIn, placeOf } from '../components/time.ts'
import { PauseButton } from '../mail/pause-button.tsx'
import { differencesOf } from '../records/changes.ts'
import { RecordConflict } from '../records/conflict.tsx'
import { useEffectOfSaving } from '../records/effect.tsx'
import { SaveError } from '../records/save-error.tsx'
import { useRecord, type At, type Form } from '../records/use-record.ts'
import { LineField, NameField, NumberField, TextField } from '../setup/fields.tsx'
import { LogoField } from '../setup/logo-field.tsx'
import { PageHead } from '../shell/page-head.tsx'
import classes from '../setup/settings.module.css'
import { SettingsColumns } from '../setup/settings-frame.tsx'

export function SettingsBusinessPage() {
  const { t } = useTranslation()
  const { functions } = useSession()
  const isReadOnly = !functions.includes('EDIT_BUSINESS')
  return (
    <>
      <PageHead title={t('settings.business.title')} lede={t('settings.business.lede')} />
      <SettingsColumns>
        <section className="card panel">
          <BusinessForm isReadOnly={isReadOnly} />
        </section>
        {!isReadOnly && <MailPause />}
      </SettingsColumns>
    </>
  )
}

const LABELS = {
  name: 'words.name',
  timeZone: 'form.timeZone',
  emailAddress: 'form.emailAddress',
  phone: 'words.phone',
  postalAddress: 'settings.business.postalAddress',
  postalAddressRequired: 'settings.business.postalAddressRequired',
  language: 'words.language',
  website: 'settings.business.website',
  replyTo: 'words.repliesGoTo',
  accentColor: 'settings.business.accentColor',
  logo: 'logo.label',
  bookingUrl: 'words.bookingPage',
  confirmStatus: 'settings.business.confirmStatus',
  cancelStatus: 'settings.business.cancelStatus',
  cancelUntilHours: 'settings.business.cancelUntilHours',
  quietHours: 'words.quietHours',
  bulkLimit: 'settings.business.bulkLimit',
  lapsedAfterDays: 'settings.business.lapsedAfterDays',
} as const satisfies Record<keyof BusinessFields, string>

function BusinessForm({ isReadOnly }: { isReadOnly: boolean }) {
  const { t } = useTranslation()
  const { businessId } = useSession().business
  const record = useRecord({ kind: businessKind, id: businessId })
  const effect = useEffectOfSaving(businessKind, record)
  if (record.readError) return <Failure error={record.readError} onRetry={record.readAgain} />
  if (!record.isReady) return <Loading />
  return (
    <form
      className={classes.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        record.save()
      }}
    >
      <RecordConflict
        record={record}
        modifiedOf={(business) => business}
        differences={(from, to) =>
          differencesOf(from, to, {
            label: (name) => t(LABELS[name]),
            value: (name, { quietHours, ...draft }) =>
              name === 'quietHours'
                ? quietHours
                  ? `${quietHours.from}–${quietHours.to}`
                  : ''
                : String(draft[name] ?? ''),
          })
        }
      />
      <ContactFields form={record.form} readOnly={isReadOnly} />
      <h2 className={classes.part}>{t('settings.business.mails')}</h2>
      <MailFields form={record.form} readOnly={isReadOnly} />
      <h2 className={classes.part}>{t('settings.business.answers')}</h2>
      <AnswerFields form={record.form} readOnly={isReadOnly} />
      {effect.shown}
      {isReadOnly ? (
        <p className="soft small">{t('words.readOnly')}</p>
      ) : (
        <div className="row">
          <Button
            type="submit"
            loading={record.isSaving}
            disabled={effect.isWaiting || record.conflict !== undefined}
          >
            {t('words.save')}
          </Button>
          <FormState
            message={record.formError ? <SaveError record={record} /> : undefined}
            isDone={record.isSaved}
          />
        </div>
      )}
    </form>
  )
}

type FieldsProps = { form: Form<BusinessFields>; readOnly: boolean }

function ContactFields({ form: { at }, readOnly }: FieldsProps) {
  const { t } = useTranslation()
  return (
    <>
      <NameField {...at('name')} label={t(LABELS.name)} readOnly={readOnly} withAsterisk={false} />
      <TimeZoneSelect
        {...at('timeZone')}
        description={t('settings.business.timeZoneHint')}
        readOnly={readOnly}
        onChange={(value) => value && at('timeZone').onChange(value)}
      />
      <ZoneEffect timeZone={at('timeZone').value} />
      <LineField
        {...at('emailAddress')}
        type="email"
        label={t(LABELS.emailAddress)}
        description={t('settings.business.emailHint')}
        readOnly={readOnly}
      />
      <LineField {...at('phone')} type="tel" label={t(LABELS.phone)} readOnly={readOnly} />
      <TextField
        {...at('postalAddress')}
        label={t(LABELS.postalAddress)}
        description={t('settings.business.postalAddressHint')}
        readOnly={readOnly}
      />
      <Switch
        checked={at('postalAddressRequired').value}
        onChange={(event) => at('postalAddressRequired').onChange(event.currentTarget.checked)}
        label={t(LABELS.postalAddressRequired)}
        description={t('settings.business.postalAddressRequiredHint')}
        disabled={readOnly}
      />
      <LineField {...at('website')} type="url" label={t(LABELS.website)} readOnly={readOnly} />
      <LanguageSelect
        {...at('language')}
        label={t(LABELS.language)}
        description={t('settings.business.languageHint')}
        readOnly={readOnly}
      />
    </>
  )
}

/** The clock before and after a change of the time zone. */
function ZoneEffect({ timeZone }: { timeZone: string }) {
  const { t } = useTranslation()
  const before = useSession().business.timeZone
  const isChanged = timeZone !== before && timeZone !== ''
  if (!isChanged) return null
  const now = Date.now()
  return (
    <p className="notice" role="status" style={{ margin: 0 }}>
      {t('settings.business.zoneEffect', {
        time: formatIn(before).time(now),
        place: placeOf(before),
        newTime: formatIn(timeZone).time(now),
        newPlace: placeOf(timeZone),
      })}
    </p>
  )
}

/** Who mails come from: the name, and what the operator allows. */
function Sender({ name }: { name: string }) {
  const { t } = useTranslation()
  const { senderDomains, dailyMailLimit } = useSession().business
  const none = t('settings.mail.set.none')
  return (
    <dl className={clients.details}>
      <dt>{t('settings.business.senderName')}</dt>
      <dd dir="auto">
        {name} <span className="soft small">{t('settings.business.senderNameHint')}</span>
      </dd>
      <dt>{t('settings.mail.set.domains')}</dt>
      <dd>{senderDomains.join(', ') || none}</dd>
      <dt>{t('settings.mail.set.dailyLimit')}</dt>
      <dd>
        {dailyMailLimit === null ? none : t('settings.mail.set.mails', { count: dailyMailLimit })}{' '}
        <span className="soft small">{t('settings.business.byOperator')}</span>
      </dd>
    </dl>
  )
}

/** How mails look, where replies go, and when mails are not sent. */
function MailFields({ form, readOnly }: FieldsProps) {
  const { at } = form
  const { t } = useTranslation()
  return (
    <>
      <Sender name={at('name').value} />
      <LineField
        {...at('replyTo')}
        type="email"
        label={t(LABELS.replyTo)}
        description={t('settings.business.replyToHint')}
        readOnly={readOnly}
      />
      <LogoField {...at('logo')} readOnly={readOnly} />
      <ColorInput
        {...at('accentColor')}
        value={at('accentColor').value ?? ''}
        onChange={(color) => at('accentColor').onChange(color || null)}
        label={t(LABELS.accentColor)}
        description={t('settings.business.accentColorHint')}
        format="hex"
        withEyeDropper={false}
        readOnly={readOnly}
        popoverProps={{ disabled: readOnly }}
      />
      <QuietHoursFields {...at('quietHours')} readOnly={readOnly} />
      <NumberField
        {...at('bulkLimit')}
        label={t(LABELS.bulkLimit)}
        description={t('settings.business.bulkLimitHint')}
        allowDecimal={false}
        readOnly={readOnly}
      />
      <NumberField
        {...at('lapsedAfterDays')}
        label={t(LABELS.lapsedAfterDays)}
        description={t('settings.business.lapsedAfterDaysHint')}
        allowDecimal={false}
        readOnly={readOnly}
      />
    </>
  )
}

type QuietProps = At<QuietHours | null> & { readOnly: boolean }

/** When no mail is sent. */
function QuietHoursFields({ value, error, onChange, readOnly }: QuietProps) {
  const { t } = useTranslation()
  const set = (more: Partial<QuietHours>) => {
    const next = { from: '', to: '', ...value, ...more }
    onChange(next.from === '' && next.to === '' ? null : next)
  }
  return (
    <>
      <div role="group" aria-label={t(LABELS.quietHours)} className="row">
        <TextInput
          type="time"
          label={t('settings.business.quietFrom')}
          value={value?.from ?? ''}
          readOnly={readOnly}
          error={error}
          onChange={(event) => set({ from: event.currentTarget.value })}
        />
        <TextInput
          type="time"
          label={t('settings.business.quietTo')}
          value={value?.to ?? ''}
          readOnly={readOnly}
          error={error !== ''}
          onChange={(event) => set({ to: event.currentTarget.value })}
        />
      </div>
      <p className="soft small" style={{ margin: 0 }}>
        {t('settings.business.quietHint')}
      </p>
    </>
  )
}

/** What the links in mails do. */
function AnswerFields({ form: { at }, readOnly }: FieldsProps) {
  const { t } = useTranslation()
  const canRead = useSession().functions.includes('VIEW_SCHEDULE')
  const { data: setup } = useQuery({ ...setupQuery, enabled: canRead })
  const statuses = (setup?.statuses ?? [])
    .filter(({ objectType }) => objectType === 'CALENDAR')
    .map(({ status, label }) => ({ value: status, label }))
  return (
    <>
      <Select
        {...at('confirmStatus')}
        label={t(LABELS.confirmStatus)}
        placeholder={statuses.find(({ value }) => value === 'CONFIRMED')?.label ?? ''}
        data={statuses}
        clearable
        readOnly={readOnly}
      />
      <Select
        {...at('cancelStatus')}
        label={t(LABELS.cancelStatus)}
        placeholder={statuses.find(({ value }) => value === 'CANCELLED')?.label ?? ''}
        data={statuses}
        clearable
        readOnly={readOnly}
      />
      <NumberField
        {...at('cancelUntilHours')}
        label={t(LABELS.cancelUntilHours)}
        description={t('settings.business.cancelUntilHint')}
        allowDecimal={false}
        readOnly={readOnly}
      />
      <LineField
        {...at('bookingUrl')}
        type="url"
        label={t(LABELS.bookingUrl)}
        description={t('settings.business.bookingUrlHint')}
        readOnly={readOnly}
      />
    </>
  )
}

/** Stops all mail of the business, for example after a wrong import. */
function MailPause() {
  const { t } = useTranslation()
  const { mailPaused, mailPausedReason } = useSession().business
  return (
    <section className="card panel">
      <header>
        <h2>{t(mailPaused ? 'words.mailIsPaused' : 'settings.pause.title')}</h2>
      </header>
      <p className="soft small" dir="auto">
        {mailPaused ? mailPausedReason : t('settings.pause.hint')}
      </p>
      <PauseButton />
    </section>
  )
}
