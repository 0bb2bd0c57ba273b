import { Button, Textarea, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { saveClient, type Client } from '../api/clients.ts'
import { ProblemError } from '../../src/client/client.ts'
import { faultAt } from '../components/faults.ts'
import classes from './clients.module.css'
import { readTags, writeTags } from './tags.ts'

type Props = { client?: Client; onSaved: (saved: Client) => void; onClose: () => void }

const FIELDS = ['firstName', 'lastName', 'emailAddress', 'phone', 'language', 'timeZone'] as const
const HINTS = { language: 'client.languageHint', timeZone: 'client.timeZoneHint' } as const
const REQUIRED = ['firstName', 'lastName']

/** The form of a client; errors are shown at their fields. */
export function ClientForm({ client, onSaved, onClose }: Props) {
  const { t } = useTranslation()
  const [values, setValues] = useState<Record<string, string>>(() =>
    Object.fromEntries(FIELDS.map((field) => [field, client?.[field] ?? ''])),
  )
  const [tags, setTags] = useState(() => writeTags(client?.tags ?? {}))
  const read = readTags(tags)
  const save = useMutation({
    mutationFn: () =>
      saveClient({
        ...(client && { clientId: client.clientId }),
        ...Object.fromEntries(
          FIELDS.map((field) => {
            const value = values[field]!.trim()
            // Without a name the service says that it is required.
            return [field, value === '' ? null : value]
          }),
        ),
        ...(read && { tags: read }),
      }),
    onSuccess: onSaved,
  })
  const { error } = save
  const isElsewhere = error && !(error instanceof ProblemError && error.errors.length > 0)
  return (
    <form
      className="column"
      style={{ gap: 12 }}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (read) save.mutate()
      }}
    >
      <div className={classes.fields}>
        {FIELDS.map((field) => (
          <TextInput
            key={field}
            label={t(LABELS[field])}
            description={field in HINTS ? t(HINTS[field as keyof typeof HINTS]) : undefined}
            required={REQUIRED.includes(field)}
            type={field === 'emailAddress' ? 'email' : field === 'phone' ? 'tel' : 'text'}
            dir="auto"
            value={values[field]!}
            error={faultAt(error, field)}
            onChange={(event) => setValues({ ...values, [field]: event.currentTarget.value })}
          />
        ))}
        <Textarea
          label={t('clients.tags')}
          description={t('client.tagsHint')}
          autosize
          minRows={2}
          value={tags}
          error={read ? faultAt(error, 'tags') : t('client.tagsFault')}
          onChange={(event) => setTags(event.currentTarget.value)}
        />
      </div>
      {isElsewhere && (
        <p role="alert" className="clay small" style={{ margin: 0 }}>
          {error.message}
        </p>
      )}
      <div className="row">
        <Button type="submit" loading={save.isPending}>
          {t('client.save')}
        </Button>
        <Button variant="default" onClick={onClose}>
          {t('client.cancel')}
        </Button>
      </div>
    </form>
  )
}

const LABELS = {
  firstName: 'client.firstName',
  lastName: 'client.lastName',
  emailAddress: 'clients.emailAddress',
  phone: 'clients.phone',
  language: 'clients.language',
  timeZone: 'client.timeZone',
} as const
