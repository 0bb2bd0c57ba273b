import { Button, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { pauseMail, resumeMail, saveBusiness } from '../api/business.ts'
import { useSession } from '../api/session.ts'
import { useForm } from '../components/form.ts'
import { TimeZoneSelect } from '../components/time-zone-select.tsx'
import { PageHead } from '../shell/page-head.tsx'
import classes from './settings.module.css'
import { SettingsColumns } from './settings.tsx'

const FIELDS = ['name', 'timeZone', 'emailAddress', 'phone', 'language']

export function SettingsBusinessPage() {
  const { t } = useTranslation()
  const { business, functions } = useSession()
  const isReadOnly = !functions.includes('EDIT_BUSINESS')
  const form = useForm(
    (value) =>
      saveBusiness({
        businessId: business.businessId,
        name: value('name').trim(),
        timeZone: value('timeZone'),
        emailAddress: value('emailAddress').trim() || null,
        phone: value('phone').trim() || null,
        language: value('language').trim() || null,
      }),
    FIELDS,
  )
  return (
    <>
      <PageHead title={t('settings.business.title')} lede={t('settings.business.lede')} />
      <SettingsColumns>
        <section className="card panel">
          <form className={classes.form} onSubmit={form.onSubmit}>
            <TextInput
              name="name"
              label={t('settings.business.name')}
              defaultValue={business.name}
              readOnly={isReadOnly}
              required
              withAsterisk={false}
              error={form.faultAt('name')}
            />
            <TimeZoneSelect
              name="timeZone"
              description={t('settings.business.timeZoneHint')}
              defaultValue={business.timeZone}
              readOnly={isReadOnly}
              error={form.faultAt('timeZone')}
            />
            <TextInput
              name="emailAddress"
              type="email"
              label={t('form.emailAddress')}
              description={t('settings.business.emailHint')}
              defaultValue={business.emailAddress ?? ''}
              readOnly={isReadOnly}
              error={form.faultAt('emailAddress')}
            />
            <TextInput
              name="phone"
              type="tel"
              label={t('settings.business.phone')}
              defaultValue={business.phone ?? ''}
              readOnly={isReadOnly}
              error={form.faultAt('phone')}
            />
            <TextInput
              name="language"
              label={t('settings.business.language')}
              description={t('settings.business.languageHint')}
              defaultValue={business.language ?? ''}
              readOnly={isReadOnly}
              error={form.faultAt('language')}
            />
            {isReadOnly ? (
              <p className="soft small">{t('settings.business.readOnly')}</p>
            ) : (
              <div className="row">
                <Button type="submit" loading={form.isBusy}>
                  {t('form.save')}
                </Button>
                <FormState message={form.message} isDone={form.isDone} />
              </div>
            )}
          </form>
        </section>
        {!isReadOnly && <MailPause />}
      </SettingsColumns>
    </>
  )
}

/** Stops all mail of the business, for example after a wrong import. */
function MailPause() {
  const { t } = useTranslation()
  const { business } = useSession()
  const { businessId, mailPaused, mailPausedReason } = business
  const form = useForm(
    (value) =>
      mailPaused
        ? resumeMail(businessId)
        : pauseMail(businessId, value('mailPausedReason').trim() || null),
    ['mailPausedReason'],
  )
  return (
    <section className="card panel">
      <header>
        <h2>{t(mailPaused ? 'settings.pause.paused' : 'settings.pause.title')}</h2>
      </header>
      <form className={classes.form} onSubmit={form.onSubmit}>
        <p className="soft small" style={{ margin: 0 }} dir="auto">
          {mailPaused ? mailPausedReason : t('settings.pause.hint')}
        </p>
        {!mailPaused && (
          <TextInput
            name="mailPausedReason"
            label={t('settings.pause.reason')}
            error={form.faultAt('mailPausedReason')}
          />
        )}
        <div className="row">
          <Button type="submit" variant="default" loading={form.isBusy}>
            {t(mailPaused ? 'today.paused.resume' : 'settings.pause.pause')}
          </Button>
          <FormState message={form.message} isDone={false} />
        </div>
      </form>
    </section>
  )
}

/** The result of the form, next to its button. */
export function FormState({ message, isDone }: { message: ReactNode; isDone: boolean }) {
  const { t } = useTranslation()
  return (
    <span role="status" className={`small ${message ? 'clay' : 'soft'}`}>
      {message ?? (isDone && t('form.saved'))}
    </span>
  )
}
