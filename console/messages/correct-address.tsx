import { Button, Modal, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { clientQuery, saveClient, type Client } from '../api/clients.ts'
import { useSession } from '../api/session.ts'
import { faultAt } from '../components/faults.ts'
import { messageOf } from '../components/form.ts'
import { Failure, Loading } from '../components/states.tsx'
import { meaningOf, type Meaning } from './meaning.ts'

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

/** If a mail was refused because of its address: changes the address of the client. */
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
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title={t('correctAddress.button')}
        centered
      >
        <Correction clientId={clientId} to={to} onClose={() => setOpen(false)} />
      </Modal>
    </>
  )
}

type CorrectionProps = { clientId: number; to: Props['to']; onClose: () => void }

function Correction({ clientId, to, onClose }: CorrectionProps) {
  const { data, error, refetch } = useQuery(clientQuery(clientId))
  if (data) return <AddressForm client={data} to={to} onClose={onClose} />
  return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading lines={2} />
}

type FormProps = { client: Client; to: Props['to']; onClose: () => void }

function AddressForm({ client, to, onClose }: FormProps) {
  const { t } = useTranslation()
  /** It was corrected already, or the mail went to another person. */
  const [isOther] = useState(to && to.toLowerCase() !== client.emailAddress?.toLowerCase())
  const [address, setAddress] = useState(client.emailAddress ?? '')
  const save = useMutation({
    mutationFn: () =>
      saveClient({ clientId: client.clientId, emailAddress: address.trim() || null }),
  })
  const fault = faultAt(save.error, 'emailAddress')
  return (
    <form
      className="column"
      style={{ gap: 14 }}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate()
      }}
    >
      <TextInput
        data-autofocus
        type="email"
        label={t('clients.emailAddress')}
        description={`${client.firstName} ${client.lastName}`}
        value={address}
        error={fault ?? (save.error ? messageOf(save.error, t) : undefined)}
        onChange={(event) => {
          setAddress(event.currentTarget.value)
          save.reset()
        }}
      />
      <p role="status" className="soft small" style={{ margin: 0 }}>
        {save.isSuccess
          ? t('correctAddress.saved')
          : t(isOther ? 'correctAddress.other' : 'correctAddress.hint', { to })}
      </p>
      <div className="row" style={{ justifyContent: 'flex-end' }}>
        <Button variant="default" onClick={onClose}>
          {t(save.isSuccess ? 'correctAddress.close' : 'client.cancel')}
        </Button>
        {!save.isSuccess && (
          <Button
            type="submit"
            loading={save.isPending}
            disabled={address.trim() === (client.emailAddress ?? '')}
          >
            {t('correctAddress.save')}
          </Button>
        )}
      </div>
    </form>
  )
}
