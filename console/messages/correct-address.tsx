import { Button } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { useSession } from '../api/session.ts'
import { meaningOf, type Meaning } from './meaning.ts'

const AddressWindow = lazy(async () => {
  const { AddressWindow } = await import('./address-window.tsx')
  return { default: AddressWindow }
})

const ABOUT_ADDRESS = new Set<Meaning>([
  'unknownMailbox',
  'unknownDomain',
  'badAddress',
  'mailboxDisabled',
])

type Props = {
  clientId: number | null | undefined
  /** The address that the mail went to. */
  to: string | null | undefined
  /** The last reply of the mail server. */
  reply: string | null | undefined
}

/** Offers to change the address of the client if a mail was refused because of it. */
export function CorrectAddress({ clientId, to, reply }: Props) {
  const { t } = useTranslation()
  const { functions } = useSession()
  const [isOpen, setOpen] = useState(false)
  const isAboutAddress = reply && ABOUT_ADDRESS.has(meaningOf({ phase: 'recipient', reply }))
  if (!clientId || !isAboutAddress || !functions.includes('EDIT_SCHEDULE')) return null
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
        {t('correctAddress.button')}
      </Button>
      {isOpen && (
        <Suspense>
          <AddressWindow clientId={clientId} to={to} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
