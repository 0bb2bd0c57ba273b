import { useLayoutEffect, useRef } from 'react'

/**
 * On a phone a menu is one line that scrolls: the current entry is put in its middle, and again
 * whenever one of the values changes, which move it.
 */
export function useCentredCurrent(...values: unknown[]) {
  const menu = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const entry = menu.current?.querySelector<HTMLElement>('[aria-current]')
    if (!menu.current || !entry) return
    menu.current.scrollLeft = entry.offsetLeft - (menu.current.clientWidth - entry.offsetWidth) / 2
  }, values)
  return menu
}
