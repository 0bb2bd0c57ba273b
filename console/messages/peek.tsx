import { Button } from '@mantine/core'
import { IconX } from '../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import { messageQuery, type Message } from '../api/messages.ts'
import { markOf, Status } from '../components/mark.tsx'
import { Loaded } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import classes from './activity.module.css'
import type { ActivitySearch } from './search.ts'
import { Headline } from './headline.tsx'
import { History } from './history.tsx'
import { Mail } from './mail.tsx'

type Props = { message: Message; search: ActivitySearch; onClose: () => void }

/** A message next to the list: its history and its mail. The focus stays in the list. */
export function MessagePeek({ message, search, onClose }: Props) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { eventTriggerId } = message
  const { data, error, refetch } = useQuery(messageQuery(eventTriggerId))
  return (
    <aside className={classes.peek} aria-label={t('activity.peek')}>
      <div className="row">
        <Status mark={markOf(message)} mailStatus={message.email?.status} pill />
        <span className="soft small numbers grow">{format.moment(message.scheduledTime)}</span>
        <Link
          to="/activity/$eventTriggerId"
          params={{ eventTriggerId }}
          search={search}
          className="small strong"
        >
          {t('activity.open')}
        </Link>
        <Button
          variant="subtle"
          size="compact-sm"
          aria-label={t('activity.closePeek')}
          onClick={onClose}
        >
          <IconX size={15} aria-hidden />
        </Button>
      </div>
      <h2 className={classes.peekTitle} dir="auto">
        <Headline message={message} />
      </h2>
      <Loaded query={{ data: data, error, refetch }}>
        {(data) => (
          <>
            <div className={classes.peekHistory}>
              <History message={data} isNarrow />
            </div>
            <Mail message={data} email={data.emails?.[0]} />
          </>
        )}
      </Loaded>
    </aside>
  )
}
