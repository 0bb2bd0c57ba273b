import { useQuery } from '@tanstack/react-query'
import type { FeedEntry } from '../api/feeds.ts'
import { setupQuery } from '../api/setup.ts'
import { useTranslation } from '../texts/translate.ts'
import { optionsOf } from './default-fields.tsx'
import classes from './feeds.module.css'
import { useReasonWords } from './words.ts'

/** Each value of an entry, and what decided it. */
export function DecisionList({ decisions }: Pick<FeedEntry, 'decisions'>) {
  const { t } = useTranslation()
  const { field: fieldName } = useReasonWords()
  const { data: setup } = useQuery(setupQuery)
  const options = optionsOf(setup)
  const valueOf = (field: string, value: unknown) => {
    const known = field in options ? options[field as keyof typeof options] : []
    return known.find((one) => one.value === String(value))?.label ?? String(value)
  }
  if (decisions.length === 0) return null
  return (
    <details className="small soft">
      <summary>{t('settings.feeds.decisions', { count: decisions.length })}</summary>
      <ul className={classes.plain}>
        {decisions.map(({ field, value, by, detail }) => (
          <li key={field}>
            {fieldName(field)}: <bdi>{valueOf(field, value)}</bdi> (
            {t(`settings.feeds.decidedBy.${by}`)}
            {detail && (
              <>
                {', '}
                <bdi>{detail}</bdi>
              </>
            )}
            )
          </li>
        ))}
      </ul>
    </details>
  )
}
