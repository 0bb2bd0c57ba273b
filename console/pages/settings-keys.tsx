import { ActionIcon, Button, Checkbox, TextInput } from '@mantine/core'
import { IconAlertTriangle, IconKey, IconPlus, IconTrash, IconX } from '../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { Trans } from '../texts/trans.tsx'
import { useTranslation } from '../texts/translate.ts'
import type { ApiKey } from '../../src/contract/credentials.ts'
import { SCOPES, type KeyScope } from '../../src/contract/roles.ts'
import { keysQuery, makeKey, revokeKey, type NewKey } from '../api/keys.ts'
import { CopyRow } from '../components/copy-row.tsx'
import { useForm } from '../components/form.ts'
import { Empty, Loaded } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { PageHead } from '../shell/page-head.tsx'
import classes from '../setup/settings.module.css'
import { ConfirmWindow, FormWindow, SubmitRow } from '../components/windows.tsx'
import { SettingsColumns, SettingsTable } from '../setup/settings-frame.tsx'
import { ErrorMessage } from '../components/error-message.tsx'

export function SettingsKeysPage() {
  const { t } = useTranslation()
  const { data: keys, error, refetch } = useQuery(keysQuery)
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<NewKey>()
  return (
    <>
      <PageHead title={t('settings.keys.title')} lede={t('settings.keys.lede')}>
        <a href="/docs" className="button">
          {t('settings.keys.docs')}
        </a>
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setMaking(true)}>
          {t('words.createAKey')}
        </Button>
      </PageHead>
      <SettingsColumns>
        {made && <MadeKey made={made} onClose={() => setMade(undefined)} />}
        <Loaded
          query={{ data: keys, error, refetch }}
          empty={
            <Empty
              title={t('settings.keys.none')}
              actions={
                <button type="button" className="button" onClick={() => setMaking(true)}>
                  {t('words.createAKey')}
                </button>
              }
            >
              {t('settings.keys.noneHint')}
            </Empty>
          }
        >
          {(keys) => <KeyTable keys={keys} />}
        </Loaded>
      </SettingsColumns>
      <FormWindow isOpen={isMaking} onClose={() => setMaking(false)} title={t('words.createAKey')}>
        <KeyForm
          onDone={(key) => {
            setMade(key)
            setMaking(false)
          }}
        />
      </FormWindow>
    </>
  )
}

const holdsAll = ({ scopes }: Pick<ApiKey, 'scopes'>) => SCOPES.every((one) => scopes.includes(one))

function Scopes({ scopes }: Pick<ApiKey, 'scopes'>) {
  const { t } = useTranslation()
  if (holdsAll({ scopes }))
    return <span className="chip amber">{t('words.everythingInSentence')}</span>
  return (
    <span className="row" style={{ flexWrap: 'wrap', gap: 5, padding: '5px 0' }}>
      {scopes.map((scope) => (
        <span key={scope} className="chip">
          {t(`settings.keys.scopes.${keyOf(scope)}`)}
        </span>
      ))}
    </span>
  )
}

const keyOf = <S extends KeyScope>(scope: S) =>
  scope.replace(':', '_') as S extends `${infer A}:${infer B}` ? `${A}_${B}` : S

function KeyTable({ keys }: { keys: ApiKey[] }) {
  const { t } = useTranslation()
  const [revoked, setRevoked] = useState<ApiKey>()
  const [note, setNote] = useState<ReactNode>()
  const revoke = (key: ApiKey) =>
    void revokeKey(key).then(
      () => setNote(undefined),
      (error: unknown) => setNote(<ErrorMessage error={error} />),
    )
  return (
    <div className={`card ${classes.scroll}`}>
      <SettingsTable
        head={[
          t('words.name'),
          t('settings.keys.beginsWith'),
          t('settings.keys.may'),
          t('settings.keys.madeBy'),
          t('settings.keys.lastUsed'),
        ]}
      >
        {keys.map((key) => (
          <KeyRow key={key.apiKeyId} apiKey={key} onRevoke={() => setRevoked(key)} />
        ))}
      </SettingsTable>
      <p role="status" className="small clay" style={{ margin: note ? '8px 18px' : 0 }}>
        {note}
      </p>
      <PowerfulKeys keys={keys.filter(holdsAll)} />
      <ConfirmWindow
        isOpen={revoked !== undefined}
        title={t('settings.keys.revokeTitle', { name: revoked?.name ?? '' })}
        hint={t('settings.keys.revokeHint')}
        button={t('settings.keys.revoke')}
        onClose={() => setRevoked(undefined)}
        onConfirm={() => revoked && revoke(revoked)}
      />
    </div>
  )
}

function KeyRow({ apiKey, onRevoke }: { apiKey: ApiKey; onRevoke: () => void }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { name, prefix, scopes, createdUser, createdDate, lastUsedTime } = apiKey
  return (
    <tr>
      <td className="strong" dir="auto">
        {name}
      </td>
      <td className="mono soft">{prefix}…</td>
      <td>
        <Scopes scopes={scopes} />
      </td>
      <td className="soft">
        {createdUser === 'OPERATOR' ? t('settings.keys.operator') : createdUser},{' '}
        {format.day(createdDate)}
      </td>
      <td className="soft">
        {lastUsedTime ? format.moment(lastUsedTime) : t('words.neverInSentence')}
      </td>
      <td style={{ textAlign: 'right' }}>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t('settings.keys.revokeOf', { name })}
          onClick={onRevoke}
        >
          <IconTrash size={16} aria-hidden />
        </ActionIcon>
      </td>
    </tr>
  )
}

/** Warns about keys that may do everything. */
function PowerfulKeys({ keys }: { keys: ApiKey[] }) {
  if (keys.length === 0) return null
  return (
    <p className="notice row" style={{ margin: 0 }}>
      <IconAlertTriangle size={16} style={{ flex: 'none' }} aria-hidden />
      <span>
        <Trans
          i18nKey="settings.keys.powerful"
          values={{ count: keys.length, names: keys.map(({ name }) => name).join(', ') }}
          components={{ b: <b className="strong" /> }}
        />
      </span>
    </p>
  )
}

function KeyForm({ onDone }: { onDone: (key: NewKey) => void }) {
  const { t } = useTranslation()
  const [scopes, setScopes] = useState<string[]>(['scheduling:read', 'scheduling:write'])
  const form = useForm(
    async (value) =>
      onDone(await makeKey({ name: value('name').trim(), scopes: scopes as KeyScope[] })),
    ['name', 'scopes'],
  )
  return (
    <form onSubmit={form.onSubmit} className={classes.form}>
      <TextInput
        {...form.required('name')}
        label={t('words.name')}
        description={t('settings.keys.nameHint')}
        data-autofocus
      />
      <Checkbox.Group
        label={t('settings.keys.may')}
        value={scopes}
        onChange={setScopes}
        error={form.faultAt('scopes')}
      >
        <div className={classes.scopes} style={{ marginTop: 6 }}>
          {SCOPES.map((scope) => (
            <Checkbox key={scope} value={scope} label={t(`settings.keys.scopes.${keyOf(scope)}`)} />
          ))}
        </div>
      </Checkbox.Group>
      <SubmitRow label={t('words.createAKey')} form={form} disabled={scopes.length === 0} />
    </form>
  )
}

function MadeKey({ made, onClose }: { made: NewKey; onClose: () => void }) {
  const { t } = useTranslation()
  return (
    <section className={`card ${classes.made}`}>
      <div className="row">
        <IconKey size={18} className="accent" aria-hidden />
        <h2 className="serif grow" style={{ margin: 0, fontSize: 17, fontWeight: 580 }} dir="auto">
          {t('settings.keys.made', { name: made.name })}
        </h2>
        <ActionIcon variant="subtle" color="gray" aria-label={t('words.close')} onClick={onClose}>
          <IconX size={17} aria-hidden />
        </ActionIcon>
      </div>
      <p className="soft" style={{ margin: '4px 0 12px' }}>
        {t('settings.keys.copyNow')}
      </p>
      <CopyRow value={made.key} name="key" label={t('settings.keys.copy')} />
      <details style={{ marginTop: 12 }}>
        <summary className="soft small">{t('settings.keys.try')}</summary>
        <pre className={classes.code}>
          {`curl ${location.origin}/calendar?limit=5 \\\n  -H "Authorization: Bearer $KEY"`}
        </pre>
      </details>
    </section>
  )
}
