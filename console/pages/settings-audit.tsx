import { Button, Select } from '@mantine/core'
import { IconX } from '../components/icons.tsx'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import { auditQuery, type AuditEntry } from '../api/audit.ts'
import { automationsQuery } from '../api/automations.ts'
import { keysQuery } from '../api/keys.ts'
import { peopleQuery } from '../api/people.ts'
import { useSession } from '../api/session.ts'
import { formerSetupQuery, setupQuery } from '../api/setup.ts'
import classes from '../audit/audit.module.css'
import { kindInWords, KINDS, type EntryWords } from '../audit/describe.ts'
import { EntryRow, ObjectPhrase } from '../audit/entry-row.tsx'
import { filtersOf } from '../audit/filters.ts'
import type { AuditSearch } from '../audit/search.ts'
import { Filled, part } from '../components/filled.tsx'
import { useRowKeys } from '../components/row-keys.ts'
import { readNextPage, ShowMore } from '../components/show-more.tsx'
import { useReportName } from '../reports/report-name.ts'
import { LoadingRows } from '../components/skeletons.tsx'
import { Empty, Failure } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { nameOfUser } from '../components/user-name.ts'
import { DayField } from '../reports/filters.tsx'
import { PageHead } from '../shell/page-head.tsx'
import { SettingsColumns } from '../setup/settings-frame.tsx'

export function SettingsAuditPage() {
  const { t } = useTranslation()
  const search = useSearch({ from: '/shell/settings/audit' })
  return (
    <>
      <PageHead title={t('settings.audit.title')} lede={t('settings.audit.lede')} />
      <SettingsColumns>
        <Audit search={search} />
      </SettingsColumns>
    </>
  )
}

type AuditFilterChange = (more: {
  [Name in keyof AuditSearch]?: AuditSearch[Name] | undefined
}) => void

function Audit({ search }: { search: AuditSearch }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const words = useEntryWords()
  const list = useInfiniteQuery({
    ...auditQuery(filtersOf(search, words.format)),
    placeholderData: keepPreviousData,
  })
  const { data, error, refetch } = list
  useRowKeys(() => readNextPage(list))
  const change: AuditFilterChange = (more) =>
    void navigate({
      to: '/settings/audit',
      search: (before: AuditSearch) =>
        Object.fromEntries(
          Object.entries({ ...before, ...more }).filter(([, value]) => value),
        ) as AuditSearch,
      replace: true,
    })
  const entries = data?.pages.flatMap((page) => page.items)
  if (error && !entries) {
    return <Failure title={t('errors.list')} error={error} onRetry={() => void refetch()} />
  }
  return (
    <>
      <Filters search={search} first={entries?.[0]} words={words} onChange={change} />
      {!entries ? (
        <LoadingRows />
      ) : entries.length === 0 ? (
        <NoEntry hasFilters={Object.keys(search).length > 0} />
      ) : (
        <Days entries={entries} words={words} />
      )}
      <ShowMore list={list} style={{ alignSelf: 'start' }} />
    </>
  )
}

function useEntryWords(): EntryWords {
  const { t } = useTranslation()
  const { functions } = useSession()
  const format = useTimeFormat()
  const { data: setup } = useQuery(setupQuery)
  const { data: automations = [] } = useQuery({
    ...automationsQuery,
    enabled: functions.includes('VIEW_DEFINITIONS'),
  })
  const { data: former } = useQuery(formerSetupQuery)
  const everyone = setup && {
    ...setup,
    locations: [...setup.locations, ...(former?.locations ?? [])],
    professionals: [...setup.professionals, ...(former?.professionals ?? [])],
  }
  return { t, format, setup: everyone, automations, reportNameOf: useReportName() }
}

type FiltersProps = {
  search: AuditSearch
  /** An entry of the list, which names the object that it is filtered by. */
  first: AuditEntry | undefined
  words: EntryWords
  onChange: AuditFilterChange
}

function Filters({ search, first, words, onChange }: FiltersProps) {
  const { t } = useTranslation()
  const users = useUsers(search.user)
  const { object, id } = search
  const isOne = first && String(first.id) === String(id) && first.object === object
  return (
    <div className={classes.filters}>
      <Select
        aria-label={t('settings.audit.user')}
        placeholder={t('settings.audit.anyUser')}
        w={144}
        clearable
        searchable
        value={search.user === undefined ? null : String(search.user)}
        onChange={(user) => onChange({ user: user ?? undefined })}
        data={users}
      />
      <Select
        aria-label={t('settings.audit.kind')}
        placeholder={t('settings.audit.anyKind')}
        w={144}
        clearable
        searchable
        value={object ?? null}
        onChange={(kind) => onChange({ object: kind ?? undefined, id: undefined })}
        data={KINDS.map((value) => ({ value, label: t(`settings.audit.kinds.${value}`) }))}
      />
      <DayField
        label={t('words.from')}
        day={search.from ?? ''}
        onChange={(from) => onChange({ from })}
      />
      <DayField
        label={t('words.until')}
        day={search.to ?? ''}
        onChange={(to) => onChange({ to })}
      />
      {id !== undefined && (
        <Button
          variant="default"
          rightSection={<IconX size={14} aria-hidden />}
          onClick={() => onChange({ id: undefined })}
        >
          <span>
            <Filled
              text={t('settings.audit.onlyOne', { object: part('object') })}
              parts={{
                object: isOne ? (
                  <ObjectPhrase entry={first} words={words} />
                ) : (
                  t('settings.audit.nameless', { kind: kindInWords(object ?? '') })
                ),
              }}
            />
          </span>
        </Button>
      )}
    </div>
  )
}

/** People, keys and who else makes changes; also a user of the URL who is none of them any more. */
function useUsers(chosen: string | undefined) {
  const { t } = useTranslation()
  const { functions } = useSession()
  const can = (name: (typeof functions)[number]) => functions.includes(name)
  const { data: people = [] } = useQuery({ ...peopleQuery, enabled: can('MANAGE_USERS') })
  const { data: keys = [] } = useQuery({ ...keysQuery, enabled: can('MANAGE_KEYS') })
  const names = people.map(({ username }) => username)
  const programs = [...new Set(keys.map(({ name }) => `key:${name}`))]
  const others = ['CLIENT', 'OPERATOR', 'SYSTEM']
  const isKnown = chosen === undefined || [...names, ...programs, ...others].includes(chosen)
  if (!isKnown) others.push(String(chosen))
  return [
    { group: t('settings.audit.people'), items: names },
    {
      group: t('settings.audit.keys'),
      items: programs.map((value) => ({ value, label: value.slice('key:'.length) })),
    },
    {
      group: t('settings.audit.others'),
      items: others.map((value) => ({ value, label: nameOfUser(value, t) })),
    },
  ]
}

function NoEntry({ hasFilters }: { hasFilters: boolean }) {
  const { t } = useTranslation()
  if (!hasFilters) {
    return <Empty title={t('settings.audit.noneYet')}>{t('settings.audit.noneYetHint')}</Empty>
  }
  return (
    <Empty
      title={t('settings.audit.none')}
      actions={
        <Link to="/settings/audit" search={{}} className="button">
          {t('settings.audit.withoutFilters')}
        </Link>
      }
    >
      {t('settings.audit.noneHint')}
    </Empty>
  )
}

type DaysProps = { entries: AuditEntry[]; words: EntryWords }

function Days({ entries, words }: DaysProps) {
  const { format } = words
  const days = Map.groupBy(entries, ({ time }) => format.isoDay(time))
  return (
    <div>
      {[...days].map(([day, entriesOfDay]) => (
        <section key={day}>
          <h2 className={classes.day}>{format.headingDay(entriesOfDay[0]!.time)}</h2>
          <ol className={`card ${classes.list}`}>
            {entriesOfDay.map((entry, i) => (
              <EntryRow
                key={`${entry.object} ${entry.id} ${entry.time} ${i}`}
                {...{ entry, words }}
              />
            ))}
          </ol>
        </section>
      ))}
    </div>
  )
}
