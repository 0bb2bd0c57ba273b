import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { NavigationItem } from './navigation.ts'
import { NEW_APPOINTMENT, NEW_AUTOMATION } from './places.ts'

/** The second key must follow the first within this time. */
const SEQUENCE_MS = 1_500

const SWITCH = 'bellwether.single-keys'

/** Whether single-character shortcuts are on; users of speech input may want them off. */
export const areSingleKeysOn = () => localStorage.getItem(SWITCH) !== 'off'
export const switchSingleKeys = (isOn: boolean) => localStorage.setItem(SWITCH, isOn ? 'on' : 'off')

type Options = { pages: NavigationItem[]; functions: readonly string[]; onHelp: () => void }

/** The keys that work on every page: `G` and a letter, `/`, `?`, `B` and `N`. */
export function useShellKeys({ pages, functions, onHelp }: Options) {
  const navigate = useNavigate()
  useEffect(() => {
    let startedAt = -SEQUENCE_MS
    const goTo = (key: string) => {
      const page = pages.find((page) => page.key === key)
      if (page) void navigate({ to: page.path })
      return page !== undefined
    }
    const act: Record<string, () => boolean> = {
      '/': focusSearchField,
      '?': () => (onHelp(), true),
      b: () =>
        functions.includes('EDIT_SCHEDULE') && (void navigate({ href: NEW_APPOINTMENT }), true),
      n: () =>
        functions.includes('EDIT_DEFINITIONS') && (void navigate({ href: NEW_AUTOMATION }), true),
    }
    const onSequence = (event: KeyboardEvent) => {
      if (!isSingleKey(event)) return
      const key = event.key.toLowerCase()
      const follows = event.timeStamp - startedAt < SEQUENCE_MS
      startedAt = key === 'g' && !follows ? event.timeStamp : -SEQUENCE_MS
      if (follows && goTo(key)) event.preventDefault()
    }
    const onKey = (event: KeyboardEvent) => {
      if (!isSingleKey(event) || event.defaultPrevented) return
      if (act[event.key.toLowerCase()]?.()) event.preventDefault()
    }
    // Runs before the page's shortcuts, so that the `R` of `G R` does not trigger one.
    window.addEventListener('keydown', onSequence, { capture: true })
    // Runs after the page's shortcuts, which call preventDefault on keys they handle.
    window.addEventListener('keydown', onKey)
    return () => {
      window.removeEventListener('keydown', onSequence, { capture: true })
      window.removeEventListener('keydown', onKey)
    }
  }, [pages, functions, onHelp, navigate])
}

/** Stops single-character shortcuts if they are off, before any other listener. */
export function useSingleKeySwitch() {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isSingleKey(event) && !areSingleKeysOn()) event.stopImmediatePropagation()
    }
    window.addEventListener('keydown', onKey, { capture: true })
    return () => window.removeEventListener('keydown', onKey, { capture: true })
  }, [])
}

/** A character typed outside of a field, except space, which presses buttons. */
const isSingleKey = (event: KeyboardEvent) =>
  event.key.length === 1 &&
  event.key !== ' ' &&
  !event.ctrlKey &&
  !event.metaKey &&
  !event.altKey &&
  !isTyping(event)

/** True for elements that take text; shortcuts are ignored there. */
function isTyping({ target }: KeyboardEvent) {
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement) return !TEXTLESS.test(target.type)
  return target.isContentEditable || /^(textarea|select)$/i.test(target.tagName)
}

const TEXTLESS = /^(checkbox|radio|button|submit|reset|range|file|color)$/

/** Single-letter shortcuts of the page, in lower case as in `event.key`. */
export function usePageKeys(actions: Record<string, (() => void) | undefined>) {
  const latest = useRef(actions)
  useEffect(() => {
    latest.current = actions
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isTyping(event) || isPress(event)) return
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

/** Space on a control presses it. */
const isPress = ({ key, target }: KeyboardEvent) =>
  key === ' ' && target instanceof Element && target.closest('button, input') !== null

/** The search field of a page is its first text field. */
function focusSearchField() {
  const field = document.querySelector<HTMLInputElement>(
    '#page input:is([type=search], [type=text], :not([type])):not([aria-haspopup], [readonly], [disabled])',
  )
  field?.focus()
  field?.select()
  return field !== null
}
