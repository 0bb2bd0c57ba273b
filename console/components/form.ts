import { createElement, useState, type FormEvent } from 'react'
import { ErrorMessage } from './error-message.tsx'
import { faultsIn } from './faults.ts'

/**
 * Submits a form, once at a time. `faultAt` returns the error of a field; `message` any error that
 * does not belong to a field of the form.
 */
export function useForm(
  work: (values: (name: string) => string) => Promise<unknown>,
  fields: string[] = [],
) {
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const [isDone, setDone] = useState(false)
  const faults = faultsIn(error)
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
  const fieldOf = (name: string) => ({ name, error: faultAt(name) })
  return {
    isBusy,
    isDone,
    error,
    faultAt,
    /** The properties of the field of a form. */
    fieldOf,
    /** The same of a field that must be filled in. */
    required: (name: string) => ({ ...fieldOf(name), required: true, withAsterisk: false }),
    message: error && !isShown ? createElement(ErrorMessage, { error }) : undefined,
    onSubmit: (event: FormEvent<HTMLFormElement>) => void submit(event),
  }
}
