import { Button, PasswordInput, TextInput } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { hasOperatorKey } from '../api/operator-key.ts'
import { findUnfinished, makeBusiness, makeOwner, type NewBusiness } from '../api/start.ts'
import { Bell } from '../components/bell.tsx'
import { useForm } from '../components/form.ts'
import { guessTimeZone, TimeZoneSelect } from '../components/time-zone-select.tsx'
import { OperatorKeyForm } from '../operator/key-form.tsx'
import classes from './sign-in.module.css'
import { SignInFrame } from './sign-in-frame.tsx'

/** The first run: the operator's key, a business, its owner. */
export function StartPage() {
  const { t } = useTranslation()
  const [hasKey, setHasKey] = useState(hasOperatorKey)
  const [business, setBusiness] = useState(findUnfinished)
  const step = !hasKey ? 1 : business ? 3 : 2
  return (
    <SignInFrame>
      <div className={classes.form}>
        <Bell size={44} />
        <h1 className={classes.title}>{t(`start.title${step}`)}</h1>
        <p className="faint small" style={{ margin: '0 0 4px' }}>
          {t('start.step', { step })}
        </p>
        <p className="soft" style={{ margin: '0 0 24px' }} dir="auto">
          {t(`start.lede${step}`, { business: business?.name ?? '' })}
        </p>
        {step === 1 && <OperatorKeyForm hint={t('start.keyHint')} onDone={() => setHasKey(true)} />}
        {step === 2 && <BusinessForm onDone={setBusiness} />}
        {step === 3 && business && <OwnerForm business={business} />}
        <hr className={classes.line} />
        <Link to="/sign-in" className="small">
          {t('password.backToSignIn')}
        </Link>
      </div>
    </SignInFrame>
  )
}

function BusinessForm({ onDone }: { onDone: (business: NewBusiness) => void }) {
  const { t } = useTranslation()
  const form = useForm(
    async (value) =>
      onDone(await makeBusiness({ name: value('name').trim(), timeZone: value('timeZone') })),
    ['name', 'timeZone'],
  )
  return (
    <form onSubmit={form.onSubmit}>
      <TextInput
        name="name"
        label={t('start.businessName')}
        size="md"
        autoComplete="organization"
        autoFocus
        required
        withAsterisk={false}
        error={form.faultAt('name')}
      />
      <TimeZoneSelect
        name="timeZone"
        size="md"
        mt="md"
        defaultValue={guessTimeZone()}
        error={form.faultAt('timeZone') ?? form.message}
      />
      <Button type="submit" fullWidth size="md" mt="lg" loading={form.isBusy}>
        {t('start.makeBusiness')}
      </Button>
    </form>
  )
}

function OwnerForm({ business }: { business: NewBusiness }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const form = useForm(
    async (value) => {
      await makeOwner(business.businessId, {
        username: value('username').trim(),
        emailAddress: value('emailAddress') || null,
        password: value('password'),
      })
      await navigate({ to: '/' })
    },
    ['username', 'emailAddress', 'password'],
  )
  return (
    <form onSubmit={form.onSubmit}>
      <TextInput
        name="username"
        label={t('signIn.username')}
        size="md"
        autoComplete="username"
        autoCapitalize="none"
        autoFocus
        required
        withAsterisk={false}
        error={form.faultAt('username')}
      />
      <TextInput
        name="emailAddress"
        type="email"
        label={t('form.emailAddress')}
        description={t('start.emailHint')}
        size="md"
        mt="md"
        autoComplete="email"
        error={form.faultAt('emailAddress')}
      />
      <PasswordInput
        name="password"
        label={t('signIn.password')}
        description={t('password.rule')}
        size="md"
        mt="md"
        autoComplete="new-password"
        required
        withAsterisk={false}
        error={form.faultAt('password') ?? form.message}
      />
      <Button type="submit" fullWidth size="md" mt="lg" loading={form.isBusy}>
        {t('start.makeOwner')}
      </Button>
    </form>
  )
}
