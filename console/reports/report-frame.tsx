import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useMemo, useRef, useState, type RefObject } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { MAX_ROWS, styledPage } from './page-style.ts'
import classes from './reports.module.css'

/** A figure of the printed page: a tile, a cell, or a total, which has no row. */
export type Figure = { kpi: number } | { column: number; row?: number }

type Props = {
  frame: RefObject<HTMLIFrameElement | null>
  html: string
  title: string
  isOld: boolean
  /** Called with the figure that was clicked, and the number of rows of the page. */
  onFigure: (figure: Figure, rowCount: number) => void
}

/** A printed page inside of ours, as high as its content. The frame runs no scripts. */
export function ReportFrame({ frame, html, title, isOld, onFigure }: Props) {
  const { t } = useTranslation()
  const isDark = useComputedColorScheme('light') === 'dark'
  const [hasAllRows, setAllRows] = useState(false)
  const [rowCount, setRowCount] = useState(0)
  const latest = useRef(onFigure)
  useEffect(() => {
    latest.current = onFigure
  })
  const stop = useRef<() => void>(undefined)
  useEffect(() => () => stop.current?.(), [])
  const page = useMemo(() => styledPage(html, { isDark, hasAllRows }), [html, isDark, hasAllRows])
  const onLoad = () => {
    stop.current?.()
    const content = frame.current?.contentDocument
    if (!content) return
    stop.current = followContent(frame.current!, content)
    const count = content.querySelectorAll('tbody tr:not(:has(.none))').length
    setRowCount(count)
    content.addEventListener('click', ({ target }) => {
      const figure = figureAt(target)
      if (figure) latest.current(figure, count)
    })
  }
  return (
    <>
      <iframe
        ref={frame}
        className={classes.frame}
        aria-busy={isOld || undefined}
        title={title}
        // Without scripts, the same origin only lets us read the height, and modals only let us print.
        sandbox="allow-same-origin allow-modals"
        srcDoc={page}
        onLoad={onLoad}
      />
      {rowCount > MAX_ROWS && !hasAllRows && (
        <p className="row soft small">
          {t('reports.firstRows', { shown: MAX_ROWS, count: rowCount })}
          <button type="button" className="button" onClick={() => setAllRows(true)}>
            {t('reports.allRows')}
          </button>
        </p>
      )}
    </>
  )
}

/** Keeps the height of the frame, and passes on its keys, so that our shortcuts work after a click in it. */
function followContent(frame: HTMLIFrameElement, content: Document) {
  const fit = () => (frame.style.height = `${content.body.scrollHeight}px`)
  const passOn = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey } = event
    const keys = { key, ctrlKey, metaKey, altKey, shiftKey, bubbles: true, cancelable: true }
    if (!frame.dispatchEvent(new KeyboardEvent('keydown', keys))) event.preventDefault()
  }
  const observer = new ResizeObserver(fit)
  observer.observe(content.body)
  content.addEventListener('keydown', passOn)
  fit()
  return () => observer.disconnect()
}

/** Elements of the frame are not instances of our classes, so they are told apart by their tag. */
function figureAt(target: EventTarget | null): Figure | undefined {
  const clicked = target as Element | null
  const tile = clicked?.closest('.kpi')
  if (tile) return { kpi: [...tile.parentElement!.children].indexOf(tile) }
  const cell = clicked?.closest<HTMLTableCellElement>('td:not(.none)')
  if (!cell) return undefined
  const row = cell.parentElement as HTMLTableRowElement
  const column = cell.cellIndex
  return row.parentElement?.tagName === 'TFOOT' ? { column } : { column, row: row.sectionRowIndex }
}
