import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { NavigationItem } from './navigation.ts'

/** The second key must follow the first within this time. */
const SEQUENCE_MS = 1_500

/** `G`, then the letter of a page, goes to that page. */
export function useGoToKeys(pages: NavigationItem[]) {
  const navigate = useNavigate()
  useEffect(() => {
    let startedAt = 0
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return
      const key = event.key.toLowerCase()
      if (key === 'g') {
        startedAt = event.timeStamp
        return
      }
      const page = pages.find((page) => page.key === key)
      if (page && event.timeStamp - startedAt < SEQUENCE_MS) {
        event.preventDefault()
        void navigate({ to: page.path })
      }
      startedAt = 0
    }
    // Before the keys of the page: of `G R` the second must not act on the page.
    window.addEventListener('keydown', onKey, { capture: true })
    return () => window.removeEventListener('keydown', onKey, { capture: true })
  }, [pages, navigate])
}

/** Single letters never act while somebody types; in a checkbox nobody types. */
export function isTyping(event: KeyboardEvent) {
  const target = event.target
  if (target instanceof HTMLInputElement) return target.type !== 'checkbox'
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(textarea|select)$/i.test(target.tagName))
  )
}

/** Single letters that act on the page. Keys are given in lower case, as `event.key` says them. */
export function usePageKeys(actions: Record<string, (() => void) | undefined>) {
  const latest = useRef(actions)
  useEffect(() => {
    latest.current = actions
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isTyping(event)) return
      if (event.ctrlKey || event.metaKey || event.altKey) return
      const act = latest.current[event.key.toLowerCase()]
      if (!act) return
      event.preventDefault()
      act()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}
