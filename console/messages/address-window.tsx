import { Button, Modal, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { clientQuery, saveClient, type Client } from '../api/clients.ts'
import { faultAt } from '../components/faults.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { Failure, Loading } from '../components/states.tsx'

type Props = {
  clientId: number
  /** The address that the mail went to. */
  to: string | null | undefined
  onClose: () => void
}

/** Changes the address of a client. */
export function AddressWindow({ clientId, to, onClose }: Props) {
  const { t } = useTranslation()
  const { data, error, refetch } = useQuery(clientQuery(clientId))
  return (
    <Modal opened onClose={onClose} title={t('correctAddress.button')} centered>
      {data ? (
        <AddressForm client={data} to={to} onClose={onClose} />
      ) : error ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : (
        <Loading lines={2} />
      )}
    </Modal>
  )
}

type FormProps = { client: Client; to: Props['to']; onClose: () => void }

function AddressForm({ client, to, onClose }: FormProps) {
  const { t } = useTranslation()
  /** The address was corrected already, or the mail went to another person. */
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
        error={fault ?? (save.error ? <ErrorMessage error={save.error} /> : undefined)}
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
