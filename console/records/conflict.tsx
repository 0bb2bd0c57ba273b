import { Button } from '@mantine/core'
import { useState } from 'react'
import { t, useTranslation } from '../texts/translate.ts'
import { useSession } from '../api/session.ts'
import { IconAlertTriangle } from '../components/icons.tsx'
import { useTimeFormat } from '../components/time.ts'
import { nameOfUser } from '../components/user-name.ts'
import type { Difference } from './changes.ts'
import classes from './conflict.module.css'
import type { EditedRecord } from './use-record.ts'

type Modified = { modifiedUser?: string | null; modifiedDate?: number | null }

type RecordProps<Item, Draft extends object> = {
  record: EditedRecord<Item, Draft>
  /** Who saved a version, and when. */
  modifiedOf: (item: Item) => Modified
  /** The differences between two drafts, in words. */
  differences: (from: Draft, to: Draft) => Difference[]
}

/** If another user saved the record meanwhile, the user merges both changes or takes that version. */
export function RecordConflict<Item, Draft extends object>({
  record: { conflict, base, draft },
  modifiedOf,
  differences,
}: RecordProps<Item, Draft>) {
  if (!conflict) return null
  return (
    <Conflict
      theirs={modifiedOf(conflict.item)}
      theirChanges={differences(base, conflict.theirDraft)}
      myChanges={differences(base, draft)}
      replaced={differences(conflict.theirDraft, conflict.merged)}
      onTakeTheirs={conflict.takeTheirs}
      onKeepMine={conflict.keepMine}
    />
  )
}

type Props = {
  theirs: Modified
  /** Since the version that both started with. */
  theirChanges: Difference[]
  myChanges: Difference[]
  /** The changes from their version to the merged one: their values that mine replace. */
  replaced: Difference[]
  onTakeTheirs: () => void
  onKeepMine: () => void
}

function Conflict({ onTakeTheirs, onKeepMine, ...props }: Props) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { username } = useSession()
  const { theirs, theirChanges, myChanges, replaced } = props
  const lost = theirChanges.filter(({ key }) => replaced.some((other) => other.key === key))
  const [isOpen, setOpen] = useState(lost.length > 0)
  const { modifiedUser = null, modifiedDate = null } = theirs
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
  [...new Set(changes.map(({ label }) => label))]
    .map((label) => t('editor.conflict.quoted', { label }))
    .join(', ')

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
