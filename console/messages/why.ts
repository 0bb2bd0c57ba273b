import { useQuery } from '@tanstack/react-query'
import { fillText, findText, textOr, useTranslation } from '../texts/translate.ts'
import type { Check } from '../../src/contract/check.ts'
import type { Explanation } from '../../src/contract/explanation.ts'
import { setupQuery } from '../api/setup.ts'
import { labelOfStatus, reasonWords } from '../components/reason-words.ts'
import { useTimeFormat } from '../components/time.ts'

type Said = Pick<Check, 'code' | 'params' | 'reasons'>

/** Writes what a check found in the words of people who run a business. */
export function useCheckWords() {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { data: setup } = useQuery(setupQuery)

  const labelOf = (status: unknown, objectType: unknown) => labelOfStatus(setup, objectType, status)
  const listOf = (value: unknown, word: (one: string) => string) =>
    (Array.isArray(value) ? value : value === null || value === undefined ? [] : [value])
      .map((one) => word(String(one)))
      .join(', ')

  const sayCheck = ({ code, params, reasons }: Said): string => {
    const { objectType, status, wanted, changes, time, since, now } = params
    const changeWords = (one: string) => textOr(`why.changes.${one}`, one)
    const values = {
      name: String(params.name ?? ''),
      tag: String(params.tag ?? ''),
      status: labelOf(status, objectType),
      wanted: listOf(wanted, (one) =>
        code === 'other-change' ? changeWords(one) : labelOf(one, objectType),
      ),
      changes: listOf(changes, changeWords) || t('why.nothing'),
      values: listOf(params.values, String),
      time: typeof time === 'number' ? format.moment(time) : '',
      since: typeof since === 'number' ? format.moment(since) : '',
      reason: reasonWords(reasons ?? [], setup, format),
      now:
        typeof now === 'string'
          ? sayCheck({ code: now as Check['code'], params: { ...params, now: null } })
          : '',
    }
    // A check can lack the value that its sentence is about.
    const isBare =
      (SELECTIONS.has(code) && params.name === null) ||
      (code === 'status-not-live' && values.since === '') ||
      (REASONED.has(code) && values.reason === '')
    // Each code has its own values: the contract of the checks gives them.
    return fillText(findText(isBare ? `why.bare.${code}` : `why.codes.${code}`), values)
  }
  return sayCheck
}

const SELECTIONS = new Set<string>([
  'location',
  'other-location',
  'staff',
  'other-staff',
  'service',
  'other-service',
  'form',
  'other-form',
])
const REASONED = new Set<string>(['failed', 'gave-up', 'skipped', 'expired', 'cancelled'])

/** Checks that everything of its kind passes: nobody asks about them. */
const OBVIOUS = new Set<Check['code']>(['own-business', 'event-type', 'object', 'exists'])

/** The checks that decided, and the others that are worth reading. */
export function splitChecks({ checks, outcome }: Pick<Explanation, 'checks' | 'outcome'>) {
  const shown = checks.filter(({ ok, code }) => !ok || !OBVIOUS.has(code))
  const isDeciding = ({ ok, check }: Check) => (outcome === 'NOT' ? !ok : !ok || check === 'time')
  return {
    deciding: shown.filter(isDeciding),
    others: shown.filter((check) => !isDeciding(check)),
  }
}

const capitalised = (words: string) => words.charAt(0).toLocaleUpperCase() + words.slice(1)

/** "Not sent: the appointment became “Cancelled” on Mon 9 Nov, 18:10." */
export function useWhy() {
  const { t } = useTranslation()
  const sayCheck = useCheckWords()
  return ({ checks, outcome }: Pick<Explanation, 'checks' | 'outcome'>) => {
    const failed = checks.find(({ ok }) => !ok)
    const told = failed ?? checks.find(({ check }) => check === 'time')
    if (outcome === 'NOT') return failed ? t('why.not', { why: sayCheck(failed) }) : t('why.never')
    if (outcome === 'WAITING' && failed) return t('why.waitingBut', { why: sayCheck(failed) })
    return told ? capitalised(t('why.sentence', { why: sayCheck(told) })) : ''
  }
}
