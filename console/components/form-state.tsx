import type { ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'

/** The result of the form, next to its button. */
export function FormState({ message, isDone }: { message: ReactNode; isDone: boolean }) {
  const { t } = useTranslation()
  return (
    <span role="status" className={`small ${message ? 'clay' : 'soft'}`}>
      {message ?? (isDone && t('form.saved'))}
    </span>
  )
}
