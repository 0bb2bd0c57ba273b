import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import classes from './conflict.module.css'
import { useTimeFormat } from './time.ts'

/** One difference between two versions, in words. */
export type Difference = { key: string; label: string; from: string; to: string }

type Props = {
  /** Who saved the other version, and when. */
  theirs: { modifiedUser: string | null; modifiedDate: number | null }
  /** From their version to mine. */
  differences: Difference[]
  onTakeTheirs: () => void
  onKeepMine: () => void
}

/** Another user saved the object in the meantime: shows both versions side by side. */
export function Conflict({ theirs, differences, onTakeTheirs, onKeepMine }: Props) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { modifiedUser, modifiedDate } = theirs
  return (
    <section role="alert" className={`card ${classes.conflict}`}>
      <h2 className={classes.title}>{t('editor.conflict.title')}</h2>
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
          {differences.map(({ key, label, from, to }) => (
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
