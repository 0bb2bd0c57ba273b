import { Button } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { hasOperatorKey } from '../api/operator-key.ts'
import { findUnfinished, makeBusiness, makeOwner, type NewBusiness } from '../api/start.ts'
import { Bell } from '../components/bell.tsx'
import { useForm } from '../components/form.ts'
import {
  BUSINESS_FIELDS,
  BusinessFields,
  OWNER_FIELDS,
  OwnerFields,
  ownerOf,
} from '../operator/business-fields.tsx'
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
    BUSINESS_FIELDS,
  )
  return (
    <form onSubmit={form.onSubmit} className="column" style={{ gap: 16 }}>
      <BusinessFields form={form} size="md" message={form.message} />
      <Button type="submit" fullWidth size="md" mt={4} loading={form.isBusy}>
        {t('start.makeBusiness')}
      </Button>
    </form>
  )
}

function OwnerForm({ business }: { business: NewBusiness }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const form = useForm(async (value) => {
    await makeOwner(business.businessId, ownerOf(value))
    await navigate({ to: '/' })
  }, OWNER_FIELDS)
  return (
    <form onSubmit={form.onSubmit} className="column" style={{ gap: 16 }}>
      <OwnerFields
        form={form}
        size="md"
        message={form.message}
        label={t('signIn.username')}
        isOwn
      />
      <Button type="submit" fullWidth size="md" mt={4} loading={form.isBusy}>
        {t('start.makeOwner')}
      </Button>
    </form>
  )
}
