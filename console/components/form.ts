import { useState, type FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { ConnectionError, ProblemError } from '../../src/client/client.ts'

export type Translate = ReturnType<typeof useTranslation>['t']

/** The message for an error of a form. */
export function messageOf(error: unknown, t: Translate): string {
  if (error instanceof ConnectionError) return t('errors.offline')
  if (error instanceof ProblemError && error.status === 429) {
    return t('form.tooMany', { count: error.retryAfterSeconds ?? 60 })
  }
  return error instanceof Error ? error.message : String(error)
}

/**
 * Submits a form, once at a time. `faultAt` returns the error of a field; `message` any error that
 * does not belong to a field of the form.
 */
export function useForm(
  work: (values: (name: string) => string) => Promise<unknown>,
  fields: string[] = [],
) {
  const { t } = useTranslation()
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const [isDone, setDone] = useState(false)
  const faults = error instanceof ProblemError ? error.errors : []
  const faultAt = (field: string) => faults.find(({ pointer }) => pointer === `/${field}`)?.detail
  const isShown =
    faults.length > 0 && faults.every(({ pointer }) => fields.includes(pointer.slice(1)))
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    setBusy(true)
    setError(undefined)
    setDone(false)
    try {
      await work((name) => String(form.get(name) ?? ''))
      setDone(true)
    } catch (error) {
      setError(error)
    } finally {
      setBusy(false)
    }
  }
  return {
    isBusy,
    isDone,
    faultAt,
    message: error && !isShown ? messageOf(error, t) : undefined,
    onSubmit: (event: FormEvent<HTMLFormElement>) => void submit(event),
  }
}
