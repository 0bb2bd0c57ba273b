import { PasswordInput, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { useForm } from '../components/form.ts'
import { guessTimeZone, TimeZoneSelect } from '../components/time-zone-select.tsx'
import { useTranslation } from '../texts/translate.ts'

type Props = {
  form: ReturnType<typeof useForm>
  size?: 'sm' | 'md'
  /** Shown below the last field if that has no fault of its own. */
  message?: ReactNode
}

/** The fields of a new business. */
export function BusinessFields({ form, size = 'sm', message }: Props) {
  const { t } = useTranslation()
  const timeZone = form.fieldOf('timeZone')
  return (
    <>
      <TextInput
        {...form.required('name')}
        label={t('start.businessName')}
        size={size}
        autoComplete="organization"
        autoFocus
        data-autofocus
      />
      <TimeZoneSelect
        {...timeZone}
        size={size}
        defaultValue={guessTimeZone()}
        error={timeZone.error ?? message}
      />
    </>
  )
}

/** The fields of its first owner, who may be the person who fills them in. */
export function OwnerFields({
  form,
  size = 'sm',
  message,
  label,
  isOwn = false,
}: Props & { label: string; isOwn?: boolean }) {
  const { t } = useTranslation()
  const password = form.required('password')
  return (
    <>
      <TextInput
        {...form.required('username')}
        label={label}
        size={size}
        autoComplete={isOwn ? 'username' : 'off'}
        autoCapitalize="none"
        autoFocus={isOwn}
      />
      <TextInput
        {...form.fieldOf('emailAddress')}
        type="email"
        label={t('form.emailAddress')}
        description={t('start.emailHint')}
        size={size}
        autoComplete={isOwn ? 'email' : 'off'}
      />
      <PasswordInput
        {...password}
        label={t('signIn.password')}
        description={t('password.rule')}
        size={size}
        autoComplete="new-password"
        error={password.error ?? message}
      />
    </>
  )
}

/** What the fields say of the owner. */
export const ownerOf = (value: (name: string) => string) => ({
  username: value('username').trim(),
  emailAddress: value('emailAddress') || null,
  password: value('password'),
})

export const BUSINESS_FIELDS = ['name', 'timeZone']
export const OWNER_FIELDS = ['username', 'emailAddress', 'password']
