import { useSyncExternalStore } from 'react'

/** The menu that opens after `%`. One editor has the focus, so there is one menu for all of them. */

/** `value`: null if it is empty, undefined until it is known. */
export type MenuToken = { name: string; value: string | null | undefined; description: string }

type Opening = {
  items: MenuToken[]
  clientRect?: (() => DOMRect | null) | null
  command: (token: MenuToken) => void
  element: HTMLElement
}

type MenuState = Omit<Opening, 'clientRect'> & { rect: DOMRect; chosen: number }

let menu: MenuState | undefined
const watchers = new Set<() => void>()

export const MENU_ID = 'token-menu'
export const optionId = (index: number) => `${MENU_ID}-${index}`

function show(next: MenuState | undefined) {
  const element = menu?.element ?? next?.element
  menu = next
  // Tells a screen reader which token is chosen while the focus stays in the text.
  if (next) element?.setAttribute('aria-activedescendant', optionId(next.chosen))
  else element?.removeAttribute('aria-activedescendant')
  for (const watcher of watchers) watcher()
}

export function openMenu({ items, clientRect, command, element }: Opening) {
  const rect = clientRect?.()
  show(rect && items.length > 0 ? { items, command, element, rect, chosen: 0 } : undefined)
}

export const closeMenu = () => show(undefined)

/** Whether the key was meant for the menu. */
export function moveInMenu({ key }: KeyboardEvent): boolean {
  if (!menu) return false
  const { items, chosen } = menu
  const choose = (index: number) =>
    show({ ...menu!, chosen: (index + items.length) % items.length })
  if (key === 'ArrowDown') choose(chosen + 1)
  else if (key === 'ArrowUp') choose(chosen - 1)
  else if (key === 'Enter' || key === 'Tab') menu.command(items[chosen]!)
  else if (key === 'Escape') closeMenu()
  else return false
  return true
}

export const useMenu = () =>
  useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    () => menu,
  )
