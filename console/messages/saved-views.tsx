import { ActionIcon, Button, Popover, TextInput } from '@mantine/core'
import { useDisclosure, useLocalStorage } from '@mantine/hooks'
import { IconBookmark, IconX } from '@tabler/icons-react'
import { useState, type FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.ts'
import classes from './activity.module.css'
import type { ActivitySearch } from './filters.ts'

type View = { name: string; search: ActivitySearch }
type Props = { search: ActivitySearch; onOpen: (search: ActivitySearch) => void }

const MAX_VIEWS = 20

/** Named filters of the page Activity. They stay in this browser, so they hold no names of clients. */
export function SavedViews({ search: { text: _text, client: _client, ...search }, onOpen }: Props) {
  const { t } = useTranslation()
  const { userId } = useSession()
  const [isOpen, { close, set }] = useDisclosure()
  const [views, setViews] = useLocalStorage<View[]>({
    key: `bellwether.views.${userId}`,
    defaultValue: [],
  })
  const open = (view: View) => {
    close()
    onOpen(view.search)
  }
  const save = (name: string) =>
    setViews((saved) =>
      [...saved.filter((one) => one.name !== name), { name, search }].slice(-MAX_VIEWS),
    )
  const remove = (name: string) => setViews((saved) => saved.filter((view) => view.name !== name))
  return (
    <Popover opened={isOpen} onChange={set} width={340} position="bottom-end" trapFocus>
      <Popover.Target>
        <Button
          variant="subtle"
          color="gray"
          leftSection={<IconBookmark size={15} aria-hidden />}
          onClick={() => set(!isOpen)}
        >
          {t('activity.views')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('activity.views')}>
        <ul className={classes.views}>
          {views.map((view) => (
            <li key={view.name}>
              <Button
                variant="subtle"
                color="gray"
                justify="flex-start"
                fullWidth
                onClick={() => open(view)}
              >
                {view.name}
              </Button>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t('activity.removeView', { name: view.name })}
                onClick={() => remove(view.name)}
              >
                <IconX size={15} />
              </ActionIcon>
            </li>
          ))}
        </ul>
        <NewView onSave={save} />
      </Popover.Dropdown>
    </Popover>
  )
}

function NewView({ onSave }: { onSave: (name: string) => void }) {
  const { t } = useTranslation()
  const [name, setName] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim()) onSave(name.trim())
    setName('')
  }
  return (
    <form className={classes.newView} onSubmit={submit}>
      <TextInput
        aria-label={t('activity.viewName')}
        placeholder={t('activity.viewName')}
        maxLength={60}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Button type="submit" disabled={!name.trim()}>
        {t('activity.saveView')}
      </Button>
    </form>
  )
}
