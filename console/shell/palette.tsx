import { useHotkeys } from '@mantine/hooks'
import { lazy, Suspense, useState } from 'react'
import type { NavigationItem } from './navigation.ts'

const PaletteWindow = lazy(() => import('./palette-window.tsx'))

/** Opens the palette; loaded when it is first asked for. */
export function usePalette(pages: NavigationItem[]) {
  const [openings, setOpenings] = useState(0)
  const open = () => setOpenings((count) => count + 1)
  useHotkeys([['mod+K', open]], [])
  const palette = openings > 0 && (
    <Suspense>
      <PaletteWindow key={openings} pages={pages} />
    </Suspense>
  )
  return { open, palette }
}
