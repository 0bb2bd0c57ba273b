import { Button, Checkbox, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { businessesQuery, createOwner, saveBusiness, type Business } from '../api/operator.ts'
import { useForm } from '../components/form.ts'
import { IconPlus } from '../components/icons.tsx'
import { Failure, Loading } from '../components/states.tsx'
import type { TimeFormat } from '../components/time.ts'
import { FormWindow, SubmitRow } from '../components/windows.tsx'
import { Panel } from '../today/panel.tsx'
import {
  BUSINESS_FIELDS,
  BusinessFields,
  OWNER_FIELDS,
  OwnerFields,
  ownerOf,
} from './business-fields.tsx'
import classes from './operator.module.css'

/** More rows would be slow, and nobody reads them: the search narrows them. */
const MAX_SHOWN = 200

export function BusinessesPanel({ format }: { format: TimeFormat }) {
  const { t } = useTranslation()
  const { data, error, refetch } = useQuery(businessesQuery)
  const [text, setText] = useState('')
  const [isPausedOnly, setPausedOnly] = useState(false)
  const [isMaking, setMaking] = useState(false)
  const found = data?.filter(
    (business) => (!isPausedOnly || business.mailPaused) && matches(business, text),
  )
  return (
    <Panel
      title={t('operator.businesses.title')}
      aside={
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setMaking(true)}>
          {t('operator.businesses.make')}
        </Button>
      }
    >
      <div className={classes.tools}>
        <TextInput
          type="search"
          aria-label={t('operator.businesses.find')}
          placeholder={t('operator.businesses.find')}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Checkbox
          label={t('operator.businesses.pausedOnly')}
          checked={isPausedOnly}
          onChange={(event) => setPausedOnly(event.currentTarget.checked)}
        />
      </div>
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!found && !error && <Loading lines={3} />}
      {found && <BusinessTable businesses={found.slice(0, MAX_SHOWN)} format={format} />}
      {found && (
        <p className="small soft" role="status">
          {t('operator.businesses.count', { count: found.length })}{' '}
          {found.length > MAX_SHOWN && t('operator.businesses.first', { count: MAX_SHOWN })}
        </p>
      )}
      <FormWindow
        isOpen={isMaking}
        title={t('operator.businesses.make')}
        onClose={() => setMaking(false)}
      >
        <NewBusiness onDone={() => setMaking(false)} />
      </FormWindow>
    </Panel>
  )
}

const matches = ({ name, businessId, externalId }: Business, text: string) =>
  text.trim() === '' ||
  String(businessId) === text.trim() ||
  `${name} ${externalId ?? ''}`.toLowerCase().includes(text.trim().toLowerCase())

type TableProps = { businesses: Business[]; format: TimeFormat }

function BusinessTable({ businesses, format }: TableProps) {
  const { t } = useTranslation()
  return (
    // Scrolls by keyboard, too.
    <div
      className={classes.scroll}
      tabIndex={0}
      role="region"
      aria-label={t('operator.businesses.title')}
    >
      <table className="table">
        <thead>
          <tr>
            {(['name', 'id', 'timeZone', 'created', 'mail'] as const).map((name) => (
              <th key={name} scope="col">
                {t(`operator.businesses.columns.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {businesses.map((business) => (
            <tr key={business.businessId}>
              <td dir="auto">
                <b className="strong">{business.name}</b>
              </td>
              <td>{business.businessId}</td>
              <td>{business.timeZone}</td>
              <td>{format.day(business.createdDate)}</td>
              <td>{mailOf(business, t)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function mailOf(
  { active, mailPaused, mailPausedReason }: Business,
  t: ReturnType<typeof useTranslation>['t'],
) {
  if (!active) return t('operator.businesses.inactive')
  if (!mailPaused) return t('operator.businesses.sends')
  return (
    <span className="amber">
      {t('operator.businesses.paused')}
      {mailPausedReason && `: ${mailPausedReason}`}
    </span>
  )
}

/** A business and its first owner. If the owner is refused, the next try changes the business. */
function NewBusiness({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation()
  const made = useRef<number>(undefined)
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const form = useForm(
    async (value) => {
      const fields = { name: value('name').trim(), timeZone: value('timeZone') }
      if (made.current === undefined) {
        made.current = (await saveBusiness(fields, idempotencyKey)).businessId
      } else {
        await saveBusiness({ businessId: made.current, ...fields })
      }
      await createOwner(made.current, ownerOf(value))
      onDone()
    },
    [...BUSINESS_FIELDS, ...OWNER_FIELDS],
  )
  return (
    <form onSubmit={form.onSubmit} className="column" style={{ gap: 14 }}>
      <BusinessFields form={form} />
      <OwnerFields form={form} label={t('operator.businesses.owner')} />
      <SubmitRow label={t('operator.businesses.make')} form={form} />
    </form>
  )
}
