import { useTranslation } from '../texts/translate.ts'
import { meaningOf, resultOf, type Attempt, type AttemptResult } from './meaning.ts'

const TONE_OF_RESULT: Record<AttemptResult, string> = {
  accepted: '',
  captured: '',
  later: 'retrying',
  refused: 'refused',
  unclear: 'retrying',
}

/** What the mail server answered, and what it means. */
export function ServerWords({ attempt }: { attempt: Attempt }) {
  const { t } = useTranslation()
  return (
    <>
      <div className={`server-words ${TONE_OF_RESULT[resultOf(attempt)]}`} dir="auto">
        {attempt.reply}
      </div>
      <div className="soft small">{t(`attempt.meanings.${meaningOf(attempt)}`)}</div>
    </>
  )
}
