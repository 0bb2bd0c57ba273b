import { Button, Modal, TextInput } from '@mantine/core'
import { IconPlus, IconSearch } from '../components/icons.tsx'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Trans } from '../texts/trans.tsx'
import { useTranslation } from '../texts/translate.ts'
import { automationsQuery, type Automation } from '../api/automations.ts'
import { useSession } from '../api/session.ts'
import type { Template } from '../api/setup.ts'
import { freeName, saveTemplate, templatesQuery } from '../api/templates.ts'
import { faultAt } from '../components/faults.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { useRowKeys } from '../components/row-keys.ts'
import { LoadingRows } from '../components/skeletons.tsx'
import { Empty, Loaded } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { nameOfUser } from '../components/user-name.ts'
import { PageHead } from '../shell/page-head.tsx'
import { automationsOf } from '../templates/draft.ts'
import { isForSome } from '../templates/reach.ts'
import { useReach } from '../templates/template-words.ts'
import { TemplateMenu, useOpenTemplate } from '../templates/template-menu.tsx'
import classes from './templates.module.css'

export function TemplatesPage() {
  const { t } = useTranslation()
  useRowKeys()
  const { functions } = useSession()
  const canEdit = functions.includes('EDIT_TEMPLATES')
  const templates = useQuery(templatesQuery)
  const automations = useQuery({ ...automationsQuery, retry: false })
  const [text, setText] = useState('')
  const [isCreating, setCreating] = useState(false)
  return (
    <>
      <PageHead
        title={t('templates.title')}
        lede={templates.data && <Lede templates={templates.data} automations={automations.data} />}
      >
        {canEdit && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
            {t('templates.new')}
          </Button>
        )}
      </PageHead>
      <TextInput
        leftSection={<IconSearch size={15} aria-hidden />}
        placeholder={t('templates.find')}
        aria-label={t('templates.find')}
        w={260}
        mb={14}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Loaded
        query={{ ...templates, data: automations.isLoading ? undefined : templates.data }}
        title={t('errors.list')}
        loading={<LoadingRows rows={10} />}
      >
        {(templates) => (
          <List
            templates={templates}
            automations={automations.data}
            text={text}
            canEdit={canEdit}
            onCreate={() => setCreating(true)}
            onClear={() => setText('')}
          />
        )}
      </Loaded>
      {isCreating && (
        <NewTemplate templates={templates.data ?? []} onClose={() => setCreating(false)} />
      )}
    </>
  )
}

/** How many mails there are, and how many of them automations send. */
function Lede({ templates, automations }: Pick<ListProps, 'templates' | 'automations'>) {
  const used = templates.filter((one) => usesOf(one, templates, automations).length > 0)
  return (
    <Trans
      i18nKey="templates.lede"
      values={{ count: mailsOf(templates).length, used: mailsOf(used).length }}
      components={{ b: <b /> }}
    />
  )
}

/** The automations that send it or a template of the same name. */
function usesOf({ templateName }: Template, templates: Template[], automations: Automation[] = []) {
  const named = templates.filter((template) => template.templateName === templateName)
  return automationsOf(new Set(named.map(({ emailTemplateId }) => emailTemplateId)), automations)
}

type ListProps = {
  templates: Template[]
  automations: Automation[] | undefined
  text: string
  canEdit: boolean
  onCreate: () => void
  onClear: () => void
}

function List({ templates, automations, text, canEdit, onCreate, onClear }: ListProps) {
  const { t } = useTranslation()
  if (mailsOf(templates).length === 0) return <NoTemplate {...{ canEdit, onCreate }} />
  const searchText = text.trim().toLowerCase()
  const isFound = ({ templateName, subject }: Template) =>
    `${templateName} ${subject}`.toLowerCase().includes(searchText)
  const rows = mailsOf(templates).filter((versions) => versions.some(isFound))
  if (rows.length === 0) {
    return (
      <Empty
        title={t('templates.notFound')}
        actions={
          <button type="button" className="button" onClick={onClear}>
            {t('templates.all')}
          </button>
        }
      >
        {t('templates.notFoundHint')}
      </Empty>
    )
  }
  return (
    <div className="card" style={{ overflow: 'hidden' }}>
      <div className={`list-row list-head ${classes.row} ${classes.head}`} aria-hidden>
        <span>{t('templates.name')}</span>
        <span>{t('templates.versions')}</span>
        <span>{t('templates.usedBy')}</span>
        <span>{t('templates.changed')}</span>
        <span />
      </div>
      {rows.map((versions) => (
        <Row
          key={versions[0]!.emailTemplateId}
          versions={versions}
          automations={usesOf(versions[0]!, templates, automations)}
          canEdit={canEdit}
        />
      ))}
    </div>
  )
}

function NoTemplate({ canEdit, onCreate }: Pick<ListProps, 'canEdit' | 'onCreate'>) {
  const { t } = useTranslation()
  return (
    <Empty
      title={t('templates.none')}
      actions={
        canEdit && (
          <>
            <button type="button" className="button" onClick={onCreate}>
              {t('templates.new')}
            </button>
            <Link to="/automations" className="button quiet">
              {t('templates.toRecipes')}
            </Link>
          </>
        )
      }
    >
      {t('templates.noneHint')}
    </Empty>
  )
}

/**
 * The templates of the same name: versions of one mail, the one for everybody first. A mail of
 * which every version was switched off is not listed.
 */
const mailsOf = (templates: Template[]) =>
  [...Map.groupBy(templates, ({ templateName }) => templateName).values()]
    .filter((versions) => versions.some(({ active }) => active))
    .map((versions) =>
      versions.toSorted(
        (a, b) =>
          Number(b.active) - Number(a.active) ||
          Number(isForSome(a)) - Number(isForSome(b)) ||
          Number(a.language !== null) - Number(b.language !== null) ||
          a.emailTemplateId - b.emailTemplateId,
      ),
    )
    .toSorted(([a], [b]) => a!.templateName.localeCompare(b!.templateName))

type RowProps = { versions: Template[]; automations: Automation[]; canEdit: boolean }

function Row({ versions, automations, canEdit }: RowProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const reach = useReach()
  const template = versions[0]!
  const { emailTemplateId, templateName, subject } = template
  const { modifiedDate, modifiedUser } = versions.toSorted(
    (a, b) => b.modifiedDate - a.modifiedDate,
  )[0]!
  return (
    <div className={`list-row ${classes.row}`}>
      <Link
        to="/templates/$emailTemplateId"
        params={{ emailTemplateId: String(emailTemplateId) }}
        className={classes.open}
      >
        <b dir="auto">{templateName}</b>
        <span className="ellipsis soft small" dir="auto">
          <Subject text={subject} />
        </span>
      </Link>
      <span className={`small ${classes.languages}`}>
        {versions.map((version) => (
          <Link
            key={version.emailTemplateId}
            to="/templates/$emailTemplateId"
            params={{ emailTemplateId: String(version.emailTemplateId) }}
          >
            {reach.label(version)}
            {!version.active && ` (${t('template.draft')})`}
          </Link>
        ))}
      </span>
      <span className="soft small">
        {automations.length === 0
          ? t('templates.unused')
          : t('template.automations', { count: automations.length })}
      </span>
      <span className="soft small">
        {t('templates.changedBy', {
          user: nameOfUser(modifiedUser, t),
          time: format.moment(modifiedDate),
        })}
      </span>
      <TemplateMenu
        template={template}
        automations={automations.length}
        canEdit={canEdit}
        isInList
      />
    </div>
  )
}

/** The subject with its tokens as chips. */
function Subject({ text }: { text: string }) {
  const parts = text.split(/%([A-Z][A-Z0-9_]{2,})(?:\|[^%]*)?%/)
  return parts.map((piece, index) =>
    index % 2 === 0 ? (
      piece
    ) : (
      <span key={index} className="token">
        {piece}
      </span>
    ),
  )
}

function NewTemplate({ templates, onClose }: { templates: Template[]; onClose: () => void }) {
  const { t } = useTranslation()
  const open = useOpenTemplate()
  const [name, setName] = useState('')
  const create = useMutation({
    mutationFn: () =>
      saveTemplate({
        templateName: freeName(
          name.trim(),
          new Set(templates.map(({ templateName }) => templateName)),
        ),
        subject: t('templates.newSubject'),
        emailBody: t('templates.newParagraphs')
          .split('\n')
          .map((paragraph) => `<p>${paragraph}</p>`)
          .join('\n'),
        fromName: '%BUSINESS_NAME%',
        toAddress: '%CLIENT_EMAILADDRESS%',
      }),
    onSuccess: open,
  })
  const fault = faultAt(create.error, 'templateName')
  return (
    <Modal opened onClose={onClose} title={t('templates.new')} centered>
      <form
        className="column"
        style={{ gap: 14 }}
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate()
        }}
      >
        <TextInput
          data-autofocus
          required
          label={t('template.fields.templateName')}
          description={t('template.nameHint')}
          maxLength={200}
          value={name}
          error={fault ?? (create.error ? <ErrorMessage error={create.error} /> : undefined)}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <div className="row" style={{ justifyContent: 'flex-end' }}>
          <Button variant="default" onClick={onClose}>
            {t('templates.cancel')}
          </Button>
          <Button type="submit" loading={create.isPending} disabled={!name.trim()}>
            {t('templates.create')}
          </Button>
        </div>
      </form>
    </Modal>
  )
}
