import { ActionIcon } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { IconStar, IconStarFilled } from '../components/icons.tsx'
import { useTranslation } from '../texts/translate.ts'
import { useSession } from '../api/session.ts'
import classes from './reports.module.css'

/** The ids of the reports that the person has marked. They stay in this browser. */
export function useFavourites() {
  const { userId } = useSession()
  return useLocalStorage<number[]>({
    key: `bellwether.reports.${userId}`,
    defaultValue: [],
    getInitialValueInEffect: false,
  })
}

/** Marks a report as a favourite, or removes the mark. */
export function FavouriteStar({ reportId, name }: { reportId: number; name: string }) {
  const { t } = useTranslation()
  const [favourites, setFavourites] = useFavourites()
  const isFavourite = favourites.includes(reportId)
  const Icon = isFavourite ? IconStarFilled : IconStar
  const toggle = () =>
    setFavourites((known) =>
      known.includes(reportId) ? known.filter((id) => id !== reportId) : [...known, reportId],
    )
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      className={classes.star}
      aria-label={t('reports.favouriteOf', { name })}
      aria-pressed={isFavourite}
      onClick={toggle}
    >
      <Icon size={17} stroke={1.7} aria-hidden />
    </ActionIcon>
  )
}
