import { ActionIcon } from '@mantine/core'
import { useDisclosure, useLocalStorage } from '@mantine/hooks'
import { IconX } from '../components/icons.tsx'
import { useTranslation } from '../texts/translate.ts'
import { useSession } from '../api/session.ts'
import { NewView, ViewLine, ViewLines, ViewsPopover } from '../components/views-popover.tsx'
import type { ActivitySearch } from './search.ts'

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
  const save = (name: string) => {
    setViews((saved) =>
      [...saved.filter((one) => one.name !== name), { name, search }].slice(-MAX_VIEWS),
    )
    return true
  }
  const remove = (name: string) => setViews((saved) => saved.filter((view) => view.name !== name))
  return (
    <ViewsPopover isOpen={isOpen} onChange={set}>
      <ViewLines>
        {views.map((view) => (
          <ViewLine key={view.name} name={view.name} onOpen={() => open(view)}>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('views.delete', { name: view.name })}
              onClick={() => remove(view.name)}
            >
              <IconX size={15} />
            </ActionIcon>
          </ViewLine>
        ))}
      </ViewLines>
      <NewView onSave={save} />
    </ViewsPopover>
  )
}
