import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import { retryMail } from '../api/mail.ts'
import { useSession } from '../api/session.ts'
import { ErrorMessage } from '../components/error-message.tsx'

/** Has the service try a mail server that takes no mail at once, instead of within 30 s. */
export function TryMailServerNow() {
  const { t } = useTranslation()
  const { functions } = useSession()
  const { mutate, isPending, isSuccess, error } = useMutation({ mutationFn: retryMail })
  if (!functions.includes('MANAGE_BUSINESS')) return null
  return (
    <div>
      <Button size="compact-sm" variant="default" loading={isPending} onClick={() => mutate()}>
        {t('today.noMail.tryNow')}
      </Button>{' '}
      <span className="small soft" role="status">
        {isSuccess && t('today.noMail.isTried')}
      </span>
      {error && (
        <span className="small clay">
          <ErrorMessage error={error} />
        </span>
      )}
    </div>
  )
}
