import { useQuery } from '@tanstack/react-query'
import { automationsQuery } from '../api/automations.ts'
import type { FeedEntry, FeedRun } from '../api/feeds.ts'
import { setupQuery } from '../api/setup.ts'
import { sentenceOf, sentenceText } from '../automations/sentence.ts'
import { useTimeFormat } from '../components/time.ts'
import { useTranslation } from '../texts/translate.ts'
import classes from './feeds.module.css'
import { useReasonWords } from './words.ts'

/** `isWhole`: with the messages by automation, and the entries that a person should look at. */
type Props = { run: FeedRun; isWhole?: boolean }

/** What a run found, in words: first how many of the appointments can get mail. */
export function RunResult({ run, isWhole = false }: Props) {
  const { t } = useTranslation()
  const { ofCode } = useReasonWords()
  const { status, error, counts, reasons, withAddress, planned, kind } = run
  if (status === 'FAILED') {
    return (
      <p className="small clay">
        {t('settings.feeds.runFailed')} <span dir="auto">{error}</span>
      </p>
    )
  }
  if (!counts) return null
  const { entries = 0, mirrored = 0, held = 0, skipped = 0 } = counts
  const { created = 0, changed = 0, cancelled = 0 } = counts
  return (
    <div className={classes.facts}>
      {kind === 'DRY_RUN' && withAddress !== null && (
        <p className="strong">
          {t('settings.feeds.canGetMail', { all: mirrored, count: withAddress })}
        </p>
      )}
      <p className="small">{t('settings.feeds.found', { entries, mirrored, skipped, held })}</p>
      <p className="small soft">{t('settings.feeds.effects', { created, changed, cancelled })}</p>
      {reasons && Object.keys(reasons).length > 0 && (
        <ul className={`${classes.plain} small soft`}>
          {Object.entries(reasons).map(([code, count]) => (
            <li key={code}>
              {count} × {ofCode(code)}
            </li>
          ))}
        </ul>
      )}
      {planned && (
        <p className="small">
          {t('settings.feeds.planned', { triggers: planned.triggers, mails: planned.atOnce })}
        </p>
      )}
      {isWhole && planned && <ByAutomation byDefinition={planned.byDefinition} />}
      {isWhole && <Unclear entries={run.samples ?? []} />}
    </div>
  )
}

type Planned = NonNullable<FeedRun['planned']>['byDefinition']

function ByAutomation({ byDefinition }: { byDefinition: Planned }) {
  const { t } = useTranslation()
  const { data: setup } = useQuery(setupQuery)
  const { data: automations } = useQuery(automationsQuery)
  if (!setup || !automations) return null
  const sentences = byDefinition.flatMap(({ eventDefnId, triggers }) => {
    const found = automations.find((automation) => automation.eventDefnId === eventDefnId)
    if (!found) return []
    const text = sentenceText(sentenceOf(found, found.eventActions ?? [], setup))
    return [{ eventDefnId, triggers, text }]
  })
  return (
    <ul className={`${classes.plain} small soft`}>
      {sentences.map(({ eventDefnId, triggers, text }) => (
        <li key={eventDefnId}>{t('settings.feeds.messagesOf', { count: triggers, text })}</li>
      ))}
    </ul>
  )
}

/** Skipped, but perhaps only because their client is not known. */
const ABOUT_CLIENTS = new Set(['no-client', 'no-address'])

/** Entries that wait for a person, and those whose client cannot get mail. */
function Unclear({ entries }: { entries: FeedEntry[] }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { ofEntry } = useReasonWords()
  const unclear = entries.filter(
    ({ state, reasonCode }) => state === 'HELD' || ABOUT_CLIENTS.has(reasonCode ?? ''),
  )
  if (unclear.length === 0) return null
  return (
    <section aria-label={t('settings.feeds.unclear')}>
      <h3 className="small strong">{t('settings.feeds.unclear')}</h3>
      <p className="small soft">{t('settings.feeds.unclearHint')}</p>
      <ul className={classes.list}>
        {unclear.map((entry) => (
          <li key={entry.key} className={classes.entry}>
            <span className="strong" dir="auto">
              {entry.title ?? entry.key}
            </span>{' '}
            <span className="soft small">
              {entry.startTime === null
                ? t('settings.feeds.noTime')
                : format.moment(entry.startTime)}
            </span>
            <div className="small" dir="auto">
              {ofEntry(entry)}
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
