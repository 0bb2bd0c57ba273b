import { Select } from '@mantine/core'
import { textOr, useTranslation } from '../texts/translate.ts'
import type { FileResult } from '../api/imports.ts'
import { fieldInWords } from '../audit/changes.ts'
import { useTimeFormat, type TimeFormat } from '../components/time.ts'
import settings from '../setup/settings.module.css'
import classes from './import.module.css'
import { sayRefusal } from './refusals.ts'
import { fieldText } from './texts.ts'

type Props = {
  result: FileResult
  isBusy: boolean
  onMap: (column: string, field: string) => void
}

/** What each column is read as, to be corrected in place, and the first rows as they are read. */
export function Columns({ result, isBusy, onMap }: Props) {
  const { t } = useTranslation()
  const named = result.columns.filter(({ column }) => column !== '')
  return (
    <section className="card panel">
      <header>
        <h2>{t('words.columns')}</h2>
      </header>
      <p className="soft small" style={{ marginTop: 0 }}>
        {t('import.headerRow', { row: result.headerRow })} {t('import.mappingHint')}
      </p>
      <div className={settings.scroll} tabIndex={0} role="region" aria-label={t('words.columns')}>
        <table className="table">
          <thead>
            <tr>
              {named.map(({ column }, i) => (
                <th key={`${i} ${column}`} dir="auto">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <tr>
              {named.map(({ column, field }, i) => (
                <td key={`${i} ${column}`}>
                  <Select
                    className={classes.columnSelect}
                    size="xs"
                    aria-label={t('import.fieldOf', { column })}
                    value={field ?? ''}
                    onChange={(value) => onMap(column, value ?? '')}
                    data={[
                      { value: '', label: t('import.notImported') },
                      ...result.fields
                        .filter((name) => name === field || !TECHNICAL.test(name))
                        .map((name) => ({ value: name, label: nameOf(name) })),
                    ]}
                    disabled={isBusy}
                    searchable
                    allowDeselect={false}
                  />
                </td>
              ))}
            </tr>
          </tbody>
        </table>
      </div>
      <FirstRows result={result} />
    </section>
  )
}

function FirstRows({ result: { rows, rowCount } }: { result: FileResult }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const fields = [...new Set(rows.flatMap(({ values }) => Object.keys(values)))]
  if (rows.length === 0) return null
  return (
    <>
      <h3 className="small strong" style={{ margin: '18px 0 6px' }}>
        {t('import.firstRows', { count: rows.length, total: rowCount })}
      </h3>
      <div className={settings.scroll} tabIndex={0} role="region" aria-label={t('import.asRead')}>
        <table className="table">
          <thead>
            <tr>
              <th>{t('import.line')}</th>
              {fields.map((field) => (
                <th key={field}>{nameOf(field)}</th>
              ))}
              <th>{t('import.reason')}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ line, values, why }) => (
              <tr key={line}>
                <td className="numbers">{line}</td>
                {fields.map((field) => (
                  <td key={field} dir="auto">
                    {shown(field, values[field], format)}
                  </td>
                ))}
                <td className="clay small">{why && sayRefusal(why)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

function shown(field: string, value: unknown, format: TimeFormat) {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number' && field.endsWith('Time')) {
    return `${format.isoDay(value)} ${format.time(value)}`
  }
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Fields that only programs fill in: ids of this service, and references between lines. */
const TECHNICAL =
  /^(?:ref|active|previousStartTime|answeredTime|answerNote|changeNote|invitationUUID|(?!external)[a-z]+Id(?:List)?)$|Ref(?:List)?$|^(?!client).+ExternalId(?:List)?$/

const nameOf = (field: string) =>
  fieldText(field) ?? textOr(`settings.setup.fields.${field}`, fieldInWords(field))
