import { useSyncExternalStore } from 'react'

let chosen: string | undefined
const watchers = new Set<() => void>()

/** The time zone that the user has chosen for all times; undefined: that of the business. */
export const useChosenTimeZone = () => useSyncExternalStore(watch, () => chosen)

function watch(watcher: () => void) {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

/** Lasts until the page is loaded again or the user signs out. */
export function chooseTimeZone(timeZone: string | undefined) {
  chosen = timeZone
  for (const watcher of watchers) watcher()
}
