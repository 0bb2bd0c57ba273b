import { Button, Menu, SegmentedControl } from '@mantine/core'
import { useDebouncedValue, useHotkeys, useMediaQuery } from '@mantine/hooks'
import { IconChevronLeft } from '@tabler/icons-react'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import type { Editor } from '@tiptap/react'
import { useCallback, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ProblemError } from '../../src/client/client.ts'
import type { ObjectType } from '../../src/contract/event-type.ts'
import { automationsQuery, type Automation } from '../api/automations.ts'
import { useSession } from '../api/session.ts'
import type { Template } from '../api/setup.ts'
import {
  categoriesQuery,
  examplesQuery,
  readTemplate,
  saveTemplate,
  templateQuery,
  templatesQuery,
  tokensQuery,
  type StoredTemplate,
  type TokenGroup,
} from '../api/templates.ts'
import { Conflict } from '../components/conflict.tsx'
import { Filled, part } from '../components/filled.tsx'
import { ErrorMessage, NotSaved } from '../components/error-message.tsx'
import { LeaveWindow } from '../components/leave-window.tsx'
import { SaveKeys } from '../components/save-keys.tsx'
import { LoadingColumns } from '../components/skeletons.tsx'
import { Failure } from '../components/states.tsx'
import { Clock } from '../shell/page-head.tsx'
import { AddressFields } from '../templates/address-fields.tsx'
import { BodySection, MODES, type Insert, type Mode } from '../templates/body-section.tsx'
import { CheckLine } from '../templates/check-line.tsx'
import { Details } from '../templates/details.tsx'
import {
  automationsOf,
  changesOf,
  differences,
  draftOf,
  mergeDrafts,
  objectTypeOf,
  type Draft,
} from '../templates/draft.ts'
import { isKeptByEditor } from '../templates/keep.ts'
import { LanguageBar, LanguageHint } from '../templates/language-bar.tsx'
import { PreviewPanel } from '../templates/preview-panel.tsx'
import classes from '../templates/template.module.css'
import { TemplateMenu } from '../templates/template-menu.tsx'
import { TestSend } from '../templates/test-send.tsx'
import { TokenList } from '../templates/token-list.tsx'
import { TokenMenu } from '../templates/token-menu.tsx'
import { insertPiece, type TokenOptions } from '../templates/token-node.ts'
import { offer, sectionsOf, type TokenSection } from '../templates/token-search.ts'

export function TemplatePage() {
  const { t } = useTranslation()
  const { emailTemplateId } = useParams({ from: '/shell/templates/$emailTemplateId' })
  const template = useQuery(templateQuery(Number(emailTemplateId)))
  const templates = useQuery(templatesQuery)
  const automations = useQuery({ ...automationsQuery, retry: false })
  const tokens = useQuery(tokensQuery())
  const error = template.error ?? templates.error ?? tokens.error
  if (template.data && templates.data && tokens.data && !automations.isLoading) {
    return (
      <TemplateEditor
        key={emailTemplateId}
        opened={template.data}
        templates={templates.data}
        automations={automations.data ?? []}
        groups={tokens.data}
      />
    )
  }
  return (
    <>
      <h1 className={classes.title}>{t('templates.title')}</h1>
      {error ? (
        <Failure
          error={error}
          onRetry={() => {
            for (const { refetch } of [template, templates, tokens]) void refetch()
          }}
        />
      ) : (
        <LoadingColumns />
      )}
    </>
  )
}

const DEBOUNCE_MS = 300

type EditorProps = {
  opened: StoredTemplate
  templates: Template[]
  automations: Automation[]
  groups: TokenGroup[]
}

function TemplateEditor({ opened, templates, automations, groups }: EditorProps) {
  const { t } = useTranslation()
  const canEdit = useSession().functions.includes('EDIT_TEMPLATES')
  const editing = useEditing(opened, templates)
  const { changes, theirs } = editing
  const { template } = editing.stored
  const { emailTemplateId } = template
  const variants = templates.filter(
    (other) =>
      other.templateName === template.templateName && other.emailTemplateId !== emailTemplateId,
  )
  const ids = new Set([template, ...variants].map((one) => one.emailTemplateId))
  const used = automationsOf(ids, automations)
  const objectType = objectTypeOf(used, editing.draft)
  const shown = useShownMail(objectType, editing.draft.language, groups)
  const { examples, example, sections, onShow } = shown
  const { insert, ...targets } = useInsertTarget()
  const [settled] = useDebouncedValue(changes, DEBOUNCE_MS)
  const count = Object.keys(changes).length
  return (
    <>
      <Head
        editing={editing}
        automations={used}
        objectType={objectType}
        canEdit={canEdit}
        count={count}
      />
      {theirs && <TemplateConflict editing={editing} theirs={theirs} />}
      {!template.active && (
        <p className={`amber small ${classes.note}`}>{t('template.inactive')}</p>
      )}
      {!canEdit && <p className={`soft small ${classes.note}`}>{t('editor.readOnly')}</p>}
      <div className={`card ${classes.columns}`}>
        <Tokens sections={sections} onInsert={canEdit ? insert : undefined} />
        <div className={classes.middle}>
          <Text
            editing={editing}
            variants={variants}
            tokens={useTokenOptions(groups, sections)}
            canEdit={canEdit}
            {...targets}
          />
          <LanguageHint template={template} variants={variants} canEdit={canEdit} />
          {canEdit && (
            <CheckLine emailTemplateId={emailTemplateId} changes={settled} onShow={onShow} />
          )}
        </div>
        <aside className={classes.preview} aria-label={t('template.preview.title')}>
          <PreviewPanel
            emailTemplateId={emailTemplateId}
            changes={settled}
            examples={examples}
            example={example}
            onChoose={onShow}
          />
          <div className="grow" />
          {canEdit && (
            <TestSend emailTemplateId={emailTemplateId} changes={changes} example={example} />
          )}
        </aside>
      </div>
      <TokenMenu sections={sections} />
      <LeaveWindow changes={count} />
    </>
  )
}

/** The object that the preview is about, and the tokens with their values for it. */
function useShownMail(objectType: ObjectType, language: string | null, groups: TokenGroup[]) {
  const { data: examples } = useQuery(examplesQuery(objectType))
  const [chosen, onShow] = useState<string>()
  const example = examples?.find(({ key }) => key === chosen) ?? examples?.[0]
  const about = example && { objectType: example.objectType, objectId: example.objectId }
  const { data: valued } = useQuery({
    ...tokensQuery(about, language),
    enabled: example !== undefined,
    placeholderData: keepPreviousData,
  })
  const sections = useMemo(
    () => sectionsOf(valued ?? groups, objectType),
    [valued, groups, objectType],
  )
  return { examples, example, sections, onShow }
}

type TokensProps = { sections: TokenSection[]; onInsert: Insert | undefined }

/** The list of tokens; on a phone it opens on demand. */
function Tokens({ sections, onInsert }: TokensProps) {
  const { t } = useTranslation()
  const isPhone = useMediaQuery('(max-width: 768px)', false)
  const list = <TokenList sections={sections} onInsert={onInsert} />
  return (
    <aside className={classes.tokens} aria-label={t('template.tokens.title')}>
      {isPhone ? (
        <details>
          <summary>{t('template.tokens.title')}</summary>
          {list}
        </details>
      ) : (
        list
      )}
    </aside>
  )
}

type TextProps = {
  editing: Editing
  variants: Template[]
  tokens: TokenOptions
  canEdit: boolean
} & Omit<ReturnType<typeof useInsertTarget>, 'insert'>

/** Addresses, subject and text. */
function Text({ editing, variants, tokens, canEdit, onEditor, onInsertTarget }: TextProps) {
  const { t } = useTranslation()
  const { stored, draft, save, change, revision, replace } = editing
  const [mode, setMode] = useState<Mode>(() =>
    isKeptByEditor(draft.emailBody, tokens) ? 'write' : 'html',
  )
  const shared = { draft, tokens, error: save.error, onChange: canEdit ? change : undefined }
  return (
    <>
      <div className={classes.bar}>
        <LanguageBar template={stored.template} variants={variants} canEdit={canEdit} />
        <SegmentedControl
          size="xs"
          aria-label={t('template.mode')}
          value={mode}
          onChange={(next) => setMode(next as Mode)}
          data={MODES.map((value) => ({ value, label: t(`template.modes.${value}`) }))}
        />
      </div>
      <AddressFields key={`fields ${revision}`} {...shared} onFocus={onEditor} />
      <BodySection
        key={`body ${revision}`}
        {...shared}
        mode={mode}
        onEditor={onEditor}
        onInsertTarget={onInsertTarget}
        onReplace={replace}
      />
    </>
  )
}

/** The stored template, the draft, and how the draft is saved. */
function useEditing(opened: StoredTemplate, templates: Template[]) {
  const [stored, setStored] = useState(opened)
  const base = useMemo(() => draftOf(stored.template), [stored])
  const [draft, setDraft] = useState(base)
  /** The key of the fields. They keep their own text, so only a new key shows another text. */
  const [revision, setRevision] = useState(0)
  const [theirs, setTheirs] = useState<StoredTemplate>()
  const [hasTheirsFailed, setTheirsFailed] = useState(false)
  const changes = useMemo(() => changesOf(base, draft), [base, draft])
  const { emailTemplateId } = stored.template
  const replace = (change: Partial<Draft>) => {
    setDraft((known) => ({ ...known, ...change }))
    setRevision((known) => known + 1)
  }
  const show = (next: StoredTemplate, mine = draftOf(next.template)) => {
    setStored(next)
    setTheirs(undefined)
    replace(mine)
  }
  const save = useMutation({
    mutationFn: async (sent: Draft) => {
      const body = { emailTemplateId, ...changesOf(base, sent) }
      const saved = await saveTemplate(body, stored.etag)
      await renameVariants(base.templateName, saved.template, templates)
      return saved
    },
    onMutate: () => setTheirsFailed(false),
    onSuccess: (saved, sent) => {
      // The fields already show the saved text, unless the service stored other HTML.
      if (saved.template.emailBody !== sent.emailBody) return show(saved)
      setStored(saved)
      // Text that the user typed meanwhile stays unsaved.
      setDraft((now) => mergeDrafts(sent, now, draftOf(saved.template)))
    },
    onError: async (error) => {
      if (!(error instanceof ProblemError && error.status === 412)) return
      const other = await readTemplate(emailTemplateId).catch(() => undefined)
      if (!other) return setTheirsFailed(true)
      const theirDraft = draftOf(other.template)
      const left = changesOf(theirDraft, mergeDrafts(base, draft, theirDraft))
      // This draft was saved before, but the answer was lost.
      if (Object.keys(left).length === 0) return show(other)
      setTheirs(other)
    },
  })
  return {
    stored,
    base,
    draft,
    changes,
    revision,
    theirs,
    hasTheirsFailed,
    save,
    replace,
    show,
    change: useCallback(
      (change: Partial<Draft>) => setDraft((known) => ({ ...known, ...change })),
      [],
    ),
  }
}

type Editing = ReturnType<typeof useEditing>

/** Variants have the same name: they are renamed together. */
async function renameVariants(before: string, { templateName }: Template, templates: Template[]) {
  if (before === templateName) return
  for (const variant of templates) {
    if (variant.templateName !== before) continue
    await saveTemplate({ emailTemplateId: variant.emailTemplateId, templateName })
  }
}

type HeadProps = {
  editing: Editing
  automations: Automation[]
  objectType: ObjectType
  canEdit: boolean
  count: number
}

function Head({ editing, automations, objectType, canEdit, count }: HeadProps) {
  const { t } = useTranslation()
  const { draft, save, hasTheirsFailed } = editing
  const isConflict = save.error instanceof ProblemError && save.error.status === 412
  const isFaulty = save.error instanceof ProblemError && save.error.errors.length > 0
  return (
    <header className={classes.head}>
      <Link to="/templates" className={`soft row ${classes.back}`}>
        <IconChevronLeft size={15} aria-hidden />
        {t('templates.title')}
      </Link>
      <span className="faint" aria-hidden>
        /
      </span>
      <h1 className={`ellipsis ${classes.title}`} dir="auto">
        {draft.templateName}
      </h1>
      <span className="chip">{t(`template.about.${objectType}`)}</span>
      <UsedBy automations={automations} />
      {count > 0 && (
        <span className={`chip ${classes.unsaved}`}>{t('editor.unsaved', { count })}</span>
      )}
      <span className="grow" />
      <span className={classes.clock}>
        <Clock />
      </span>
      {canEdit && <HeadActions editing={editing} automations={automations.length} count={count} />}
      {save.error && (!isConflict || hasTheirsFailed) && (
        <div role="alert" className={`clay small ${classes.saveError}`}>
          {isFaulty ? (
            t('template.refused')
          ) : isConflict ? (
            t('editor.conflict.unread')
          ) : (
            <NotSaved reason={<ErrorMessage error={save.error} />} />
          )}
        </div>
      )}
    </header>
  )
}

type ActionsProps = { editing: Editing; automations: number; count: number }

function HeadActions({ editing, automations, count }: ActionsProps) {
  const { t } = useTranslation()
  const { stored, base, draft, save, theirs, change, replace, show } = editing
  const { template } = stored
  const canSave = count > 0 && !save.isPending && !theirs
  const onSave = () => canSave && save.mutate(draft)
  useHotkeys([['mod+S', onSave]], [], true)
  const onDiscard = () => {
    replace(base)
    save.reset()
  }
  const onSwitched = async (switched: StoredTemplate | undefined) =>
    show(switched ?? (await readTemplate(template.emailTemplateId)), draft)
  return (
    <span className={classes.actions}>
      <Details draft={draft} error={save.error} onChange={change} />
      <TemplateMenu
        template={template}
        automations={automations}
        canEdit
        onDiscard={count > 0 && !save.isPending ? onDiscard : undefined}
        onSwitched={(switched) => void onSwitched(switched)}
      />
      <Button
        className={classes.save}
        loading={save.isPending}
        disabled={!canSave}
        onClick={onSave}
        rightSection={<SaveKeys />}
      >
        {t(save.isSuccess && count === 0 ? 'editor.saved' : 'editor.save')}
      </Button>
    </span>
  )
}

/** "used by 1 automation", as a link; several open a list. */
function UsedBy({ automations }: { automations: Automation[] }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [first] = automations
  const count = automations.length
  const words = t('template.automations', { count })
  const open = ({ eventDefnId }: Automation) =>
    navigate({
      to: '/automations/$eventDefnId',
      params: { eventDefnId: String(eventDefnId) },
    })
  if (!first) return <span className="faint small">{t('template.unused')}</span>
  const link =
    count === 1 ? (
      <Link
        to="/automations/$eventDefnId"
        params={{ eventDefnId: String(first.eventDefnId) }}
        className={classes.usedLink}
      >
        {words}
      </Link>
    ) : (
      <Menu position="bottom-start">
        <Menu.Target>
          <button type="button" className={classes.link}>
            {words}
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          {automations.map((automation) => (
            <Menu.Item key={automation.eventDefnId} onClick={() => void open(automation)}>
              {automation.description ?? t('editor.unnamed')}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    )
  return (
    <span className="faint small">
      <Filled
        text={t('template.usedBy', { automations: part('automations') })}
        parts={{ automations: link }}
      />
    </span>
  )
}

function TemplateConflict({ editing, theirs }: { editing: Editing; theirs: StoredTemplate }) {
  const { base, draft, save, show } = editing
  const { data: categories } = useQuery(categoriesQuery)
  const mine = mergeDrafts(base, draft, draftOf(theirs.template))
  return (
    <div className={classes.note}>
      <Conflict
        theirs={theirs.template}
        theirChanges={differences(base, draftOf(theirs.template), categories ?? [])}
        myChanges={differences(base, draft, categories ?? [])}
        replaced={differences(draftOf(theirs.template), mine, categories ?? [])}
        onTakeTheirs={() => {
          show(theirs)
          save.reset()
        }}
        onKeepMine={() => {
          show(theirs, mine)
          save.reset()
        }}
      />
    </div>
  )
}

/** The known tokens and the menu after `%`. The editors need the same object in every render. */
function useTokenOptions(groups: TokenGroup[], sections: TokenSection[]): TokenOptions {
  const latest = useRef(sections)
  latest.current = sections
  return useMemo(
    () => ({
      names: new Set(
        groups.flatMap((group) => group.tokens).map(({ token }) => token.slice(1, -1)),
      ),
      find: (query: string) => offer(latest.current, query),
    }),
    [groups],
  )
}

/** A token of the list is inserted into the field that last had the focus. */
function useInsertTarget() {
  const target = useRef<Insert>(undefined)
  const onInsertTarget = useCallback((insert: Insert) => {
    target.current = insert
  }, [])
  const onEditor = useCallback((editor: Editor) => {
    target.current = (name) => insertPiece(editor, name)
  }, [])
  const insert = useCallback((name: string) => target.current?.(name), [])
  return { insert, onEditor, onInsertTarget }
}
