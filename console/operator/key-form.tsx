import { Button, PasswordInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { ProblemError } from '../../src/client/client.ts'
import { acceptOperatorKey } from '../api/operator-key.ts'
import { useForm } from '../components/form.ts'

/** Asks for the operator's key. It is kept while the page is open, and never stored. */
export function OperatorKeyForm({ hint, onDone }: { hint: string; onDone: () => void }) {
  const { t } = useTranslation()
  const [isRefused, setRefused] = useState(false)
  const form = useForm(async (value) => {
    setRefused(false)
    try {
      await acceptOperatorKey(value('key').trim())
    } catch (error) {
      if (!(error instanceof ProblemError && [401, 403].includes(error.status))) throw error
      return setRefused(true)
    }
    onDone()
  })
  return (
    <form onSubmit={form.onSubmit}>
      <PasswordInput
        name="key"
        label={t('words.operatorsKey')}
        description={hint}
        size="md"
        autoComplete="off"
        autoFocus
        required
        withAsterisk={false}
        error={isRefused ? t('start.keyRefused') : form.message}
      />
      <Button type="submit" fullWidth size="md" mt="lg" loading={form.isBusy}>
        {t('start.continue')}
      </Button>
    </form>
  )
}
