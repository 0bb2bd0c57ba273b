import { useQuery } from '@tanstack/react-query'
import type { HistoryDetail, HistoryEntry } from '../../src/contract/event-trigger.ts'
import { setupQuery } from '../api/setup.ts'
import { asSentence, labelOfStatus, useReasonWords } from '../components/reason-words.ts'
import { useTimeFormat } from '../components/time.ts'
import { useTranslation } from '../texts/translate.ts'

/** Says what a change of a message did, or why the message ended. */
export function useHistoryWords() {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const say = useReasonWords()
  const { data: setup } = useQuery(setupQuery)

  const valueOf = (value: HistoryDetail['params'][string] | undefined, objectType: unknown) => {
    if (value === null || value === undefined) return t('message.history.none')
    if (typeof value === 'number') return format.moment(value)
    return objectType ? labelOfStatus(setup, objectType, value) : String(value)
  }
  const sayDetail = ({ code, params }: HistoryDetail) => {
    const { from, to, names, objectType } = params
    return t(`message.history.${code}`, {
      from: valueOf(from, objectType),
      to: valueOf(to, objectType),
      names: Array.isArray(names) ? names.join(', ') : '',
    })
  }
  return ({ details, reasons }: HistoryEntry) =>
    details.length > 0
      ? details
          .map(sayDetail)
          .filter((words) => words !== '')
          .join('; ')
      : asSentence(say(reasons), reasons)
}
