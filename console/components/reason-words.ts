import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { Reason } from '../../src/contract/reasons.ts'
import { setupQuery, type Setup } from '../api/setup.ts'
import { sayReasonCode, type Values } from '../texts/translate.ts'
import { useTimeFormat, type TimeFormat } from './time.ts'

type Named = { id: number; name: string }

const listOf: Partial<Record<Reason['code'], (setup: Setup) => Named[]>> = {
  otherLocation: ({ locations }) =>
    locations.map((one) => ({ id: one.locationId, name: one.name })),
  otherService: ({ services }) => services.map((one) => ({ id: one.reasonId, name: one.name })),
  otherStaff: ({ professionals }) =>
    professionals.map((one) => ({
      id: one.professionalId,
      name: `${one.firstName} ${one.lastName}`,
    })),
}

/** The label of a status, such as “Cancelled”. */
export const labelOfStatus = (setup: Setup | undefined, objectType: unknown, status: unknown) =>
  setup?.statuses.find((one) => one.status === status && one.objectType === objectType)?.label ??
  String(status ?? '')

/** The values of a reason as people read them: labels, names and local times. */
function valuesOf({ code, params }: Reason, setup: Setup | undefined, format: TimeFormat): Values {
  const values: Values = { ...params }
  const { time, name, status, wanted, objectType } = params
  if (typeof time === 'number') values.time = format.moment(time)
  if (code === 'status' || code === 'otherStatus') {
    values.status = labelOfStatus(setup, objectType, status)
    values.wanted = String(wanted ?? '')
      .split(' or ')
      .map((one) => labelOfStatus(setup, objectType, one))
      .join(', ')
  }
  const found = setup && listOf[code]?.(setup).find(({ id }) => String(id) === name)
  return found ? { ...values, name: found.name } : values
}

/** Says reasons of the service in the user's language; the words of others stay as they are. */
export function useReasonWords() {
  const format = useTimeFormat()
  const { data: setup } = useQuery(setupQuery)
  return useCallback(
    (reasons: readonly Reason[]) => reasonWords(reasons, setup, format),
    [setup, format],
  )
}

export type SayReasons = ReturnType<typeof useReasonWords>

export const reasonWords = (
  reasons: readonly Reason[],
  setup: Setup | undefined,
  format: TimeFormat,
) =>
  reasons
    .map((reason, i) => {
      const before = i === 0 ? '' : reason.code === 'words' ? ': ' : '; '
      return before + sayReasonCode(reason.code, valuesOf(reason, setup, format))
    })
    .join('')

/** The reply of a server is quoted; everything else begins like a sentence. */
export const asSentence = (words: string, [first]: readonly Reason[]) =>
  first?.code === 'words' ? words : words.charAt(0).toLocaleUpperCase() + words.slice(1)

/** Whether the reasons are only the words of a mail server. */
export const isQuoted = (reasons: readonly Reason[]) =>
  reasons.length > 0 && reasons.every(({ code }) => code === 'words')
