import { Button, Group, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { eraseClient, nameOf, readClientData, type Client } from '../api/clients.ts'
import { useSession } from '../api/session.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { showNotice } from '../components/held-actions.tsx'
import { saveFile } from '../components/save-file.ts'
import { Failure } from '../components/states.tsx'
import { FormWindow } from '../components/windows.tsx'
import { Section } from '../objects/object-parts.tsx'

/** A copy of everything that is stored about the client, and its erasure. */
export function Privacy({ client }: { client: Client }) {
  const { t } = useTranslation()
  const { functions } = useSession()
  const [isErasing, setErasing] = useState(false)
  const canRead = functions.includes('VIEW_AUDIT')
  const canErase = functions.includes('MANAGE_BUSINESS')
  const copy = useMutation({
    mutationFn: async () => {
      const data = await readClientData(client.clientId)
      saveFile(`client-${client.clientId}.json`, JSON.stringify(data, null, 2), 'application/json')
    },
  })
  if (!canRead && !canErase) return null
  return (
    <Section title={t('privacy.title')}>
      <Group gap={8}>
        {canRead && (
          <Button variant="default" loading={copy.isPending} onClick={() => copy.mutate()}>
            {t('privacy.copy')}
          </Button>
        )}
        {canErase && (
          <Button variant="default" color="clay" onClick={() => setErasing(true)}>
            {t('privacy.erase')}
          </Button>
        )}
      </Group>
      {copy.error && <Failure title={t('errors.notDone')} error={copy.error} />}
      <EraseWindow client={client} isOpen={isErasing} onClose={() => setErasing(false)} />
    </Section>
  )
}

type EraseProps = { client: Client; isOpen: boolean; onClose: () => void }

/** Asks for the name of the client, because an erasure cannot be undone. */
function EraseWindow({ client, isOpen, onClose }: EraseProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const name = nameOf(client)
  const erase = useMutation({
    mutationFn: () => eraseClient(client.clientId),
    onSuccess: () => {
      onClose()
      showNotice(t('privacy.erased'))
      void navigate({ to: '/clients' })
    },
  })
  return (
    <FormWindow isOpen={isOpen} title={t('privacy.erase')} onClose={onClose}>
      <form
        className="column"
        style={{ gap: 12 }}
        onSubmit={(event) => {
          event.preventDefault()
          erase.mutate()
        }}
      >
        <p style={{ margin: 0 }}>{t('privacy.eraseHint')}</p>
        <TextInput
          label={t('privacy.typeName', { name })}
          value={typed}
          autoComplete="off"
          dir="auto"
          data-autofocus
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Group gap={8}>
          <Button
            type="submit"
            color="clay"
            loading={erase.isPending}
            disabled={typed.trim() !== name.trim()}
          >
            {t('privacy.eraseNow')}
          </Button>
          <span role="alert" className="small clay">
            {erase.error && <ErrorMessage error={erase.error} />}
          </span>
        </Group>
      </form>
    </FormWindow>
  )
}
