import { Button, Menu, Modal } from '@mantine/core'
import { IconLanguage, IconPlus } from '../components/icons.tsx'
import { useState } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import { useSession } from '../api/session.ts'
import type { Template } from '../api/setup.ts'
import { clientLanguagesQuery, saveTemplate, templateKind } from '../api/templates.ts'
import { COMMON_LANGUAGES, languageName, primaryLanguage } from './languages.ts'
import type { Draft } from './draft.ts'
import { FOR_ALL, isForSome, languagesFor, type VersionReach } from './reach.ts'
import { ReachFields } from './reach-fields.tsx'
import classes from './template.module.css'
import { useReach } from './template-words.ts'
import { faultAt } from '../components/faults.ts'
import { ErrorMessage } from '../components/error-message.tsx'

/** Used if neither the template nor the business has a language. */
const DEFAULT_LANGUAGE = 'en'

type Props = { template: Template; variants: Template[]; canEdit: boolean }

/** Creates a copy for other readers and opens it. It is inactive, so that no client gets it yet. */
function useNewVariant(template: Template) {
  const navigate = useNavigate()
  return useMutation({
    mutationFn: (reach: Partial<Draft>) =>
      saveTemplate({ ...templateKind.draftOf(template), ...reach, active: false }),
    onSuccess: ({ emailTemplateId }) =>
      navigate({
        to: '/templates/$emailTemplateId',
        params: { emailTemplateId: String(emailTemplateId) },
      }),
  })
}

/** The languages of clients, and those that the versions of a mail with this reach are written in. */
function useLanguages(reach: VersionReach, versions: Template[]) {
  const { business } = useSession()
  const { data: clients } = useQuery(clientLanguagesQuery)
  const own = primaryLanguage(business.language ?? DEFAULT_LANGUAGE)
  return { own, written: languagesFor(reach, versions, own), clients }
}

/** The variants of a template, each with its language, and a button for one more. */
export function LanguageBar({ template, variants, canEdit }: Props) {
  const { t } = useTranslation()
  // A further version is for the same services and location.
  const { written, clients } = useLanguages(template, [template, ...variants])
  const create = useNewVariant(template)
  const reach = useReach()
  const [isAdding, setAdding] = useState(false)
  const spoken = (clients ?? []).flatMap(({ language }) => language ?? [])
  const offered = [...new Set([...spoken, ...COMMON_LANGUAGES])].filter(
    (language) => !written.has(language),
  )
  return (
    <div className={classes.languages}>
      {[template, ...variants]
        .toSorted((a, b) => a.emailTemplateId - b.emailTemplateId)
        .map((variant) => (
          <Link
            key={variant.emailTemplateId}
            to="/templates/$emailTemplateId"
            params={{ emailTemplateId: String(variant.emailTemplateId) }}
            className="chip"
            data-on={variant === template || undefined}
            aria-current={variant === template ? 'page' : undefined}
          >
            {reach.label(variant)}
            {!variant.active && <span className="faint">{t('template.draft')}</span>}
          </Link>
        ))}
      {canEdit && (
        <Menu position="bottom-start">
          <Menu.Target>
            <button type="button" className="chip">
              <IconPlus size={13} aria-hidden />
              {t('template.variant')}
            </button>
          </Menu.Target>
          <Menu.Dropdown>
            {offered.slice(0, 10).map((language) => (
              <Menu.Item key={language} onClick={() => create.mutate({ language })}>
                {languageName(language)}
              </Menu.Item>
            ))}
            <Menu.Divider />
            <Menu.Item onClick={() => setAdding(true)}>{t('template.variantForSome')}</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      {create.error && (
        <span role="alert" className="clay tiny">
          <ErrorMessage error={create.error} />
        </span>
      )}
      {isAdding && <NewVariant create={create} onClose={() => setAdding(false)} />}
    </div>
  )
}

type NewProps = {
  create: ReturnType<typeof useNewVariant>
  onClose: () => void
}

/** Asks for which services and which location the new version is. */
function NewVariant({ create, onClose }: NewProps) {
  const { t } = useTranslation()
  const [reach, setReach] = useState(FOR_ALL)
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('template.newVariant')}
      closeButtonProps={{ 'aria-label': t('words.close') }}
    >
      <form
        className="column"
        style={{ gap: 14 }}
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate(reach, { onSuccess: onClose })
        }}
      >
        <ReachFields
          value={reach}
          faultOf={(field) => faultAt(create.error, field)}
          onChange={(change) => setReach({ ...reach, ...change })}
        />
        <div className="row" style={{ justifyContent: 'flex-end' }}>
          <Button type="submit" loading={create.isPending} disabled={!isForSome(reach)}>
            {t('template.addVariant')}
          </Button>
        </div>
      </form>
    </Modal>
  )
}

/** Says how many clients read a language that the template is not written in. */
export function LanguageHint({ template, variants, canEdit }: Props) {
  const { t } = useTranslation()
  const { own, written, clients } = useLanguages(FOR_ALL, [template, ...variants])
  const create = useNewVariant(template)
  const missing = clients?.find(({ language }) => language !== null && !written.has(language))
  // Readers of other languages get the first of the variants.
  const isFirst = variants.every(
    ({ emailTemplateId }) => emailTemplateId > template.emailTemplateId,
  )
  if (!missing?.language || !isFirst) return null
  const total = clients!.reduce((sum, row) => sum + row.clients, 0)
  const language = languageName(missing.language)
  return (
    <div className={classes.hint}>
      <IconLanguage size={18} stroke={1.7} aria-hidden />
      <span className="grow">
        <b>{t('template.languageHint', { count: missing.clients, total, language })}</b>{' '}
        {t('template.languageHintText', { language: languageName(template.language ?? own) })}
      </span>
      {canEdit && (
        <Button
          size="xs"
          variant="default"
          loading={create.isPending}
          onClick={() => create.mutate({ ...FOR_ALL, language: missing.language })}
        >
          {t('template.addLanguage', { language })}
        </Button>
      )}
    </div>
  )
}
