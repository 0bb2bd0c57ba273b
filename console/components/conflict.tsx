import { Button } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.ts'
import { nameOfUser } from './user-name.ts'
import classes from './conflict.module.css'
import type { Difference } from './difference.ts'
import { useTimeFormat } from './time.ts'

type Props = {
  /** Who saved the other version, and when. */
  theirs: { modifiedUser: string | null; modifiedDate: number | null }
  /** Since the version that both started with. */
  theirChanges: Difference[]
  myChanges: Difference[]
  /** The changes from their version to the merged one: their values that mine replace. */
  replaced: Difference[]
  onTakeTheirs: () => void
  onKeepMine: () => void
}

/** Another user saved the object meanwhile. The user merges both changes or takes the other version. */
export function Conflict({ onTakeTheirs, onKeepMine, ...props }: Props) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { username } = useSession()
  const { theirs, theirChanges, myChanges, replaced } = props
  const lost = theirChanges.filter(({ key }) => replaced.some((other) => other.key === key))
  const [isOpen, setOpen] = useState(lost.length > 0)
  const { modifiedUser, modifiedDate } = theirs
  const isMe = modifiedUser === username
  const user = nameOfUser(modifiedUser, t)
  const time = modifiedDate === null ? '' : format.moment(modifiedDate)
  const names = { theirs: labelsOf(theirChanges), mine: labelsOf(myChanges) }
  const meaning = lost.length > 0 ? 'same' : theirChanges.length > 0 ? 'apart' : 'unseen'
  return (
    <section role="alert" className={`card ${classes.conflict}`}>
      <IconAlertTriangle size={18} className="amber" aria-hidden />
      <div className="grow">
        <h2 className={classes.title}>
          {t(isMe ? 'editor.conflict.byMe' : 'editor.conflict.by', { user, time })}
        </h2>
        <p className={`soft ${classes.meaning}`}>
          {t(`editor.conflict.${meaning}`, { ...names, both: labelsOf(lost) })}
        </p>
        {isOpen && <Versions {...props} lost={lost} />}
        <div className={`row ${classes.actions}`}>
          <Button size="xs" onClick={onKeepMine}>
            {t(lost.length > 0 ? 'editor.conflict.keepMine' : 'editor.conflict.keepBoth')}
          </Button>
          <Button
            size="xs"
            variant="default"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {t('editor.conflict.compare')}
          </Button>
          <Button size="xs" variant="subtle" color="var(--ink)" onClick={onTakeTheirs}>
            {t('editor.conflict.takeTheirs')}
          </Button>
          <span className="faint small">{t('editor.conflict.notSavedYet')}</span>
        </div>
      </div>
    </section>
  )
}

/** "when, to whom" */
const labelsOf = (changes: Difference[]) =>
  [...new Set(changes.map(({ label }) => label))].map((label) => `“${label}”`).join(', ')

type VersionsProps = Pick<Props, 'theirChanges' | 'myChanges'> & { lost: Difference[] }

/** The values that a merge would save are bold. */
function Versions({ theirChanges, myChanges, lost }: VersionsProps) {
  const { t } = useTranslation()
  const theirsOf = new Map(theirChanges.map((change) => [change.key, change]))
  const mineOf = new Map(myChanges.map((change) => [change.key, change]))
  const rows = new Map([...theirsOf, ...mineOf])
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">{t('editor.conflict.what')}</th>
          <th scope="col">{t('editor.conflict.theirs')}</th>
          <th scope="col">{t('editor.conflict.mine')}</th>
        </tr>
      </thead>
      <tbody>
        {[...rows.values()].map(({ key, label, from }) => {
          const isTheirs = theirsOf.has(key) && !lost.some((change) => change.key === key)
          return (
            <tr key={key}>
              <th scope="row">{label}</th>
              <td dir="auto" className={isTheirs ? 'strong' : ''}>
                {theirsOf.get(key)?.to ?? from}
              </td>
              <td dir="auto" className={mineOf.has(key) ? 'strong' : ''}>
                {mineOf.get(key)?.to ?? from}
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
