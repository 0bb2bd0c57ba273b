import { Button, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import {
  IconMailOff,
  IconMoodAngry,
  IconPlus,
  IconSearch,
  IconUserMinus,
} from '../components/icons.tsx'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import {
  addSuppression,
  clearSuppression,
  suppressionListQuery,
  type Suppression,
} from '../api/clients.ts'
import { useSession } from '../api/session.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { useForm } from '../components/form.ts'
import { Empty, Loaded } from '../components/states.tsx'
import { ShowMore } from '../components/show-more.tsx'
import { useTimeFormat } from '../components/time.ts'
import { PageHead } from '../shell/page-head.tsx'
import classes from './settings-suppressions.module.css'
import { ConfirmWindow, FormWindow, SubmitRow } from '../components/windows.tsx'
import { SettingsColumns, SettingsTable } from '../setup/settings-frame.tsx'

const TYPING_MS = 200

export function SettingsSuppressionsPage() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { address = '' } = useSearch({ from: '/shell/settings/suppressions' })
  const [typed, setTyped] = useState(address)
  const [note, setNote] = useState<ReactNode>()
  const list = useInfiniteQuery({
    ...suppressionListQuery(address),
    // An empty list would say for a moment that no address is suppressed.
    placeholderData: (previous) => (previous?.pages[0]?.items.length ? previous : undefined),
  })
  const addresses = list.data && groupByAddress(list.data.pages.flatMap(({ items }) => items))
  const search = (words: string) =>
    void navigate({
      to: '/settings/suppressions',
      search: words ? { address: words } : {},
      replace: true,
    })
  const searchSoon = useDebouncedCallback(search, TYPING_MS)
  return (
    <>
      <PageHead
        title={t('settings.suppressions.title')}
        lede={
          addresses &&
          !list.isPlaceholderData &&
          t(`settings.suppressions.${ledeOf(address, list.hasNextPage)}`, {
            count: addresses.length,
          })
        }
      >
        <AddAddress onNote={setNote} />
      </PageHead>
      <SettingsColumns>
        <ReasonList />
        <Search
          typed={typed}
          note={note}
          onType={(words) => {
            setTyped(words)
            searchSoon(words.trim())
          }}
        />
        <Loaded query={{ ...list, data: addresses }} title={t('errors.list')}>
          {(addresses) => (
            <Addresses
              addresses={addresses}
              isSearch={address !== ''}
              onNote={setNote}
              onAll={() => {
                setTyped('')
                search('')
              }}
            />
          )}
        </Loaded>
        <ShowMore list={list} style={{ alignSelf: 'start' }} />
      </SettingsColumns>
    </>
  )
}

type SearchProps = { typed: string; note: ReactNode; onType: (words: string) => void }

function Search({ typed, note, onType }: SearchProps) {
  const { t } = useTranslation()
  return (
    <div className={classes.bar}>
      <TextInput
        leftSection={<IconSearch size={15} aria-hidden />}
        label={t('settings.suppressions.find')}
        description={t('settings.suppressions.findHint')}
        maw={360}
        value={typed}
        onChange={(event) => onType(event.currentTarget.value)}
      />
      <p role="status" className="small soft grow">
        {note}
      </p>
    </div>
  )
}

function ledeOf(address: string, hasMore: boolean) {
  if (address) return hasMore ? 'ledeFoundMore' : 'ledeFound'
  return hasMore ? 'ledeMore' : 'lede'
}

/** An address can be suppressed for several reasons; allowing it again removes all. */
type Suppressed = { emailAddress: string; reasons: Suppression[] }

const groupByAddress = (items: Suppression[]): Suppressed[] =>
  [...Map.groupBy(items, ({ emailAddress }) => emailAddress)].map(([emailAddress, reasons]) => ({
    emailAddress,
    reasons,
  }))

type AddressesProps = {
  addresses: Suppressed[]
  isSearch: boolean
  onAll: () => void
  onNote: (note: ReactNode) => void
}

function Addresses({ addresses, isSearch, onAll, onNote }: AddressesProps) {
  const { t } = useTranslation()
  const [asked, setAsked] = useState<Suppressed>()
  const allow = ({ emailAddress }: Suppressed) =>
    void clearSuppression(emailAddress).then(
      () => onNote(t('settings.suppressions.allowed', { address: emailAddress })),
      (error: unknown) => onNote(<ErrorMessage error={error} />),
    )
  return (
    <>
      {addresses.length === 0 ? (
        <NoAddress isSearch={isSearch} onAll={onAll} />
      ) : (
        <div className={`card ${classes.list}`}>
          <SettingsTable
            head={[
              t('settings.suppressions.address'),
              t('settings.suppressions.why'),
              t('settings.suppressions.since'),
            ]}
          >
            {addresses.map((suppressed) => (
              <Row
                key={suppressed.emailAddress}
                suppressed={suppressed}
                onAllow={() => setAsked(suppressed)}
              />
            ))}
          </SettingsTable>
        </div>
      )}
      <ConfirmWindow
        isOpen={asked !== undefined}
        title={t('settings.suppressions.allowTitle', { address: asked?.emailAddress ?? '' })}
        hint={[
          ...(asked?.reasons ?? []).map(({ reason }) =>
            t(`settings.suppressions.allowHints.${reason}`),
          ),
          t('settings.suppressions.notSentAgain'),
        ].join(' ')}
        button={t('settings.suppressions.allow')}
        onClose={() => setAsked(undefined)}
        onConfirm={() => asked && allow(asked)}
      />
    </>
  )
}

const REASONS: Suppression['reason'][] = ['BOUNCED', 'COMPLAINED', 'UNSUBSCRIBED']

/** Suppresses an address, such as that of a client who asked by phone. */
function AddAddress({ onNote }: Pick<AddressesProps, 'onNote'>) {
  const { t } = useTranslation()
  const { functions } = useSession()
  const [isOpen, setOpen] = useState(false)
  const form = useForm(
    async (value) => {
      const emailAddress = value('emailAddress').trim()
      const reason = value('reason') as Suppression['reason']
      await addSuppression({ emailAddress, reason, detail: value('detail').trim() || null })
      setOpen(false)
      onNote(t(`settings.suppressions.${ADDED_OF_REASON[reason]}`, { address: emailAddress }))
    },
    ['emailAddress', 'detail'],
  )
  if (!functions.includes('EDIT_SUPPRESSIONS')) return null
  return (
    <>
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setOpen(true)}>
        {t('settings.suppressions.add')}
      </Button>
      <FormWindow
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={t('settings.suppressions.add')}
      >
        <form onSubmit={form.onSubmit} className="column" style={{ gap: 14 }}>
          <TextInput
            name="emailAddress"
            label={t('settings.suppressions.address')}
            inputMode="email"
            data-autofocus
            required
            withAsterisk={false}
            error={form.faultAt('emailAddress')}
          />
          <Select
            name="reason"
            label={t('settings.suppressions.why')}
            allowDeselect={false}
            defaultValue="UNSUBSCRIBED"
            data={REASONS.map((value) => ({
              value,
              label: t(`settings.suppressions.reasons.${value}`),
            }))}
          />
          <TextInput
            name="detail"
            label={t('settings.suppressions.detail')}
            description={t('settings.suppressions.detailHint')}
            maxLength={2_000}
            error={form.faultAt('detail')}
          />
          <SubmitRow label={t('settings.suppressions.addButton')} form={form} />
        </form>
      </FormWindow>
    </>
  )
}

const ADDED_OF_REASON = {
  BOUNCED: 'addedAll',
  COMPLAINED: 'addedAll',
  UNSUBSCRIBED: 'addedNews',
} as const

/** What each reason means. */
function ReasonList() {
  const { t } = useTranslation()
  return (
    <dl className={`card panel small ${classes.reasons}`}>
      {REASONS.map((reason) => (
        <div key={reason}>
          <dt className="strong">{t(`settings.suppressions.reasons.${reason}`)}</dt>
          <dd className="soft">{t(`settings.suppressions.meanings.${reason}`)}</dd>
        </div>
      ))}
    </dl>
  )
}

const ICON_OF_REASON = {
  BOUNCED: IconMailOff,
  COMPLAINED: IconMoodAngry,
  UNSUBSCRIBED: IconUserMinus,
}

type RowProps = { suppressed: Suppressed; onAllow: () => void }

function Row({ suppressed: { emailAddress, reasons }, onAllow }: RowProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { functions } = useSession()
  const values = { address: emailAddress }
  return (
    <tr className={classes.row}>
      <td>
        <b className={classes.address}>{emailAddress}</b>
        {functions.includes('VIEW_SCHEDULE') && (
          <Link
            to="/clients"
            search={{ text: emailAddress }}
            className="small"
            aria-label={t('settings.suppressions.findClientOf', values)}
          >
            {t('settings.suppressions.findClient')}
          </Link>
        )}
      </td>
      <td>
        {reasons.map(({ reason, emailCategoryId, detail }) => (
          <Reason key={`${reason} ${emailCategoryId}`} reason={reason} detail={detail} />
        ))}
      </td>
      <td className={`soft ${classes.since}`}>
        {format.day(Math.min(...reasons.map(({ createdDate }) => createdDate)))}
      </td>
      <td className={classes.action}>
        {functions.includes('EDIT_SUPPRESSIONS') && (
          <Button
            variant="default"
            size="compact-sm"
            aria-label={t('settings.suppressions.allowOf', values)}
            onClick={onAllow}
          >
            {t('settings.suppressions.allow')}
          </Button>
        )}
      </td>
    </tr>
  )
}

function Reason({ reason, detail }: Pick<Suppression, 'reason' | 'detail'>) {
  const { t } = useTranslation()
  const Icon = ICON_OF_REASON[reason]
  return (
    <div className={classes.reason}>
      <Icon
        size={16}
        stroke={1.7}
        className={reason === 'UNSUBSCRIBED' ? 'soft' : 'clay'}
        aria-hidden
      />
      <div className="grow">
        <b className="strong">{t(`settings.suppressions.reasons.${reason}`)}</b>
        {detail && (
          <div className="server-words" dir="auto">
            {detail}
          </div>
        )}
      </div>
    </div>
  )
}

function NoAddress({ isSearch, onAll }: Pick<AddressesProps, 'isSearch' | 'onAll'>) {
  const { t } = useTranslation()
  if (!isSearch) {
    return (
      <Empty title={t('settings.suppressions.none')}>{t('settings.suppressions.noneHint')}</Empty>
    )
  }
  return (
    <Empty
      title={t('settings.suppressions.notFound')}
      actions={
        <button type="button" className="button" onClick={onAll}>
          {t('settings.suppressions.all')}
        </button>
      }
    >
      {t('settings.suppressions.notFoundHint')}
    </Empty>
  )
}
