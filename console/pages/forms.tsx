import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import {
  disclaimerKind,
  disclaimersQuery,
  formKind,
  formsQuery,
  type Disclaimer,
  type DisclaimerForm,
  type FormFields,
} from '../api/objects.ts'
import { VisitMarks } from '../calendar/visit.tsx'
import { Empty } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { ClientField, StatusField } from '../objects/fields.tsx'
import { ObjectPage } from '../objects/object-page.tsx'
import {
  ClientLink,
  MessagesAndWhy,
  NewButton,
  Section,
  useStatusLabel,
} from '../objects/object-parts.tsx'
import { ObjectTable, type Column } from '../objects/object-table.tsx'
import classes from '../objects/objects.module.css'
import { recordQuery } from '../records/editor.ts'
import type { Form } from '../records/use-record.ts'
import { LineField, TextField } from '../setup/fields.tsx'
import { PageHead } from '../shell/page-head.tsx'

const FORM = { kind: formKind, labels: 'objects.fields' }
const DISCLAIMER = {
  kind: disclaimerKind,
  labels: 'objects.fields',
}

/** The forms that clients sign. */
export function FormsPage() {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const navigate = useNavigate()
  const columns: Column<DisclaimerForm>[] = [
    {
      label: t('objects.name'),
      cell: ({ disclaimerFormId, name }) => (
        <Link to="/forms/$disclaimerFormId" params={{ disclaimerFormId }} className="strong">
          {name}
        </Link>
      ),
    },
    {
      label: t('forms.changed'),
      cell: ({ modifiedDate }) => <span className="numbers">{format.day(modifiedDate)}</span>,
    },
  ]
  return (
    <>
      <PageHead title={t('forms.title')} lede={t('forms.lede')}>
        <NewButton
          {...FORM}
          label={t('forms.new')}
          needs="EDIT_SETUP"
          fields={(form) => <Fields form={form} />}
          onSaved={({ disclaimerFormId }) =>
            void navigate({ to: '/forms/$disclaimerFormId', params: { disclaimerFormId } })
          }
        />
      </PageHead>
      <ObjectTable
        label={t('forms.title')}
        query={formsQuery}
        keyOf={({ disclaimerFormId }) => disclaimerFormId}
        columns={columns}
        empty={<Empty title={t('forms.none')}>{t('forms.noneHint')}</Empty>}
      />
    </>
  )
}

function Fields({ form: { at } }: { form: Form<FormFields> }) {
  const { t } = useTranslation()
  return (
    <>
      <LineField {...at('name')} label={t('objects.name')} required data-autofocus />
      <TextField
        {...at('body')}
        label={t('forms.body')}
        description={t('forms.bodyHint')}
        minRows={6}
        maxRows={24}
      />
    </>
  )
}

/** A form, and who has signed it. */
export function FormPage() {
  const { t } = useTranslation()
  const { disclaimerFormId } = useParams({ from: '/shell/forms/$disclaimerFormId' })
  return (
    <ObjectPage
      {...FORM}
      id={disclaimerFormId}
      needs="EDIT_SETUP"
      title={({ name }) => name}
      lede={() => t('forms.oneLede')}
      back={
        <Link to="/forms" className="small">
          {t('forms.title')}
        </Link>
      }
      fields={(form) => <Fields form={form} />}
      readOnly={({ body }) => <p className={classes.body}>{body}</p>}
    >
      {() => <Signatures disclaimerFormId={disclaimerFormId} />}
    </ObjectPage>
  )
}

/** Who was asked to sign the form, and who has. */
function Signatures({ disclaimerFormId }: { disclaimerFormId: number }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const navigate = useNavigate()
  const labelOf = useStatusLabel('DISCLAIMER')
  const columns: Column<Disclaimer>[] = [
    {
      label: t('words.client'),
      cell: ({ disclaimerId, clientName }) => (
        <Link to="/disclaimers/$disclaimerId" params={{ disclaimerId }} className="strong">
          {clientName}
        </Link>
      ),
    },
    { label: t('calendar.status'), cell: ({ status }) => labelOf(status) },
    {
      label: t('forms.signed'),
      cell: ({ signedTime }) =>
        signedTime !== null && <span className="numbers">{format.moment(signedTime)}</span>,
    },
    { label: t('words.messages'), cell: (item) => <VisitMarks visit={item} /> },
  ]
  return (
    <Section
      title={t('forms.signatures')}
      aside={
        <NewButton
          {...DISCLAIMER}
          label={t('forms.ask')}
          needs="EDIT_SCHEDULE"
          suggested={{ disclaimerFormId }}
          fields={(form) => <ClientField {...form.at('clientId')} />}
          onSaved={({ disclaimerId }) =>
            void navigate({ to: '/disclaimers/$disclaimerId', params: { disclaimerId } })
          }
        />
      }
    >
      <ObjectTable
        label={t('forms.signatures')}
        query={disclaimersQuery({ disclaimerFormId })}
        keyOf={({ disclaimerId }) => disclaimerId}
        columns={columns}
        empty={<p className="soft small">{t('forms.noSignatures')}</p>}
      />
    </Section>
  )
}

/** What one client signed, or was asked to sign. */
export function DisclaimerPage() {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const labelOf = useStatusLabel('DISCLAIMER')
  const { disclaimerId } = useParams({ from: '/shell/disclaimers/$disclaimerId' })
  return (
    <ObjectPage
      {...DISCLAIMER}
      id={disclaimerId}
      needs="EDIT_SCHEDULE"
      title={({ clientId }) => <ClientLink clientId={clientId} />}
      lede={({ disclaimerFormId, signedTime, signedName, status }) => (
        <>
          <FormLink disclaimerFormId={disclaimerFormId} />
          {' · '}
          {signedTime === null
            ? labelOf(status)
            : t('forms.signedBy', { name: signedName ?? '', time: format.moment(signedTime) })}
        </>
      )}
      back={
        <Link to="/forms" className="small">
          {t('forms.title')}
        </Link>
      }
      fields={({ at }) => <StatusField {...at('status')} objectType="DISCLAIMER" />}
      readOnly={({ status }) => labelOf(status)}
    >
      {({ signedText, createdDate }) => (
        <>
          <MessagesAndWhy
            kind={disclaimerKind}
            id={disclaimerId}
            anchor={{ text: t('forms.asked'), time: createdDate }}
          />
          {signedText !== null && (
            <Section title={t('forms.signedText')}>
              <p className={`small ${classes.body}`} dir="auto">
                {signedText}
              </p>
            </Section>
          )}
        </>
      )}
    </ObjectPage>
  )
}

function FormLink({ disclaimerFormId }: { disclaimerFormId: number }) {
  const { data } = useQuery(recordQuery(formKind, disclaimerFormId))
  return (
    <Link to="/forms/$disclaimerFormId" params={{ disclaimerFormId }}>
      <bdi>{data?.item.name ?? '…'}</bdi>
    </Link>
  )
}
