import { useHotkeys } from '@mantine/hooks'
import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react'
import type { PaletteProps } from './palette-window.tsx'

const loadPalette = () => import('./palette-window.tsx')
const PaletteWindow = lazy(async () => ({ default: (await loadPalette()).PaletteWindow }))

/** Loads the palette after the page, so that letters typed right after the shortcut reach it. */
const LOADED_AFTER_MS = 2_000

/** Opens the palette. */
export function usePalette(props: PaletteProps): { open: () => void; palette: ReactNode } {
  const [openings, setOpenings] = useState(0)
  const open = () => setOpenings((count) => count + 1)
  useHotkeys([['mod+K', open]], [])
  useEffect(() => {
    const timer = setTimeout(() => void loadPalette().catch(() => {}), LOADED_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  const palette = openings > 0 && (
    <Suspense>
      <PaletteWindow key={openings} {...props} />
    </Suspense>
  )
  return { open, palette }
}
