import { Button, Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { clientQuery, clientsQuery, nameOf } from '../api/clients.ts'
import classes from './clients.module.css'

const TYPING_MS = 250

type Props = {
  label: string
  /** Takes the focus while nobody is chosen. */
  isFirst?: boolean
  value: number | undefined
  error: string | undefined
  onChange: (clientId: number) => void
  /** Adds a client with the typed name; absent: only known ones can be chosen. */
  onNew?: (name: string) => void
}

/** The service searches clients while the user types: a business may have a million. */
export function ClientSelect({ label, isFirst, value, error, onChange, onNew }: Props) {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  /** The field forgets its text when it loses the focus, for example to the button. */
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(text, TYPING_MS)
  const [picked, setPicked] = useState<{ value: string; label: string }>()
  const chosen = picked?.value === String(value) ? picked : undefined
  /** Whether it was chosen before the form opened, or added. */
  const isGiven = value !== undefined && !chosen
  const { data } = useInfiniteQuery({
    ...clientsQuery(text === chosen?.label ? '' : search),
    placeholderData: keepPreviousData,
  })
  const found = (data?.pages ?? []).flatMap(({ items }) =>
    items.map((client) => ({
      value: String(client.clientId),
      label: client.emailAddress
        ? `${nameOf(client)} · ${client.emailAddress}`
        : `${nameOf(client)} · ${t('clients.noAddress')}`,
    })),
  )
  const { data: given } = useQuery({ ...clientQuery(value ?? 0), enabled: isGiven })
  const shown = chosen ?? (given && { value: String(given.clientId), label: nameOf(given) })
  const options =
    shown && !found.some((one) => one.value === shown.value) ? [shown, ...found] : found
  return (
    <div className={onNew && classes.client}>
      <Select
        label={label}
        placeholder={t('calendar.chooseClient')}
        // For the panel next to the calendar. A drawer uses the attribute to set the focus.
        autoFocus={isFirst === true && value === undefined}
        data-autofocus={isFirst}
        searchable
        openOnFocus={false}
        allowDeselect={false}
        value={value ? String(value) : null}
        error={error}
        data={options}
        filter={({ options: all }) => all}
        nothingFoundMessage={t('words.noClientFound')}
        searchValue={text}
        onSearchChange={(next) => {
          setText(next)
          if (next !== '') setTyped(next)
        }}
        onChange={(clientId, option) => {
          if (!clientId || !option) return
          setPicked({ value: clientId, label: option.label })
          onChange(Number(clientId))
        }}
      />
      {onNew && (
        <Button variant="default" onClick={() => onNew(shown ? '' : typed)}>
          {t('desk.newClient')}
        </Button>
      )}
    </div>
  )
}
