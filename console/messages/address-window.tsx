import { Button, Modal, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { clientKind, type Client, type ClientFields } from '../api/clients.ts'
import { Failure, Loading } from '../components/states.tsx'
import { differencesOf } from '../records/changes.ts'
import { RecordConflict } from '../records/conflict.tsx'
import { leaveThen } from '../records/leave.ts'
import { SaveError } from '../records/save-error.tsx'
import { useRecord, type EditedRecord } from '../records/use-record.ts'

type Props = {
  clientId: number
  /** The address that the mail went to. */
  to: string | null | undefined
  onClose: () => void
}

/** Changes the address of a client. */
export function AddressWindow({ clientId, to, onClose }: Props) {
  const { t } = useTranslation()
  const record = useRecord({ kind: clientKind, id: clientId })
  return (
    <Modal opened onClose={() => leaveThen(onClose)} title={t('correctAddress.button')} centered>
      {record.isReady && record.item ? (
        <AddressForm record={record} client={record.item} to={to} onClose={onClose} />
      ) : record.readError ? (
        <Failure error={record.readError} onRetry={record.readAgain} />
      ) : (
        <Loading lines={2} />
      )}
    </Modal>
  )
}

type FormProps = {
  record: EditedRecord<Client, ClientFields>
  client: Client
  to: Props['to']
  onClose: () => void
}

function AddressForm({ record, client, to, onClose }: FormProps) {
  const { t } = useTranslation()
  /** The address was corrected already, or the mail went to another person. */
  const [isOther] = useState(to && to.toLowerCase() !== client.emailAddress?.toLowerCase())
  const { isSaved, isSaving } = record
  const address = record.form.at('emailAddress')
  return (
    <form
      className="column"
      style={{ gap: 14 }}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        record.save()
      }}
    >
      <TextInput
        data-autofocus
        type="email"
        label={t('clients.emailAddress')}
        description={`${client.firstName} ${client.lastName}`}
        value={address.value ?? ''}
        error={address.error || (record.formError ? <SaveError record={record} /> : undefined)}
        onChange={(event) => address.onChange(event.currentTarget.value || null)}
      />
      <RecordConflict
        record={record}
        modifiedOf={(one) => one}
        differences={(from, to) =>
          differencesOf(from, to, {
            label: () => t('clients.emailAddress'),
            value: (_name, draft) => draft.emailAddress ?? '',
          })
        }
      />
      <p role="status" className="soft small" style={{ margin: 0 }}>
        {isSaved
          ? t('correctAddress.saved')
          : isOther && to
            ? t('correctAddress.other', { to })
            : t('correctAddress.hint')}
      </p>
      <div className="row" style={{ justifyContent: 'flex-end' }}>
        <Button variant="default" onClick={onClose}>
          {t(isSaved ? 'words.close' : 'client.cancel')}
        </Button>
        {!isSaved && (
          <Button
            type="submit"
            loading={isSaving}
            disabled={record.count === 0 || record.conflict !== undefined}
          >
            {t('correctAddress.save')}
          </Button>
        )}
      </div>
    </form>
  )
}
