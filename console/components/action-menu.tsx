import { ActionIcon, Menu } from '@mantine/core'
import type { ReactNode } from 'react'
import { IconDots } from './icons.tsx'

/** Three dots that open the actions on one thing: items of Mantine's `Menu`. */
export function ActionMenu({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={label}>
          <IconDots size={17} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  )
}
