import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
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
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [pages, navigate])
}

/** Single letters never act while somebody types. */
export function isTyping(event: KeyboardEvent) {
  const target = event.target
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  )
}
