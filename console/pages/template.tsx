import { Button, Menu, SegmentedControl } from '@mantine/core'
import { useDebouncedValue, useHotkeys, useMediaQuery } from '@mantine/hooks'
import { IconChevronLeft } from '../components/icons.tsx'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import type { Editor } from '@tiptap/react'
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { ProblemError } from '../../src/client/client.ts'
import type { ObjectType } from '../../src/contract/event-type.ts'
import { automationsQuery, type Automation } from '../api/automations.ts'
import { useSession } from '../api/session.ts'
import type { Template } from '../api/setup.ts'
import {
  examplesQuery,
  templateKind,
  templatesQuery,
  tokensQuery,
  type TokenGroup,
} from '../api/templates.ts'
import { Filled, part } from '../components/filled.tsx'
import { ErrorMessage, NotSaved } from '../components/error-message.tsx'
import { SaveKeys } from '../components/save-keys.tsx'
import { faultAt } from '../components/faults.ts'
import { LoadingColumns } from '../components/skeletons.tsx'
import { Failure, Loading } from '../components/states.tsx'
import { differencesOf } from '../records/changes.ts'
import { RecordConflict } from '../records/conflict.tsx'
import { SaveError } from '../records/save-error.tsx'
import { useRecord, type EditedRecord } from '../records/use-record.ts'
import { Clock } from '../shell/page-head.tsx'
import { AddressFields } from '../templates/address-fields.tsx'
import { BodySection, MODES, type Insert, type Mode } from '../templates/body-section.tsx'
import { CheckLine } from '../templates/check-line.tsx'
import { Details } from '../templates/details.tsx'
import { automationsOf, objectTypeOf, type Draft } from '../templates/draft.ts'
import { LastChange } from '../templates/last-change.tsx'
import { isKeptByEditor } from '../templates/keep.ts'
import { LanguageBar, LanguageHint } from '../templates/language-bar.tsx'
import classes from '../templates/template.module.css'
import { TemplateMenu } from '../templates/template-menu.tsx'
import { isForSome } from '../templates/reach.ts'
import { useReach, useTemplateWords } from '../templates/template-words.ts'
import { TokenList } from '../templates/token-list.tsx'
import { TokenMenu } from '../templates/token-menu.tsx'
import { insertPiece, type TokenOptions } from '../templates/token-node.ts'
import { offer, sectionsOf, type TokenSection } from '../templates/token-search.ts'

/** The page is large, and these are needed last. */
const ActivateWindow = lazy(async () => ({
  default: (await import('../templates/activate-window.tsx')).ActivateWindow,
}))
const PreviewPanel = lazy(async () => ({
  default: (await import('../templates/preview-panel.tsx')).PreviewPanel,
}))
const TestSend = lazy(async () => ({
  default: (await import('../templates/test-send.tsx')).TestSend,
}))

export function TemplatePage() {
  const { t } = useTranslation()
  const { emailTemplateId } = useParams({ from: '/shell/templates/$emailTemplateId' })
  const record = useRecord({ kind: templateKind, id: Number(emailTemplateId) })
  const templates = useQuery(templatesQuery)
  const automations = useQuery({ ...automationsQuery, retry: false })
  const tokens = useQuery(tokensQuery())
  const error = record.readError ?? templates.error ?? tokens.error
  if (record.isReady && record.item && templates.data && tokens.data && !automations.isLoading) {
    return (
      <TemplateEditor
        key={emailTemplateId}
        record={record}
        template={record.item}
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
            record.readAgain()
            for (const { refetch } of [templates, tokens]) void refetch()
          }}
        />
      ) : (
        <LoadingColumns />
      )}
    </>
  )
}

const DEBOUNCE_MS = 300

type TemplateRecord = EditedRecord<Template, Draft>

type EditorProps = {
  record: TemplateRecord
  /** As stored. */
  template: Template
  templates: Template[]
  automations: Automation[]
  groups: TokenGroup[]
}

function TemplateEditor({ record, template, templates, automations, groups }: EditorProps) {
  const { t } = useTranslation()
  const canEdit = useSession().functions.includes('EDIT_TEMPLATES')
  const { draft, changes } = record
  const { emailTemplateId } = template
  const variants = variantsOf(template, templates)
  const used = automationsOf(idsOf([template, ...variants]), automations)
  const objectType = objectTypeOf(used, draft)
  const shown = useShownMail(objectType, draft.language, groups)
  const { sections } = shown
  const { insert, ...targets } = useInsertTarget()
  const [settled] = useDebouncedValue(changes, DEBOUNCE_MS)
  return (
    <>
      <Head
        record={record}
        template={template}
        automations={used}
        objectType={objectType}
        canEdit={canEdit}
      />
      {record.conflict && <TemplateConflict record={record} />}
      {!template.active && (
        <Inactive
          record={record}
          template={template}
          isDraft={variants.some(({ active }) => active)}
          automations={used.length}
          canEdit={canEdit}
        />
      )}
      {!canEdit && <p className={`soft small ${classes.note}`}>{t('words.readOnly')}</p>}
      <div className={`card ${classes.columns}`}>
        <Tokens sections={sections} onInsert={canEdit ? insert : undefined} />
        <div className={classes.middle}>
          <Text
            record={record}
            template={template}
            variants={variants}
            tokens={useTokenOptions(groups, sections)}
            canEdit={canEdit}
            {...targets}
          />
          <LanguageHint template={template} variants={variants} canEdit={canEdit} />
          {canEdit && (
            <CheckLine emailTemplateId={emailTemplateId} changes={settled} onShow={shown.onShow} />
          )}
        </div>
        <MailAside
          emailTemplateId={emailTemplateId}
          changes={changes}
          settled={settled}
          shown={shown}
          canTest={canEdit}
        />
      </div>
      <TokenMenu sections={sections} />
    </>
  )
}

type AsideProps = {
  emailTemplateId: number
  changes: TemplateRecord['changes']
  /** The changes, once typing pauses. */
  settled: TemplateRecord['changes']
  shown: ReturnType<typeof useShownMail>
  canTest: boolean
}

/** The mail as one client gets it, and a test of it. */
function MailAside({ emailTemplateId, changes, settled, shown, canTest }: AsideProps) {
  const { t } = useTranslation()
  const { examples, example, onShow } = shown
  return (
    <aside className={classes.preview} aria-label={t('template.preview.title')}>
      <Suspense fallback={<Loading />}>
        <PreviewPanel
          emailTemplateId={emailTemplateId}
          changes={settled}
          examples={examples}
          example={example}
          onChoose={onShow}
        />
      </Suspense>
      <div className="grow" />
      {canTest && (
        <Suspense>
          <TestSend emailTemplateId={emailTemplateId} changes={changes} example={example} />
        </Suspense>
      )}
    </aside>
  )
}

const idsOf = (templates: Template[]) =>
  new Set(templates.map(({ emailTemplateId }) => emailTemplateId))

/** The other versions of the same mail. */
const variantsOf = ({ templateName, emailTemplateId }: Template, templates: Template[]) =>
  templates.filter(
    (other) => other.templateName === templateName && other.emailTemplateId !== emailTemplateId,
  )

type InactiveProps = Pick<EditorProps, 'record' | 'template'> & {
  /** Another version of the mail is sent. */
  isDraft: boolean
  automations: number
  canEdit: boolean
}

/** Says that the template is not sent, and switches it on. */
function Inactive({ record, template, isDraft, automations, canEdit }: InactiveProps) {
  const { t } = useTranslation()
  const [isAsking, setAsking] = useState(false)
  return (
    <div className={`row small ${classes.note}`} style={{ flexWrap: 'wrap' }}>
      <span className="amber">{t(isDraft ? 'template.isDraft' : 'template.inactive')}</span>
      {canEdit && (
        <Button size="compact-sm" variant="default" onClick={() => setAsking(true)}>
          {t('template.switchOn')}
        </Button>
      )}
      {isAsking && (
        <Suspense>
          <ActivateWindow
            template={template}
            automations={automations}
            onClose={() => setAsking(false)}
            onDone={record.readAgain}
          />
        </Suspense>
      )}
    </div>
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
  record: TemplateRecord
  template: Template
  variants: Template[]
  tokens: TokenOptions
  canEdit: boolean
} & Omit<ReturnType<typeof useInsertTarget>, 'insert'>

/** Addresses, subject and text. */
function Text({ record, template, variants, tokens, canEdit, ...targets }: TextProps) {
  const { t } = useTranslation()
  const { draft, error, change, revision, replace } = record
  const { onEditor, onInsertTarget } = targets
  const reach = useReach()
  const [mode, setMode] = useState<Mode>(() =>
    isKeptByEditor(draft.emailBody, tokens) ? 'write' : 'html',
  )
  const shared = { draft, tokens, error, onChange: canEdit ? change : undefined }
  return (
    <>
      <div className={classes.bar}>
        <LanguageBar template={template} variants={variants} canEdit={canEdit} />
        <SegmentedControl
          size="xs"
          aria-label={t('template.mode')}
          value={mode}
          onChange={(next) => setMode(next as Mode)}
          data={MODES.map((value) => ({ value, label: t(`template.modes.${value}`) }))}
        />
      </div>
      {isForSome(draft) && (
        <p className={`soft small ${classes.reach}`}>
          {reach.sentence(draft)} {t('template.reachHint')}
        </p>
      )}
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

type HeadProps = {
  record: TemplateRecord
  template: Template
  automations: Automation[]
  objectType: ObjectType
  canEdit: boolean
}

function Head({ record, template, automations, objectType, canEdit }: HeadProps) {
  const { t } = useTranslation()
  const { draft, count, error, theirsMissing } = record
  const isFaulty = error instanceof ProblemError && error.errors.length > 0
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
      <LastChange record={record} template={template} canEdit={canEdit} />
      {count > 0 && (
        <span className={`chip ${classes.unsaved}`}>{t('editor.unsaved', { count })}</span>
      )}
      <span className="grow" />
      <span className={classes.clock}>
        <Clock />
      </span>
      {canEdit && (
        <HeadActions record={record} template={template} automations={automations.length} />
      )}
      {(error || theirsMissing) && (
        <div role="alert" className={`clay small ${classes.saveError}`}>
          {isFaulty ? (
            // Attachments have no field here.
            [t('template.refused'), faultAt(error, 'attachFileLibraryUUids')]
              .filter(Boolean)
              .join(' ')
          ) : theirsMissing ? (
            <SaveError record={record} />
          ) : (
            <NotSaved reason={<ErrorMessage error={error} />} />
          )}
        </div>
      )}
    </header>
  )
}

type ActionsProps = Pick<HeadProps, 'record' | 'template'> & { automations: number }

function HeadActions({ record, template, automations }: ActionsProps) {
  const { t } = useTranslation()
  const { draft, count, isSaving, isSaved, error } = record
  const canSave = count > 0 && !isSaving && !record.conflict
  const onSave = () => canSave && record.save()
  useHotkeys([['mod+S', onSave]], [], true)
  return (
    <span className={classes.actions}>
      <Details draft={draft} error={error} onChange={record.change} />
      <TemplateMenu
        template={template}
        automations={automations}
        canEdit
        onDiscard={count > 0 && !isSaving ? record.discard : undefined}
        onSwitched={record.readAgain}
      />
      <Button
        className={classes.save}
        loading={isSaving}
        disabled={!canSave}
        onClick={onSave}
        rightSection={<SaveKeys />}
      >
        {t(isSaved && count === 0 ? 'editor.saved' : 'words.save')}
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

function TemplateConflict({ record }: { record: TemplateRecord }) {
  const words = useTemplateWords()
  return (
    <div className={classes.note}>
      <RecordConflict
        record={record}
        modifiedOf={(template) => template}
        differences={(from, to) => differencesOf(from, to, words)}
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
