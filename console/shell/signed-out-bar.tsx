import { IconLogout } from '../components/icons.tsx'
import { useLocation, useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useEndOfSession } from '../api/session.ts'
import { LoadAgain, SignInAgain } from '../components/sign-in-again.tsx'

/** If the session has ended, opens the sign-in; on a page that may have unsaved text, offers it. */
export function SignedOutBar() {
  const end = useEndOfSession()
  const isUsed = useIsPageUsed()
  const router = useRouter()
  useEffect(() => {
    if (!end || isUsed.current) return
    if (end === 'replaced') return window.location.reload()
    void router.navigate({ to: '/sign-in', search: { next: router.latestLocation.href } })
  }, [end, isUsed, router])
  if (!end) return null
  return (
    <div className="notice">
      <IconLogout size={18} aria-hidden />
      <span role="status">{end === 'replaced' ? <LoadAgain /> : <SignInAgain />}</span>
    </div>
  )
}

/** Whether the user has clicked or typed since the page was opened. */
function useIsPageUsed() {
  const isUsed = useRef(false)
  const { pathname } = useLocation()
  useEffect(() => {
    isUsed.current = false
    const onUse = () => {
      isUsed.current = true
    }
    document.addEventListener('click', onUse)
    document.addEventListener('input', onUse)
    return () => {
      document.removeEventListener('click', onUse)
      document.removeEventListener('input', onUse)
    }
  }, [pathname])
  return isUsed
}
