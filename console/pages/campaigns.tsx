import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import {
  campaignKind,
  campaignsQuery,
  invitationKind,
  invitationsQuery,
  type Campaign,
  type CampaignFields,
  type Invitation,
} from '../api/objects.ts'
import { VisitMarks } from '../calendar/visit.tsx'
import { Empty } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { ClientField, MomentField, StatusField } from '../objects/fields.tsx'
import { ObjectPage } from '../objects/object-page.tsx'
import {
  ClientLink,
  MessagesAndWhy,
  NewButton,
  Section,
  useStatusLabel,
} from '../objects/object-parts.tsx'
import { ObjectTable, type Column } from '../objects/object-table.tsx'
import { recordQuery } from '../records/editor.ts'
import type { Form } from '../records/use-record.ts'
import { LineField, TextField } from '../setup/fields.tsx'
import { PageHead } from '../shell/page-head.tsx'

const CAMPAIGN = { kind: campaignKind, labels: 'objects.fields' }
const INVITATION = {
  kind: invitationKind,
  labels: 'objects.fields',
}

/** The campaigns that clients are invited to. */
export function CampaignsPage() {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const navigate = useNavigate()
  const columns: Column<Campaign>[] = [
    {
      label: t('objects.name'),
      cell: ({ invitationCampaignId, name }) => (
        <Link
          to="/campaigns/$invitationCampaignId"
          params={{ invitationCampaignId }}
          className="strong"
        >
          {name}
        </Link>
      ),
    },
    {
      label: t('campaigns.expiresTime'),
      cell: ({ expiresTime }) =>
        expiresTime === null ? t('campaigns.never') : format.day(expiresTime),
    },
    { label: t('words.bookingPage'), cell: ({ bookingUrl }) => bookingUrl },
  ]
  return (
    <>
      <PageHead title={t('campaigns.title')} lede={t('campaigns.lede')}>
        <NewButton
          {...CAMPAIGN}
          label={t('campaigns.new')}
          needs="EDIT_SETUP"
          fields={(form) => <CampaignFormFields form={form} />}
          onSaved={({ invitationCampaignId }) =>
            void navigate({
              to: '/campaigns/$invitationCampaignId',
              params: { invitationCampaignId },
            })
          }
        />
      </PageHead>
      <ObjectTable
        label={t('campaigns.title')}
        query={campaignsQuery}
        keyOf={({ invitationCampaignId }) => invitationCampaignId}
        columns={columns}
        empty={<Empty title={t('campaigns.none')}>{t('campaigns.noneHint')}</Empty>}
      />
    </>
  )
}

function CampaignFormFields({ form: { at } }: { form: Form<CampaignFields> }) {
  const { t } = useTranslation()
  return (
    <>
      <LineField {...at('name')} label={t('objects.name')} required data-autofocus />
      <TextField {...at('description')} label={t('campaigns.description')} />
      <MomentField {...at('expiresTime')} label={t('campaigns.expiresTime')} />
      <LineField
        {...at('bookingUrl')}
        type="url"
        label={t('words.bookingPage')}
        description={t('campaigns.bookingUrlHint')}
      />
    </>
  )
}

/** A campaign and its invitations. */
export function CampaignPage() {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { invitationCampaignId } = useParams({ from: '/shell/campaigns/$invitationCampaignId' })
  return (
    <ObjectPage
      {...CAMPAIGN}
      id={invitationCampaignId}
      needs="EDIT_SETUP"
      title={({ name }) => name}
      lede={({ expiresTime }) =>
        expiresTime === null
          ? t('campaigns.never')
          : t('campaigns.expiresOn', { time: format.moment(expiresTime) })
      }
      back={
        <Link to="/campaigns" className="small">
          {t('campaigns.title')}
        </Link>
      }
      fields={(form) => <CampaignFormFields form={form} />}
      readOnly={({ description }) => description}
    >
      {() => <Invitations invitationCampaignId={invitationCampaignId} />}
    </ObjectPage>
  )
}

function Invitations({ invitationCampaignId }: { invitationCampaignId: number }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const navigate = useNavigate()
  const labelOf = useStatusLabel('INVITATION')
  const columns: Column<Invitation>[] = [
    {
      label: t('words.client'),
      cell: ({ invitationUUID, clientName }) => (
        <Link to="/invitations/$invitationUUID" params={{ invitationUUID }} className="strong">
          {clientName}
        </Link>
      ),
    },
    { label: t('calendar.status'), cell: ({ status }) => labelOf(status) },
    {
      label: t('campaigns.invited'),
      cell: ({ createdDate }) => <span className="numbers">{format.day(createdDate)}</span>,
    },
    { label: t('words.messages'), cell: (item) => <VisitMarks visit={item} /> },
  ]
  return (
    <Section
      title={t('campaigns.invitations')}
      aside={
        <NewButton
          {...INVITATION}
          label={t('campaigns.invite')}
          needs="EDIT_SCHEDULE"
          suggested={{ invitationCampaignId }}
          fields={(form) => (
            <>
              <ClientField {...form.at('clientId')} />
              <MomentField {...form.at('expiresTime')} label={t('campaigns.expiresTime')} />
            </>
          )}
          onSaved={({ invitationUUID }) =>
            void navigate({ to: '/invitations/$invitationUUID', params: { invitationUUID } })
          }
        />
      }
    >
      <ObjectTable
        label={t('campaigns.invitations')}
        query={invitationsQuery({ invitationCampaignId })}
        keyOf={({ invitationUUID }) => invitationUUID}
        columns={columns}
        empty={<p className="soft small">{t('campaigns.noInvitations')}</p>}
      />
    </Section>
  )
}

/** An invitation of one client, with its messages. */
export function InvitationPage() {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const labelOf = useStatusLabel('INVITATION')
  const { invitationUUID } = useParams({ from: '/shell/invitations/$invitationUUID' })
  return (
    <ObjectPage
      {...INVITATION}
      id={invitationUUID}
      needs="EDIT_SCHEDULE"
      title={({ clientId }) => <ClientLink clientId={clientId} />}
      lede={({ invitationCampaignId, status, createdDate }) => (
        <>
          <CampaignLink invitationCampaignId={invitationCampaignId} />
          {' · '}
          {t('campaigns.invitedOn', { time: format.moment(createdDate), status: labelOf(status) })}
        </>
      )}
      back={
        <Link to="/campaigns" className="small">
          {t('campaigns.title')}
        </Link>
      }
      fields={({ at }) => (
        <>
          <StatusField {...at('status')} objectType="INVITATION" />
          <MomentField {...at('expiresTime')} label={t('campaigns.expiresTime')} />
        </>
      )}
      readOnly={({ status }) => labelOf(status)}
    >
      {({ createdDate }) => (
        <MessagesAndWhy
          kind={invitationKind}
          id={invitationUUID}
          anchor={{ text: t('campaigns.invitation'), time: createdDate }}
        />
      )}
    </ObjectPage>
  )
}

function CampaignLink({ invitationCampaignId }: { invitationCampaignId: number }) {
  const { data } = useQuery(recordQuery(campaignKind, invitationCampaignId))
  return (
    <Link to="/campaigns/$invitationCampaignId" params={{ invitationCampaignId }}>
      <bdi>{data?.item.name ?? '…'}</bdi>
    </Link>
  )
}
