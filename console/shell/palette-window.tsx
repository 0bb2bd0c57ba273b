import { createSpotlight, Spotlight } from '@mantine/spotlight'
import { IconSearch } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import '@mantine/spotlight/styles.css'
import type { NavigationItem } from './navigation.ts'

const [store, palette] = createSpotlight()

/** The palette as it opens: type to go to a page. */
export default function PaletteWindow({ pages }: { pages: NavigationItem[] }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  useEffect(() => palette.open(), [])
  return (
    <Spotlight
      store={store}
      shortcut={null}
      scrollable
      highlightQuery
      searchProps={{
        leftSection: <IconSearch size={17} aria-hidden />,
        placeholder: t('navigation.find'),
        'aria-label': t('navigation.find'),
      }}
      actions={pages.map((page) => ({
        id: page.name,
        label: t(`navigation.${page.name}`),
        leftSection: <page.icon size={17} stroke={1.7} aria-hidden />,
        rightSection: (
          <span>
            <kbd>G</kbd> <kbd>{page.key.toUpperCase()}</kbd>
          </span>
        ),
        onClick: () => void navigate({ to: page.path }),
      }))}
    />
  )
}
