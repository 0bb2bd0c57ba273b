import { useHotkeys } from '@mantine/hooks'
import { lazy, Suspense, useState, type ReactNode } from 'react'
import type { PaletteProps } from './palette-window.tsx'

const PaletteWindow = lazy(async () => {
  const { PaletteWindow } = await import('./palette-window.tsx')
  return { default: PaletteWindow }
})

/** Opens the palette, which is loaded on first use. */
export function usePalette(props: PaletteProps): { open: () => void; palette: ReactNode } {
  const [openings, setOpenings] = useState(0)
  const open = () => setOpenings((count) => count + 1)
  useHotkeys([['mod+K', open]], [])
  const palette = openings > 0 && (
    <Suspense>
      <PaletteWindow key={openings} {...props} />
    </Suspense>
  )
  return { open, palette }
}
