import { Link } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import classes from './feeds.module.css'

/** From a source to its first appointments. Each is an address, so that it is there after a reload. */
export const STEPS = ['source', 'calendars', 'automations', 'dryRun', 'start'] as const
export type Step = (typeof STEPS)[number]

/** A feed that is not stored yet has only the first step. */
export function StepList({ feedId }: { feedId?: number }) {
  const { t } = useTranslation()
  return (
    <nav aria-label={t('settings.feeds.connect')}>
      <ol className={classes.stepList}>
        {STEPS.map((step, i) => (
          <li key={step}>
            {feedId === undefined ? (
              <span className={classes.step} aria-current={i === 0 ? 'step' : undefined}>
                {i + 1}. {t(`settings.feeds.steps.${step}`)}
              </span>
            ) : (
              <Link
                to="/settings/feeds/$feedId"
                params={{ feedId }}
                search={{ step }}
                className={classes.step}
              >
                {i + 1}. {t(`settings.feeds.steps.${step}`)}
              </Link>
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}
