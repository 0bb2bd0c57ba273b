import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { StoredAutomation } from '../api/automation.ts'
import type { Setup } from '../api/setup.ts'
import { useTimeFormat } from '../components/time.ts'
import { differences, draftOf, type Draft } from './draft.ts'
import classes from './editor.module.css'

type Props = {
  theirs: StoredAutomation
  mine: Draft
  setup: Setup
  onTakeTheirs: () => void
  onKeepMine: () => void
}

/** Another user saved the automation in the meantime: shows both versions side by side. */
export function Conflict({ theirs, mine, setup, onTakeTheirs, onKeepMine }: Props) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { modifiedUser, modifiedDate } = theirs.definition
  const rows = differences(draftOf(theirs), mine, setup)
  return (
    <section role="alert" className={`card ${classes.conflict}`}>
      <h2 className={classes.cardTitle}>{t('editor.conflict.title')}</h2>
      <p className="soft small">
        {t('editor.conflict.by', {
          user: modifiedUser ?? '',
          time: modifiedDate === null ? '' : format.moment(modifiedDate),
        })}
      </p>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{t('editor.conflict.what')}</th>
            <th scope="col">{t('editor.conflict.theirs')}</th>
            <th scope="col">{t('editor.conflict.mine')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, label, from, to }) => (
            <tr key={key}>
              <th scope="row">{label}</th>
              <td dir="auto">{from}</td>
              <td dir="auto">{to}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="row" style={{ marginTop: 12, flexWrap: 'wrap' }}>
        <Button variant="default" onClick={onTakeTheirs}>
          {t('editor.conflict.takeTheirs')}
        </Button>
        <Button onClick={onKeepMine}>{t('editor.conflict.keepMine')}</Button>
        <span className="faint small">{t('editor.conflict.keepMineHint')}</span>
      </div>
    </section>
  )
}
