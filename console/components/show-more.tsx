import { Button, type ButtonProps } from '@mantine/core'
import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'

type List = Pick<
  UseInfiniteQueryResult<unknown>,
  'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'
>

/** Reads the next page of a list, if there is one. */
export function readNextPage({ hasNextPage, isFetchingNextPage, fetchNextPage }: List) {
  if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
}

type Props = ButtonProps & { list: List }

export function ShowMore({ list, ...props }: Props) {
  const { t } = useTranslation()
  if (!list.hasNextPage) return null
  return (
    <Button
      variant="default"
      loading={list.isFetchingNextPage}
      onClick={() => readNextPage(list)}
      {...props}
    >
      {t('words.showMore')}
    </Button>
  )
}
