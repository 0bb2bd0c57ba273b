import type { FeedRun } from '../api/feeds.ts'
import { useTranslation } from '../texts/translate.ts'
import classes from './feeds.module.css'
import { useReasonWords } from './words.ts'

/** What a run found, in words: first how many of the appointments can get mail. */
export function RunResult({ run }: { run: FeedRun }) {
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
        <p className="strong numbers">
          {t('settings.feeds.canGetMail', { all: mirrored, count: withAddress })}
        </p>
      )}
      <p className="small numbers">
        {t('settings.feeds.found', { entries, mirrored, skipped, held })}
      </p>
      <p className="small soft numbers">
        {t('settings.feeds.effects', { created, changed, cancelled })}
      </p>
      {reasons && Object.keys(reasons).length > 0 && (
        <ul className={`${classes.plain} small soft numbers`}>
          {Object.entries(reasons).map(([code, count]) => (
            <li key={code}>
              {count} × {ofCode(code)}
            </li>
          ))}
        </ul>
      )}
      {planned && (
        <p className="small numbers">
          {t('settings.feeds.planned', { triggers: planned.triggers, mails: planned.atOnce })}
        </p>
      )}
    </div>
  )
}
