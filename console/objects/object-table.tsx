import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import type { ListQuery } from '../api/objects.ts'
import { useRowKeys } from '../components/row-keys.ts'
import { readNextPage, ShowMore } from '../components/show-more.tsx'
import { LoadingRows } from '../components/skeletons.tsx'
import { Failure } from '../components/states.tsx'
import classes from './objects.module.css'

export type Column<Item> = { label: string; cell: (item: Item) => ReactNode }

type Props<Item> = {
  label: string
  query: ListQuery<Item>
  keyOf: (item: Item) => string | number
  /** The first one holds the link of the row. */
  columns: Column<Item>[]
  empty: ReactNode
}

/** A list that is loaded page by page. */
export function ObjectTable<Item>(props: Props<Item>) {
  const { label, query, keyOf, columns, empty } = props
  const { t } = useTranslation()
  const list = useInfiniteQuery(query)
  const { data, error, refetch } = list
  useRowKeys(() => readNextPage(list))
  if (error && !data) {
    return <Failure title={t('errors.list')} error={error} onRetry={() => void refetch()} />
  }
  if (!data) return <LoadingRows rows={6} />
  const items = data.pages.flatMap((page) => page.items)
  if (items.length === 0) return empty
  return (
    <>
      <div className={`card ${classes.scroll}`} role="region" aria-label={label} tabIndex={0}>
        <table className="table">
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column.label} scope="col">
                  {column.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <tr key={keyOf(item)} data-row>
                {columns.map((column) => (
                  <td key={column.label} dir="auto">
                    {column.cell(item)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <ShowMore list={list} mt={12} />
    </>
  )
}
