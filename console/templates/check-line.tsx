import { IconAlertTriangle, IconCheck } from '../components/icons.tsx'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import { checkQuery, type TemplateBody } from '../api/templates.ts'
import classes from './template.module.css'

type Props = {
  emailTemplateId: number
  changes: TemplateBody
  /** Shows the mail about an object. */
  onShow: (key: string) => void
}

/** Shows which tokens have no value in the latest appointments, and problems with the sender. */
export function CheckLine({ emailTemplateId, changes, onShow }: Props) {
  const { t } = useTranslation()
  const { data } = useQuery({
    ...checkQuery(emailTemplateId, changes),
    placeholderData: keepPreviousData,
  })
  if (!data) return null
  const { warnings } = data
  const example = warnings.find((warning) => warning.example)?.example
  if (warnings.length === 0) {
    return (
      <div className={classes.check} role="status">
        <IconCheck size={15} className="accent" aria-hidden />
        {t('template.check.fine')}
      </div>
    )
  }
  return (
    <div className={classes.check} role="status" data-warning>
      <IconAlertTriangle size={15} className="amber" aria-hidden />
      <span className="grow">
        {warnings.map(({ property, token, detail, objects = 0, of = 0 }) => (
          <span key={token ?? detail} className={classes.warning}>
            {property === 'emailCategory' ? (
              t('editor.plan.lacksPostalAddress')
            ) : token === undefined ? (
              detail
            ) : (
              <>
                <span className={classes.tokenName}>{token.slice(1, -1)}</span>{' '}
                {t('template.check.empty', { count: objects, of })}
              </>
            )}
          </span>
        ))}
      </span>
      {example && (
        <button
          type="button"
          className={classes.link}
          onClick={() => onShow(String(example.objectId))}
        >
          {t('template.check.show')}
        </button>
      )}
    </div>
  )
}
