import type { ReactNode } from 'react'
import { MarkShape, type MarkName } from './mark.tsx'
import classes from './timeline.module.css'

export type TimelineItem = {
  key: string
  time: string
  title: ReactNode
  /** Unset: a small dot. */
  mark?: MarkName
  /** It has not happened yet. */
  isAhead?: boolean
  children?: ReactNode
}

type Props = {
  items: TimelineItem[]
  label: string
  /** Times above the events, as on a phone. */
  isNarrow?: boolean | undefined
}

/** Events from top to bottom. The line is solid in the past and dotted in the future. */
export function Timeline({ items, label, isNarrow }: Props) {
  return (
    <ol className={classes.timeline} data-narrow={isNarrow || undefined} aria-label={label}>
      {items.map((item, i) => (
        <li key={item.key} className={classes.item}>
          <span className={`numbers faint ${classes.time}`}>{item.time}</span>
          <span className={classes.rope}>
            {i < items.length - 1 && (
              <span className={classes.line} data-ahead={items[i + 1]!.isAhead || undefined} />
            )}
            <svg width="26" height="26" viewBox="-13 -13 26 26" aria-hidden>
              {item.mark ? (
                <>
                  <circle r="9" fill="var(--card)" />
                  <MarkShape mark={item.mark} r={7} />
                </>
              ) : (
                <circle r="3.6" fill="var(--mark)" />
              )}
            </svg>
          </span>
          <div className={classes.text}>
            <div className="strong">{item.title}</div>
            {item.children}
          </div>
        </li>
      ))}
    </ol>
  )
}
