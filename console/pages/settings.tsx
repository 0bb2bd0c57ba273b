import { Outlet } from '@tanstack/react-router'
import { Suspense } from 'react'
import { Loading } from '../components/states.tsx'

/** The frame of the settings; each page renders its own head and the list of settings. */
export function SettingsPage() {
  return (
    <Suspense fallback={<Loading />}>
      <Outlet />
    </Suspense>
  )
}
