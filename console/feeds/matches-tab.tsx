import { Button, Select } from '@mantine/core'
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { correctMatch, matchesQuery, type Feed, type FeedMatch } from '../api/feeds.ts'
import { setupQuery } from '../api/setup.ts'
import { ClientSelect } from '../clients/client-select.tsx'
import { messageOf } from '../components/error-message.tsx'
import { ShowMore } from '../components/show-more.tsx'
import { Failure, Loading } from '../components/states.tsx'
import { useTranslation } from '../texts/translate.ts'
import { optionsOf } from './default-fields.tsx'
import classes from './feeds.module.css'

/** What the source names, and which of our objects is meant. */
export function MatchesTab({ feed }: { feed: Feed }) {
  const { t } = useTranslation()
  const list = useInfiniteQuery(matchesQuery(feed.feedId))
  const matches = list.data?.pages.flatMap(({ items }) => items)
  if (list.error && !matches) {
    return <Failure error={list.error} onRetry={() => void list.refetch()} />
  }
  if (!matches) return <Loading />
  return (
    <>
      <p className="soft small" style={{ marginTop: 0 }}>
        {t('settings.feeds.matchesHint')}
      </p>
      {matches.length === 0 && <p className="soft">{t('settings.feeds.noMatch')}</p>}
      <ul className={classes.list}>
        {matches.map((match) => (
          <Match key={match.feedMatchId} feed={feed} match={match} />
        ))}
      </ul>
      <ShowMore list={list} size="compact-sm" />
    </>
  )
}

/** A calendar stands for its member of staff. */
const FIELD_OF = {
  calendar: 'professionalId',
  staff: 'professionalId',
  service: 'reasonId',
  location: 'locationId',
} as const

function Match({ feed, match }: { feed: Feed; match: FeedMatch }) {
  const { t } = useTranslation()
  const { data: setup } = useQuery(setupQuery)
  const { feedMatchId, kind, name, objectId, by } = match
  const correct = useMutation({
    mutationFn: (decided: { objectId: number | null } | { create: true }) =>
      correctMatch({ feedId: feed.feedId, feedMatchId, ...decided }),
  })
  const label = t('settings.feeds.matchOf', { name })
  const error = correct.error ? messageOf(correct.error, t) : undefined
  return (
    <li className={classes.entry}>
      <div className={`${classes.actions} ${classes.wide}`}>
        <div className="grow">
          <span className="strong" dir="auto">
            {name}
          </span>
          <div className="soft small">
            {t(`settings.feeds.kinds.${kind}`)} · {t(`settings.feeds.matchedBy.${by}`)}
          </div>
        </div>
        {kind === 'client' ? (
          <ClientSelect
            label={label}
            value={objectId ?? undefined}
            error={error}
            onChange={(id) => correct.mutate({ objectId: id })}
          />
        ) : (
          <Select
            aria-label={label}
            searchable
            clearable
            clearButtonProps={{ 'aria-label': t('settings.feeds.clear') }}
            placeholder={t('settings.feeds.unknown')}
            value={objectId === null ? null : String(objectId)}
            data={optionsOf(setup)[FIELD_OF[kind]]}
            error={error}
            onChange={(id) => correct.mutate({ objectId: id ? Number(id) : null })}
          />
        )}
        {objectId === null && kind !== 'client' && kind !== 'calendar' && (
          <Button
            size="compact-sm"
            variant="default"
            loading={correct.isPending}
            aria-label={t('settings.feeds.createOf', { name })}
            onClick={() => correct.mutate({ create: true })}
          >
            {t('settings.feeds.createMatch')}
          </Button>
        )}
      </div>
    </li>
  )
}
