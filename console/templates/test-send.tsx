import { Button, TagsInput } from '@mantine/core'
import { IconSend } from '../components/icons.tsx'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { readMailState } from '../api/overview.ts'
import { sendTest, type Example, type TemplateBody } from '../api/templates.ts'
import { faultAt } from '../components/faults.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import classes from './template.module.css'

const MAX_ADDRESSES = 5
/** What is typed so far; the service checks it completely. */
const ADDRESS = /^\s*[^\s@]+@[^\s@]+\s*$/

type Props = { emailTemplateId: number; changes: TemplateBody; example: Example | undefined }

/** Sends the mail of the preview, with the unsaved changes, to a few addresses. */
export function TestSend({ emailTemplateId, changes, example }: Props) {
  const { t } = useTranslation()
  const [added, setAdded] = useState<string[]>([])
  const [typed, setTyped] = useState('')
  const to = [...new Set([...added, ...(ADDRESS.test(typed) ? [typed.trim()] : [])])]
  const send = useMutation({
    mutationFn: async ({ objectType, objectId }: Example) => {
      const test = { emailTemplateId, objectType, objectId, to, template: changes }
      const { items } = await sendTest(test)
      return { count: items.length, mailState: await readMailState() }
    },
  })
  const fault = faultAt(send.error, 'to')
  return (
    <div className={classes.test}>
      <div className="row" style={{ alignItems: 'flex-start' }}>
        <TagsInput
          className="grow"
          aria-label={t('template.test.to')}
          placeholder={to.length === 0 ? t('template.test.placeholder') : ''}
          maxTags={MAX_ADDRESSES}
          acceptValueOnBlur
          splitChars={[',', ';', ' ', '\n']}
          inputMode="email"
          value={added}
          searchValue={typed}
          error={fault}
          onSearchChange={setTyped}
          onChange={(addresses) => {
            setAdded(addresses)
            send.reset()
          }}
        />
        <Button
          variant="default"
          leftSection={<IconSend size={15} aria-hidden />}
          disabled={to.length === 0 || !example}
          loading={send.isPending}
          onClick={() => example && send.mutate(example)}
        >
          {t('template.test.button')}
        </Button>
      </div>
      <div className="faint tiny" role="status" style={{ marginTop: 7 }}>
        {send.data
          ? t(`template.test.done.${send.data.mailState}`, { count: send.data.count })
          : t('template.test.hint')}
      </div>
      {send.error && !fault && (
        <div role="alert" className="clay tiny">
          <ErrorMessage error={send.error} />
        </div>
      )}
    </div>
  )
}
