import { Button, TagsInput } from '@mantine/core'
import { IconSend } from '../components/icons.tsx'
import { useMutation } from '@tanstack/react-query'
import { useState, type ClipboardEvent } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { readMailState } from '../api/overview.ts'
import { sendTest, type Example, type TemplateBody } from '../api/templates.ts'
import { faultAt } from '../components/faults.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import classes from './template.module.css'

const MAX_ADDRESSES = 5
/** What is typed so far; the service checks it completely. */
const ADDRESS = /^\s*[^\s@]+@[^\s@]+\s*$/
/** In a pasted text: "Anna Müller <anna@example.org>; ben@example.org", lines or cells of a table. */
const PASTED_ADDRESSES = /[^\s@<>()[\]",;:]+@[^\s@<>()[\]",;:]+/g

type Props = { emailTemplateId: number; changes: TemplateBody; example: Example | undefined }

/** Sends the mail of the preview, with the unsaved changes, to a few addresses. */
export function TestSend({ emailTemplateId, changes, example }: Props) {
  const { t } = useTranslation()
  const { to, leftOut, field } = useAddresses(() => send.reset())
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
          {...field}
          className="grow"
          aria-label={t('words.sendATestTo')}
          placeholder={to.length === 0 ? t('template.test.placeholder') : ''}
          maxTags={MAX_ADDRESSES}
          acceptValueOnBlur
          splitChars={[',', ';', ' ', '\n']}
          inputMode="email"
          error={fault}
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
        {leftOut > 0 && (
          <span className="amber"> {t('template.test.leftOut', { count: leftOut })}</span>
        )}
      </div>
      {send.error && !fault && (
        <div role="alert" className="clay tiny">
          <ErrorMessage error={send.error} />
        </div>
      )}
    </div>
  )
}

/** The field with the addresses, and those that did not fit. */
function useAddresses(onChanged: () => void) {
  const [added, setAdded] = useState<string[]>([])
  const [typed, setTyped] = useState('')
  const [leftOut, setLeftOut] = useState(0)
  const change = (addresses: string[]) => {
    setAdded(addresses.slice(0, MAX_ADDRESSES))
    setLeftOut(Math.max(0, addresses.length - MAX_ADDRESSES))
    onChanged()
  }
  /** The field itself would split names of people too. */
  const paste = (event: ClipboardEvent) => {
    const pasted = event.clipboardData.getData('text/plain').match(PASTED_ADDRESSES)
    if (!pasted) return
    event.preventDefault()
    event.stopPropagation()
    change([...new Set([...added, ...pasted])])
  }
  return {
    to: [...new Set([...added, ...(ADDRESS.test(typed) ? [typed.trim()] : [])])],
    leftOut,
    field: {
      value: added,
      searchValue: typed,
      onSearchChange: setTyped,
      onPasteCapture: paste,
      onChange: change,
    },
  }
}
