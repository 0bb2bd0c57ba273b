import { Button, Modal } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import type { Template } from '../api/setup.ts'
import { clientLanguagesQuery, saveTemplate } from '../api/templates.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { languageName, primaryLanguage } from './languages.ts'
import { isForSome } from './reach.ts'
import { useReach } from './template-words.ts'

type Props = {
  template: Template
  /** How many automations send mails of this name. */
  automations: number
  onClose: () => void
  onDone: () => void
}

/** Says who gets the template before it is switched on. */
export function ActivateWindow({ template, automations, onClose, onDone }: Props) {
  const { t } = useTranslation()
  const reach = useReach()
  const { data: clients } = useQuery(clientLanguagesQuery)
  const activate = useMutation({
    mutationFn: () => saveTemplate({ emailTemplateId: template.emailTemplateId, active: true }),
    onSuccess: () => {
      onClose()
      onDone()
    },
  })
  const readers = (clients ?? [])
    .filter(({ language }) => language && isSame(language, template.language))
    .reduce((sum, row) => sum + row.clients, 0)
  return (
    <Modal opened onClose={onClose} title={t('templateMenu.activateTitle')} centered>
      <p className="serif" style={{ marginTop: 0, fontSize: 16 }} dir="auto">
        {template.templateName}
        {` · ${reach.label(template)}`}
      </p>
      <p className="soft">
        {t('templateMenu.activateText', { count: automations })} {reach.sentence(template)}
        {template.language &&
          !isForSome(template) &&
          clients &&
          t('templateMenu.activateReaders', {
            count: readers,
            language: languageName(template.language),
          })}
      </p>
      {activate.error && (
        <p role="alert" className="clay small">
          <ErrorMessage error={activate.error} />
        </p>
      )}
      <div className="row" style={{ justifyContent: 'flex-end' }}>
        <Button variant="default" onClick={onClose} data-autofocus>
          {t('templateMenu.leaveOff')}
        </Button>
        <Button loading={activate.isPending} onClick={() => activate.mutate()}>
          {t('words.switchOn')}
        </Button>
      </div>
    </Modal>
  )
}

const isSame = (spoken: string, written: string | null) =>
  written !== null && primaryLanguage(spoken) === primaryLanguage(written)
