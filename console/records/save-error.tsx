import { useTranslation } from '../texts/translate.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import type { EditedRecord } from './use-record.ts'

/** Why the record was not saved, unless a field or the conflict shows it. */
export function SaveError<Item, Draft extends object>({
  record: { formError, theirsMissing },
}: {
  record: EditedRecord<Item, Draft>
}) {
  const { t } = useTranslation()
  if (theirsMissing) return t(`editor.conflict.${theirsMissing}`)
  return formError ? <ErrorMessage error={formError} /> : null
}
