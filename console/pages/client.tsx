import { Button } from '@mantine/core'
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Trans } from '../texts/trans.tsx'
import { useTranslation } from '../texts/translate.ts'
import type { Appointment } from '../api/calendar.ts'
import {
  clearSuppression,
  clientAppointmentsQuery,
  clientQuery,
  nameOf,
  suppressionsQuery,
  type Client,
} from '../api/clients.ts'
import { messagesQuery } from '../api/messages.ts'
import { useSession } from '../api/session.ts'
import { setupQuery, type Setup } from '../api/setup.ts'
import { lookOf, statusLabel, useVisitDetails, VisitMarks } from '../calendar/visit.tsx'
import { ClientForm } from '../clients/client-form.tsx'
import classes from '../clients/clients.module.css'
import { Privacy } from '../clients/privacy.tsx'
import { markOf, Status } from '../components/mark.tsx'
import { LoadingColumns } from '../components/skeletons.tsx'
import { ShowMore } from '../components/show-more.tsx'
import { Empty, Failure, Loaded, Loading } from '../components/states.tsx'
import { tagsInWords } from '../components/tags.ts'
import { useTimeFormat } from '../components/time.ts'
import { PageHead, useNow } from '../shell/page-head.tsx'
import { languageName } from '../templates/languages.ts'

export function ClientPage() {
  const { t } = useTranslation()
  const { clientId } = useParams({ from: '/shell/clients/$clientId' })
  const { data: client, error, refetch } = useQuery(clientQuery(Number(clientId)))
  const { data: appointments } = useQuery(clientAppointmentsQuery(Number(clientId)))
  const { data: setup } = useQuery(setupQuery)
  if (error && !client) {
    return (
      <>
        <PageHead title={t('clients.title')} />
        <Failure error={error} onRetry={() => void refetch()} />
      </>
    )
  }
  if (!client) return <LoadingColumns hasHeading />
  return (
    <>
      <PageHead
        clientId={client.clientId}
        title={<span dir="auto">{nameOf(client)}</span>}
        lede={appointments && setup && <Lede visits={appointments} setup={setup} />}
      >
        <Link to="/clients" className="small">
          {t('client.all')}
        </Link>
      </PageHead>
      <div className="two-columns">
        <div className="column" style={{ gap: 20 }}>
          <Appointments clientId={client.clientId} />
          <Messages clientId={client.clientId} />
        </div>
        <div className="column" style={{ gap: 20 }}>
          <Details key={client.clientId} client={client} />
          <Consent client={client} />
          <Privacy client={client} />
        </div>
      </div>
    </>
  )
}

/** How many appointments the client has, and when the next one is. */
function Lede({ visits, setup }: { visits: Appointment[]; setup: Setup }) {
  const format = useTimeFormat()
  const next = visits.find(
    (visit) => visit.startTime > Date.now() && lookOf(visit, setup) !== 'off',
  )
  const count = visits.length
  if (!next) return <Trans i18nKey="client.lede" values={{ count }} components={{ b: <b /> }} />
  return (
    <Trans
      i18nKey="client.ledeNext"
      values={{ count, time: format.moment(next.startTime) }}
      components={{ b: <b /> }}
    />
  )
}

function Appointments({ clientId }: { clientId: number }) {
  const { t } = useTranslation()
  const { data: setup } = useQuery(setupQuery)
  const { data, error, refetch } = useQuery(clientAppointmentsQuery(clientId))
  const now = useNow()
  const firstAhead = data?.findIndex(({ startTime }) => startTime > now) ?? -1
  const ahead = firstAhead === -1 ? [] : (data ?? []).slice(firstAhead)
  const past = (data ?? []).slice(0, (data?.length ?? 0) - ahead.length).toReversed()
  return (
    <section className="card panel">
      <header>
        <h2>{t('client.appointments')}</h2>
      </header>
      {error && !data ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : !data || !setup ? (
        <Loading lines={4} />
      ) : data.length === 0 ? (
        <Empty title={t('client.noAppointments')} actions={<BookLink clientId={clientId} />}>
          {t('client.noAppointmentsHint')}
        </Empty>
      ) : (
        <div className={classes.scroll}>
          <VisitGroup title={t('client.ahead')} visits={ahead} setup={setup} />
          <VisitGroup title={t('client.past')} visits={past} setup={setup} />
        </div>
      )}
    </section>
  )
}

const SHOWN_VISITS = 50

type GroupProps = { title: string; visits: Appointment[]; setup: Setup }

/** Appointments in the order of their distance from now. */
function VisitGroup({ title, visits, setup }: GroupProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const detailsOf = useVisitDetails()
  const [shown, setShown] = useState(SHOWN_VISITS)
  if (visits.length === 0) return null
  return (
    <>
      <h3 className="eyebrow">{title}</h3>
      {visits.slice(0, shown).map((visit) => (
        <Link
          key={visit.calendarId}
          to="/calendar"
          search={{ day: format.isoDay(visit.startTime), appointment: visit.calendarId }}
          className={`list-row ${classes.visit}`}
        >
          <span className="numbers soft">{format.moment(visit.startTime)}</span>
          <span className="ellipsis">{detailsOf(visit)}</span>
          <span className="soft ellipsis">{statusLabel(setup, visit.status)}</span>
          <VisitMarks visit={visit} />
        </Link>
      ))}
      {visits.length > shown && (
        <Button variant="default" size="xs" my="xs" onClick={() => setShown(shown * 4)}>
          {t('words.showMore')}
        </Button>
      )}
    </>
  )
}

function BookLink({ clientId }: { clientId: number }) {
  const { t } = useTranslation()
  const { functions } = useSession()
  if (!functions.includes('EDIT_SCHEDULE')) return null
  return (
    <Link to="/calendar" search={{ book: true, client: clientId }} className="button">
      {t('palette.book')}
    </Link>
  )
}

/** Every message to the client, waiting ones first. */
function Messages({ clientId }: { clientId: number }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const list = useInfiniteQuery(messagesQuery({ clientId }))
  const messages = list.data?.pages.flatMap((page) => page.items)
  return (
    <section className="card panel">
      <header>
        <h2>{t('client.messages')}</h2>
      </header>
      <Loaded
        query={{ ...list, data: messages }}
        lines={4}
        empty={<NoMessage clientId={clientId} />}
      >
        {(messages) => (
          <div className={classes.scroll}>
            {messages.map((message) => (
              <Link
                key={message.eventTriggerId}
                to="/activity/$eventTriggerId"
                params={{ eventTriggerId: message.eventTriggerId }}
                search={{ client: clientId }}
                className={`list-row ${classes.message}`}
              >
                <span className="numbers soft">{format.moment(message.scheduledTime)}</span>
                <span className="ellipsis" dir="auto">
                  {message.email?.subject ??
                    message.templateName ??
                    message.description ??
                    t('editor.unnamed')}
                </span>
                <Status mark={markOf(message)} />
              </Link>
            ))}
            <ShowMore list={list} size="xs" my="xs" />
          </div>
        )}
      </Loaded>
    </section>
  )
}

function NoMessage({ clientId }: { clientId: number }) {
  const { t } = useTranslation()
  const { functions } = useSession()
  return (
    <Empty
      title={t('client.noMessages')}
      actions={
        <>
          <BookLink clientId={clientId} />
          {functions.includes('VIEW_DEFINITIONS') && (
            <Link to="/automations" className="button quiet">
              {t('activity.toAutomations')}
            </Link>
          )}
        </>
      }
    >
      {t('client.noMessagesHint')}
    </Empty>
  )
}

function Details({ client }: { client: Client }) {
  const { t } = useTranslation()
  const { functions } = useSession()
  const [isEditing, setEditing] = useState(false)
  const tags = tagsInWords(client.tags ?? {}).replaceAll('; ', '\n')
  const rows = [
    [t('clients.emailAddress'), client.emailAddress ?? t('clients.noAddress')],
    [t('words.phone'), client.phone],
    [t('words.language'), client.language && languageName(client.language)],
    [t('client.timeZone'), client.timeZone],
    [t('clients.tags'), tags],
  ] as const
  return (
    <section className="card panel">
      <header>
        <h2>{t('client.details')}</h2>
        {functions.includes('EDIT_SCHEDULE') && !isEditing && (
          <Button variant="default" size="xs" onClick={() => setEditing(true)}>
            {t('client.edit')}
          </Button>
        )}
      </header>
      {isEditing ? (
        <ClientForm
          clientId={client.clientId}
          onSaved={() => setEditing(false)}
          onClose={() => setEditing(false)}
        />
      ) : (
        <dl className={classes.details}>
          {rows
            .filter(([, value]) => value)
            .map(([label, value]) => (
              <div key={label} style={{ display: 'contents' }}>
                <dt>{label}</dt>
                <dd dir="auto" style={{ whiteSpace: 'pre-line' }}>
                  {value}
                </dd>
              </div>
            ))}
        </dl>
      )}
    </section>
  )
}

/** Whether mails to the client's address are sent, why not, and how to allow them again. */
function Consent({ client }: { client: Client }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { functions } = useSession()
  const { emailAddress } = client
  const mayRead = functions.includes('VIEW_EMAILS')
  const { data, error, refetch } = useQuery({
    ...suppressionsQuery(emailAddress ?? ''),
    enabled: mayRead && emailAddress !== null,
  })
  const clear = useMutation({ mutationFn: () => clearSuppression(emailAddress!) })
  if (!mayRead) return null
  return (
    <section className="card panel">
      <header>
        <h2>{t('client.consent')}</h2>
      </header>
      {emailAddress === null ? (
        <p className="soft small">{t('client.noAddress')}</p>
      ) : error && !data ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Loading lines={1} />
      ) : data.items.length === 0 ? (
        <p className="soft small">{t('client.mayBeWritten', { address: emailAddress })}</p>
      ) : (
        <>
          {data.items.map(({ reason, emailCategoryId, detail, createdDate }) => (
            <div key={`${reason} ${emailCategoryId}`} className="small" style={{ marginBottom: 8 }}>
              {t(`client.${reason}`, { day: format.day(createdDate) })}
              {detail && <div className="server-words refused">{detail}</div>}
            </div>
          ))}
          {functions.includes('EDIT_SUPPRESSIONS') && (
            <Button variant="default" loading={clear.isPending} onClick={() => clear.mutate()}>
              {t('client.clear')}
            </Button>
          )}
          {clear.error && <Failure title={t('errors.notDone')} error={clear.error} />}
        </>
      )}
    </section>
  )
}
