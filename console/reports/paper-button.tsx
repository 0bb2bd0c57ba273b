import { Button } from '@mantine/core'
import { useEffect, useRef, type RefObject } from 'react'
import { IconPrinter } from '../components/icons.tsx'
import { useTranslation } from '../texts/translate.ts'

type Props = { frame: RefObject<HTMLIFrameElement | null> | undefined }

/**
 * Prints the framed page on paper, also by Ctrl P: browsers cut a frame at the end of a sheet if they print
 * the page around it.
 */
export function PaperButton({ frame }: Props) {
  const { t } = useTranslation()
  const print = () => frame?.current?.contentWindow?.print()
  const latest = useRef(print)
  useEffect(() => {
    latest.current = print
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, shiftKey } = event
      if (key.toLowerCase() !== 'p' || ctrlKey === metaKey || altKey || shiftKey) return
      event.preventDefault()
      latest.current()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
  return (
    <Button
      variant="default"
      leftSection={<IconPrinter size={17} stroke={1.7} aria-hidden />}
      disabled={!frame}
      onClick={print}
    >
      {t('reports.print')}
    </Button>
  )
}
