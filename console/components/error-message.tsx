import type { ReactNode } from 'react'
import { useTranslation, type Translate } from '../texts/translate.ts'
import { ConnectionError, ProblemError } from '../../src/client/client.ts'
import { isReplaced, isSignedOut } from '../api/query-client.ts'
import { faultsIn } from './faults.ts'
import { Filled, part } from './filled.tsx'
import { LoadAgain, SignInAgain } from './sign-in-again.tsx'

/** The message for an error of a save; for a signed-out user with a link to sign in. */
export function ErrorMessage({ error }: { error: unknown }) {
  const { t } = useTranslation()
  if (isReplaced(error)) return <LoadAgain />
  return isSignedOut(error) ? <SignInAgain /> : messageOf(error, t)
}

/** "Not saved: The service cannot be reached." */
export function NotSaved({ reason }: { reason: ReactNode }) {
  const { t } = useTranslation()
  return <Filled text={t('editor.notSaved', { reason: part('reason') })} parts={{ reason }} />
}

/** The message for an error, where a link is not possible. */
export function messageOf(error: unknown, t: Translate): string {
  if (isSignedOut(error)) return t('signedOut.title')
  if (error instanceof ConnectionError) return t('errors.offline')
  if (error instanceof ProblemError && error.code === 'too-many-requests') {
    return t('form.tooMany', { count: error.retryAfterSeconds ?? 60 })
  }
  if (error instanceof ProblemError) {
    const code = TRANSLATED.find((one) => one === error.code)
    const faults = faultsIn(error).map(({ pointer, detail }) => `${pointer}: ${detail}`)
    if (code) return t(`problems.${code}`, { detail: faults.join('; ') || error.message })
  }
  return error instanceof Error ? error.message : String(error)
}

const TRANSLATED = [
  'forbidden',
  'not-found',
  'stale-version',
  'gone',
  'body-too-large',
  'request-timeout',
  'internal-error',
  'unavailable',
  'conflict',
  'invalid-input',
  'mirrored',
  'too-many-mails',
  'secret-key-missing',
] as const
