import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import { automationsQuery } from '../api/automations.ts'
import type { Message } from '../api/messages.ts'
import { useSession } from '../api/session.ts'
import { Filled, part } from '../components/filled.tsx'
import { markOf } from '../components/mark.tsx'

/** "Zara Jones got Reminder two days before" */
export function Headline({ message }: { message: Message }) {
  const { t } = useTranslation()
  const recipient = useRecipientName(message)
  return (
    <Filled
      text={t(`message.headline.${headlineOf(message)}`, { who: part('who'), what: part('what') })}
      parts={{
        who: recipient ?? message.objectName ?? t('message.noClient'),
        what: <i>{message.templateName ?? message.description ?? t('message.noAutomation')}</i>,
      }}
    />
  )
}

/** During an outage a mail may wait in the queue for long. */
function headlineOf(message: Message) {
  const mark = markOf(message)
  return mark === 'sending' && message.email?.status === 'QUEUED' ? 'waiting' : mark
}

/** The client, unless the automation mails the staff or the business. */
function useRecipientName({ eventDefnId, clientName, professionalName }: Message) {
  const { business, functions } = useSession()
  const { data: automations } = useQuery({
    ...automationsQuery,
    enabled: functions.includes('VIEW_DEFINITIONS'),
  })
  const automation = automations?.find((one) => one.eventDefnId === eventDefnId)
  const recipients = automation?.eventActions?.map(({ recipient }) => recipient.value) ?? []
  if (recipients.length > 0 && recipients.every((value) => value === 'staff')) {
    return professionalName ?? clientName
  }
  if (recipients.length > 0 && recipients.every((value) => value === 'business')) {
    return business.name
  }
  return clientName
}
