import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import type { ObjectType } from '../../src/contract/event-type.ts'
import { clientQuery, nameOf } from '../api/clients.ts'
import type { EventKind } from '../api/objects.ts'
import { useSession } from '../api/session.ts'
import { setupQuery } from '../api/setup.ts'
import type { SetupItem } from '../api/setup-objects.ts'
import { IconPlus } from '../components/icons.tsx'
import { FormWindow } from '../components/windows.tsx'
import type { RecordId } from '../records/kind.ts'
import { SetupForm, type FormProps } from '../setup/setup-window.tsx'
import { ObjectExplanations } from './object-explanations.tsx'
import { ObjectMessages } from './object-messages.tsx'

/** A card with a title. */
export function Section({
  title,
  aside,
  children,
}: {
  title: string
  aside?: ReactNode
  children: ReactNode
}) {
  return (
    <section className="card panel">
      <header>
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  )
}

type MessagesProps = {
  kind: Pick<EventKind<never, never>, 'objectType' | 'messages'>
  id: RecordId
  anchor?: { text: string; time: number } | undefined
}

/** The messages about an object, and why there are others or none. */
export function MessagesAndWhy({ kind, id, anchor }: MessagesProps) {
  const { t } = useTranslation()
  return (
    <>
      <Section title={t('words.messages')}>
        <ObjectMessages kind={kind} id={id} anchor={anchor} />
      </Section>
      <Section title={t('appointment.tabs.why')}>
        <ObjectExplanations objectType={kind.objectType} id={id} />
      </Section>
    </>
  )
}

type NewProps<Item extends SetupItem, Draft extends object> = FormProps<Item, Draft> & {
  label: string
  /** The right that it needs. */
  needs: 'EDIT_SCHEDULE' | 'EDIT_SETUP'
}

/** The button that opens the form of a new one. */
export function NewButton<Item extends SetupItem, Draft extends object>({
  label,
  needs,
  ...form
}: NewProps<Item, Draft>) {
  const { functions } = useSession()
  const [isOpen, setOpen] = useState(false)
  if (!functions.includes(needs)) return null
  return (
    <>
      <Button leftSection={<IconPlus size={15} aria-hidden />} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <FormWindow
        isOpen={isOpen}
        title={label}
        leaving={{ kind: form.kind }}
        onClose={() => setOpen(false)}
      >
        <SetupForm
          {...form}
          onSaved={(saved) => {
            setOpen(false)
            form.onSaved(saved)
          }}
        />
      </FormWindow>
    </>
  )
}

/** The label of a status, as the business calls it. */
export function useStatusLabel(objectType: ObjectType) {
  const { data: setup } = useQuery(setupQuery)
  return (status: string) =>
    setup?.statuses.find((one) => one.objectType === objectType && one.status === status)?.label ??
    status
}

/** The name of a client, which leads to their page. */
export function ClientLink({ clientId }: { clientId: number }) {
  const { data } = useQuery(clientQuery(clientId))
  return (
    <Link
      to="/clients/$clientId"
      params={{ clientId: String(clientId) }}
      className="strong"
      dir="auto"
    >
      {data ? nameOf(data) : '…'}
    </Link>
  )
}
