import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/query-client.ts'
import { preloadFirstPage, router } from './router.tsx'
import { startTexts } from './texts/texts.ts'
import { theme } from './theme/theme.ts'
import { NoRightError } from './shell/needs.ts'
import './theme/style.css'

// Not every browser has Temporal yet.
if (!('Temporal' in globalThis)) await import('temporal-polyfill/global')

const texts = startTexts()
preloadFirstPage()
await texts

createRoot(document.getElementById('root')!, {
  // The page of a missing right is an answer, not a failure.
  onCaughtError: (error) => {
    // oxlint-disable-next-line no-console -- as React does by default
    if (!(error instanceof NoRightError)) console.error(error)
  },
}).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <MantineProvider theme={theme} defaultColorScheme="auto">
        <RouterProvider router={router} />
      </MantineProvider>
    </QueryClientProvider>
  </StrictMode>,
)
