import { useRef } from 'react'
import { usePageKeys } from '../shell/keys.ts'

const ROWS = '#page :is(.list-row, [data-row]):has(a)'

/**
 * `J` and `K` move the focus to the link of the next and the previous row. `onLast` is called when
 * the last row is reached.
 */
export function useRowKeys(onLast?: () => void) {
  const current = useRef<Element>(null)
  const move = (by: number) => () => {
    const rows = [...document.querySelectorAll(ROWS)]
    const row = document.activeElement?.closest(ROWS) ?? current.current
    const place = rows.findIndex((one) => one === row) + by
    const next = rows[Math.min(Math.max(place, 0), rows.length - 1)]
    next?.querySelector('a')?.focus()
    current.current = next ?? null
    if (next === rows.at(-1)) onLast?.()
  }
  usePageKeys({ j: move(1), k: move(-1) })
}
