import { Button, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconPlus, IconSearch } from '../components/icons.tsx'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { clientsQuery, nameOf, type Client } from '../api/clients.ts'
import { useSession } from '../api/session.ts'
import { ClientForm } from '../clients/client-form.tsx'
import { useRowKeys } from '../components/row-keys.ts'
import { readNextPage, ShowMore } from '../components/show-more.tsx'
import { LoadingRows } from '../components/skeletons.tsx'
import { Empty, Failure } from '../components/states.tsx'
import { PageHead } from '../shell/page-head.tsx'
import classes from '../clients/clients.module.css'

const TYPING_MS = 200

export function ClientsPage() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { functions } = useSession()
  const canAdd = functions.includes('EDIT_SCHEDULE')
  const { text = '' } = useSearch({ from: '/shell/clients' })
  const [typed, setTyped] = useState(text)
  const [isAdding, setAdding] = useState(false)
  const search = useDebouncedCallback((words: string) => {
    void navigate({ to: '/clients', search: words ? { text: words } : {}, replace: true })
  }, TYPING_MS)
  return (
    <>
      <PageHead title={t('clients.title')} lede={t('clients.lede')}>
        {canAdd && (
          <Button
            leftSection={<IconPlus size={15} aria-hidden />}
            onClick={() => setAdding(!isAdding)}
          >
            {t('clients.new')}
          </Button>
        )}
      </PageHead>
      {isAdding && (
        <section className={`card panel ${classes.newClient}`}>
          <header>
            <h2>{t('clients.new')}</h2>
          </header>
          <ClientForm
            onSaved={({ clientId }) =>
              void navigate({ to: '/clients/$clientId', params: { clientId: String(clientId) } })
            }
            onClose={() => setAdding(false)}
          />
        </section>
      )}
      <TextInput
        leftSection={<IconSearch size={15} aria-hidden />}
        placeholder={t('clients.find')}
        aria-label={t('clients.find')}
        maw={320}
        mb={14}
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value)
          search(event.currentTarget.value)
        }}
      />
      <List
        text={text}
        onAdd={canAdd ? () => setAdding(true) : undefined}
        onAll={() => {
          setTyped('')
          search('')
        }}
      />
    </>
  )
}

type ListProps = { text: string; onAdd: (() => void) | undefined; onAll: () => void }

function List({ text, onAdd, onAll }: ListProps) {
  const { t } = useTranslation()
  const list = useInfiniteQuery({ ...clientsQuery(text), placeholderData: keepPreviousData })
  const { data, error, refetch } = list
  useRowKeys(() => readNextPage(list))
  if (error && !data) {
    return <Failure title={t('errors.list')} error={error} onRetry={() => void refetch()} />
  }
  if (!data) return <LoadingRows />
  const clients = data.pages.flatMap((page) => page.items)
  if (clients.length === 0) {
    return <NoClient isSearch={text !== ''} onAdd={onAdd} onAll={onAll} />
  }
  return (
    <>
      <div className="card" role="table" aria-label={t('clients.title')}>
        <div role="rowgroup">
          <div role="row" className={`list-row list-head ${classes.row}`}>
            <span role="columnheader">{t('words.name')}</span>
            <span role="columnheader">{t('clients.emailAddress')}</span>
            <span role="columnheader">{t('words.phone')}</span>
            <span role="columnheader">{t('clients.tags')}</span>
          </div>
        </div>
        <div role="rowgroup">
          {clients.map((client) => (
            <Row key={client.clientId} client={client} />
          ))}
        </div>
      </div>
      <ShowMore list={list} mt={12} />
    </>
  )
}

type NoClientProps = Omit<ListProps, 'text'> & { isSearch: boolean }

function NoClient({ isSearch, onAdd, onAll }: NoClientProps) {
  const { t } = useTranslation()
  return (
    <Empty
      title={t(isSearch ? 'words.noClientFound' : 'clients.none')}
      actions={
        <>
          {isSearch ? (
            <button type="button" className="button" onClick={onAll}>
              {t('client.all')}
            </button>
          ) : (
            onAdd && (
              <Link to="/import" className="button">
                {t('words.importAFile')}
              </Link>
            )
          )}
          {onAdd && (
            <button type="button" className="button quiet" onClick={onAdd}>
              {t('clients.new')}
            </button>
          )}
        </>
      }
    >
      {t(isSearch ? 'clients.noneFoundHint' : 'clients.noneHint')}
    </Empty>
  )
}

function Row({ client }: { client: Client }) {
  const { t } = useTranslation()
  const tags = Object.values(client.tags ?? {}).flat()
  return (
    <div role="row" className={`list-row ${classes.row}`}>
      <span role="cell" className="ellipsis">
        <Link
          to="/clients/$clientId"
          params={{ clientId: String(client.clientId) }}
          className="strong"
          dir="auto"
        >
          {nameOf(client)}
        </Link>
      </span>
      <span role="cell" className={`ellipsis ${client.emailAddress ? '' : 'faint'}`}>
        {client.emailAddress ?? t('clients.noAddress')}
      </span>
      <span role="cell" className="ellipsis numbers soft">
        {client.phone}
      </span>
      <span role="cell" className="row">
        {tags.slice(0, 3).map((tag) => (
          <span key={tag} className="chip">
            {tag}
          </span>
        ))}
      </span>
    </div>
  )
}
