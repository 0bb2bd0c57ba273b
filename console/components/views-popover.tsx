import { Button, Popover, TextInput } from '@mantine/core'
import { IconBookmark } from './icons.tsx'
import { useState, type FormEvent, type ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import classes from './views-popover.module.css'

type Props = { isOpen: boolean; onChange: (isOpen: boolean) => void; children: ReactNode }

/** A button that opens the saved views of a page. */
export function ViewsPopover({ isOpen, onChange, children }: Props) {
  const { t } = useTranslation()
  return (
    <Popover opened={isOpen} onChange={onChange} width={340} position="bottom-end" trapFocus>
      <Popover.Target>
        <Button
          variant="subtle"
          color="gray"
          leftSection={<IconBookmark size={15} aria-hidden />}
          onClick={() => onChange(!isOpen)}
        >
          {t('views.title')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('views.title')}>{children}</Popover.Dropdown>
    </Popover>
  )
}

/** The lines of the popover, each with the button that opens the view and its actions. */
export function ViewLines({ children }: { children: ReactNode }) {
  return <ul className={classes.views}>{children}</ul>
}

type LineProps = { name: string; hint?: string; onOpen: () => void; children: ReactNode }

export function ViewLine({ name, hint, onOpen, children }: LineProps) {
  return (
    <li>
      <Button
        variant="subtle"
        color="gray"
        justify="flex-start"
        fullWidth
        dir="auto"
        rightSection={hint && <span className="faint tiny">{hint}</span>}
        onClick={onOpen}
      >
        {name}
      </Button>
      {children}
    </li>
  )
}

type NewProps = {
  /** Resolves to true if it was saved. */
  onSave: (name: string) => boolean | Promise<boolean>
  error?: string | undefined
  /** Further choices, below the name. */
  children?: ReactNode
}

/** Saves what the page shows under a name. */
export function NewView({ onSave, error, children }: NewProps) {
  const { t } = useTranslation()
  const [name, setName] = useState('')
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() && (await onSave(name.trim()))) setName('')
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      <div className={classes.newView}>
        <TextInput
          aria-label={t('views.name')}
          placeholder={t('views.name')}
          maxLength={60}
          error={error}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button type="submit" disabled={!name.trim()}>
          {t('views.save')}
        </Button>
      </div>
      {children}
    </form>
  )
}
