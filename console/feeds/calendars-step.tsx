import { Button, Checkbox, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { feedTestQuery, saveFeed, type Feed, type FeedTest } from '../api/feeds.ts'
import { setupQuery } from '../api/setup.ts'
import { useForm } from '../components/form.ts'
import { Failure, Loading } from '../components/states.tsx'
import { SubmitRow } from '../components/windows.tsx'
import settings from '../setup/settings.module.css'
import { useTranslation } from '../texts/translate.ts'
import { TestResult } from './connect-form.tsx'
import { DefaultFields, optionsOf, type Defaults } from './default-fields.tsx'
import classes from './feeds.module.css'

type Props = { feed: Feed; onDone: () => void }

/** Which calendars are read, and whose they are. */
export function CalendarsStep({ feed, onDone }: Props) {
  const hasCalendars = feed.source === 'CALDAV'
  const query = useQuery(feedTestQuery(feed.feedId, hasCalendars))
  const { data: test, error, refetch } = query
  if (!hasCalendars) return <CalendarsForm feed={feed} calendars={[]} onDone={onDone} />
  if (error && !test) return <Failure error={error} onRetry={() => void refetch()} />
  if (!test) return <Loading />
  if (!test.ok) return <NoConnection test={test} query={query} />
  return <CalendarsForm feed={feed} calendars={test.calendars} onDone={onDone} />
}

type NoConnectionProps = {
  test: FeedTest
  query: { isFetching: boolean; refetch: () => Promise<unknown> }
}

/** The stored account does not work any more: says why, and tries again once it is corrected. */
function NoConnection({ test, query }: NoConnectionProps) {
  const { t } = useTranslation()
  return (
    <div className={settings.form}>
      <TestResult error={undefined} result={test} />
      <p className="soft small" style={{ margin: 0 }}>
        {t('settings.feeds.sourceStepHint')}
      </p>
      <Button
        size="compact-sm"
        variant="default"
        loading={query.isFetching}
        onClick={() => void query.refetch()}
        style={{ justifySelf: 'start' }}
      >
        {t('settings.feeds.test')}
      </Button>
    </div>
  )
}

type Calendar = FeedTest['calendars'][number]
type Rule = Feed['rules'][number]
type Owner = Pick<Rule['then'], 'professionalId' | 'locationId'>

/** The rule of a calendar has no other condition. */
const isRuleOf =
  ({ name }: Calendar) =>
  ({ when }: Rule) =>
    when.calendar === name && Object.keys(when).length === 1

/** Rules with more conditions come first, because the first one decides. */
function rulesWith(feed: Feed, calendars: Calendar[], owners: Map<string, Owner>): Rule[] {
  const others = feed.rules.filter((rule) => !calendars.some((one) => isRuleOf(one)(rule)))
  const own = calendars.flatMap((calendar) => {
    const before = feed.rules.find(isRuleOf(calendar))?.then
    const given = Object.entries({ ...before, ...owners.get(calendar.key) })
    const then = Object.fromEntries(given.filter(([, value]) => value != null))
    return Object.keys(then).length > 0 ? [{ when: { calendar: calendar.name }, then }] : []
  })
  return [...others, ...own]
}

function CalendarsForm({ feed, calendars, onDone }: Props & { calendars: Calendar[] }) {
  const { t } = useTranslation()
  const { feedId, connection } = feed
  const [chosen, setChosen] = useState(
    connection.calendars ?? calendars.map((calendar) => calendar.key),
  )
  const [owners, setOwners] = useState(new Map<string, Owner>())
  const [defaults, setDefaults] = useState<Defaults>(feed.defaults)
  const form = useForm(async () => {
    const read = { ...connection, calendars: chosen }
    const rules = rulesWith(feed, calendars, owners)
    await saveFeed({ feedId, defaults, ...(calendars.length > 0 && { connection: read, rules }) })
    onDone()
  })
  const ownerOf = (calendar: Calendar) => ({
    ...feed.rules.find(isRuleOf(calendar))?.then,
    ...owners.get(calendar.key),
  })
  return (
    <form onSubmit={form.onSubmit} className={settings.form}>
      {calendars.length > 0 && (
        <p className="soft small" style={{ margin: 0 }}>
          {t('settings.feeds.calendarsHint')}
        </p>
      )}
      {calendars.map((calendar) => (
        <CalendarRow
          key={calendar.key}
          calendar={calendar}
          isRead={chosen.includes(calendar.key)}
          owner={ownerOf(calendar)}
          onRead={(isRead) =>
            setChosen(
              isRead ? [...chosen, calendar.key] : chosen.filter((key) => key !== calendar.key),
            )
          }
          onOwner={(more) =>
            setOwners(new Map(owners).set(calendar.key, { ...owners.get(calendar.key), ...more }))
          }
        />
      ))}
      <p className="soft small" style={{ margin: 0 }}>
        {t('settings.feeds.defaultsHint')}
      </p>
      <DefaultFields
        value={defaults}
        faultOf={(field) => form.faultAt(field)}
        onChange={setDefaults}
      />
      <SubmitRow
        label={t('settings.feeds.saveAndNext')}
        form={form}
        disabled={calendars.length > 0 && chosen.length === 0}
      />
    </form>
  )
}

type RowProps = {
  calendar: Calendar
  isRead: boolean
  owner: Owner
  onRead: (isRead: boolean) => void
  onOwner: (more: Owner) => void
}

function CalendarRow({ calendar, isRead, owner, onRead, onOwner }: RowProps) {
  const { t } = useTranslation()
  const { data: setup } = useQuery(setupQuery)
  const options = optionsOf(setup)
  const { name, entries } = calendar
  const label = entries == null ? name : `${name} (${entries})`
  return (
    <div className={`${classes.actions} ${classes.wide}`}>
      <Checkbox
        className="grow"
        checked={isRead}
        label={<span dir="auto">{label}</span>}
        onChange={(event) => onRead(event.currentTarget.checked)}
      />
      {isRead &&
        (['professionalId', 'locationId'] as const).map((field) => (
          <Select
            key={field}
            w={158}
            aria-label={t('settings.feeds.ownerOf', {
              field: t(`settings.feeds.fields.${field}`),
              name,
            })}
            placeholder={t(`settings.feeds.fields.${field}`)}
            searchable
            clearable
            clearButtonProps={{ 'aria-label': t('settings.feeds.clear') }}
            value={owner[field] ? String(owner[field]) : null}
            data={options[field]}
            onChange={(id) => onOwner({ [field]: id ? Number(id) : null })}
          />
        ))}
    </div>
  )
}
