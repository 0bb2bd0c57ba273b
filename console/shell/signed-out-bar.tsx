import { IconLogout } from '@tabler/icons-react'
import { useLocation, useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useHasSessionEnded } from '../api/session.ts'
import { SignInAgain } from '../components/sign-in-again.tsx'

/** If the session has ended, opens the sign-in; on a page that may have unsaved text, offers it. */
export function SignedOutBar() {
  const hasEnded = useHasSessionEnded()
  const isUsed = useIsPageUsed()
  const router = useRouter()
  useEffect(() => {
    if (!hasEnded || isUsed.current) return
    void router.navigate({ to: '/sign-in', search: { next: router.latestLocation.href } })
  }, [hasEnded, isUsed, router])
  if (!hasEnded) return null
  return (
    <div className="notice">
      <IconLogout size={18} aria-hidden />
      <span role="status">
        <SignInAgain />
      </span>
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
