import { useEffect, useEffectEvent } from 'react'
import { isTyping } from '../shell/keys.ts'

/** `G` starts the way to another page; the letter that follows is not for this one. */
const SEQUENCE_MS = 1_500

/** Single keys of a page, such as `[` for the day before. */
export function usePageKeys(keys: Record<string, () => void>) {
  const act = useEffectEvent((key: string) => keys[key]?.())
  useEffect(() => {
    let goPressedAt = -SEQUENCE_MS
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return
      const key = event.key.toLowerCase()
      const isForNavigation = event.timeStamp - goPressedAt < SEQUENCE_MS
      goPressedAt = key === 'g' ? event.timeStamp : -SEQUENCE_MS
      if (!isForNavigation) act(key)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}
