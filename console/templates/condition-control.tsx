import { Button, Popover, Select } from '@mantine/core'
import { RichTextEditor } from '@mantine/tiptap'
import type { Editor } from '@tiptap/react'
import { useState } from 'react'
import { IconBraces } from '../components/icons.tsx'
import { useTranslation } from '../texts/translate.ts'
import {
  addCondition,
  changeCondition,
  chosenCondition,
  isInOwnCondition,
  removeCondition,
  type Condition,
} from './conditions.ts'
import type { TokenOptions } from './token-node.ts'

type Props = { editor: Editor; tokens: TokenOptions }

/** Shows the selected text only if a token has a value; changes or removes the condition at the cursor. */
export function ConditionControl({ editor, tokens }: Props) {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  const condition = chosenCondition(editor.state)
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus withinPortal width={280}>
      <Popover.Target>
        <RichTextEditor.Control
          aria-label={t('template.condition.title')}
          title={t('template.condition.title')}
          active={condition !== undefined}
          onClick={() => setOpen(!isOpen)}
        >
          <IconBraces size={16} stroke={1.7} aria-hidden />
        </RichTextEditor.Control>
      </Popover.Target>
      <Popover.Dropdown>
        {isInOwnCondition(editor.state) ? (
          <p className="small">{t('template.condition.ofButton')}</p>
        ) : (
          <ConditionForm
            key={condition?.token}
            {...{ editor, tokens, condition }}
            onDone={() => setOpen(false)}
          />
        )}
      </Popover.Dropdown>
    </Popover>
  )
}

type FormProps = Props & { condition: Condition | undefined; onDone: () => void }

function ConditionForm({ editor, tokens, condition, onDone }: FormProps) {
  const { t } = useTranslation()
  const [token, setToken] = useState(condition?.token ?? null)
  const apply = () => {
    onDone()
    if (!token) return
    if (condition) changeCondition(editor, condition, token)
    else addCondition(editor, token)
  }
  return (
    <form
      className="column"
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <Select
        label={t('template.condition.token')}
        description={t('template.condition.hint')}
        searchable
        openOnFocus={false}
        limit={60}
        comboboxProps={{ withinPortal: false }}
        data={[...new Set([...(condition ? [condition.token] : []), ...tokens.names])]}
        value={token}
        onChange={setToken}
      />
      <Button type="submit" size="xs" disabled={!token}>
        {t('words.apply')}
      </Button>
      {condition && (
        <Button
          size="xs"
          variant="default"
          onClick={() => {
            onDone()
            removeCondition(editor, condition)
          }}
        >
          {t('template.condition.remove')}
        </Button>
      )}
    </form>
  )
}
