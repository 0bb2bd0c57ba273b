import { Button, Switch } from '@mantine/core'
import { useDebouncedValue, useHotkeys } from '@mantine/hooks'
import { IconChevronLeft } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { ProblemError } from '../../src/client/client.ts'
import type { Forecast } from '../../src/contract/forecast.ts'
import { automationQuery, planQuery, type StoredAutomation } from '../api/automation.ts'
import { setupQuery, type Setup } from '../api/setup.ts'
import { BacktestCard } from '../automations/backtest-card.tsx'
import { differences, draftOf, mergeDrafts } from '../automations/draft.ts'
import { EditorSentence } from '../automations/editor-sentence.tsx'
import { isStatus, useEditorState, type EditorState } from '../automations/editor-state.ts'
import classes from '../automations/editor.module.css'
import { FinePrint } from '../automations/fine-print.tsx'
import { MailPreview } from '../automations/mail-preview.tsx'
import { PlanCard, PlanFigures } from '../automations/plan-card.tsx'
import { Conflict } from '../components/conflict.tsx'
import { ErrorMessage, NotSaved } from '../components/error-message.tsx'
import { LeaveWindow } from '../components/leave-window.tsx'
import { SaveKeys } from '../components/save-keys.tsx'
import { LoadingColumns } from '../components/skeletons.tsx'
import { Failure } from '../components/states.tsx'
import { Clock } from '../shell/page-head.tsx'

export function NewAutomationPage() {
  return <EditorPage />
}

export function AutomationPage() {
  const { eventDefnId } = useParams({ from: '/shell/automations/$eventDefnId' })
  return <EditorPage key={eventDefnId} eventDefnId={Number(eventDefnId)} />
}

function EditorPage({ eventDefnId }: { eventDefnId?: number }) {
  const { t } = useTranslation()
  const setup = useQuery(setupQuery)
  const automation = useQuery({
    ...automationQuery(eventDefnId ?? 0),
    enabled: eventDefnId !== undefined,
  })
  const error = setup.error ?? automation.error
  const isReady = setup.data && (eventDefnId === undefined || automation.data)
  if (isReady) return <Editor setup={setup.data} opened={automation.data} />
  return (
    <>
      <h1 className={classes.title}>{t('editor.newTitle')}</h1>
      {error ? (
        <Failure
          error={error}
          onRetry={() => {
            void setup.refetch()
            void automation.refetch()
          }}
        />
      ) : (
        <LoadingColumns />
      )}
    </>
  )
}

const DEBOUNCE_MS = 300

type EditorProps = { setup: Setup; opened: StoredAutomation | undefined }

function Editor({ setup, opened }: EditorProps) {
  const { t } = useTranslation()
  const editor = useEditorState(setup, opened)
  const { stored, draft, changes, body, canEdit } = editor
  const [settledBody] = useDebouncedValue(body, DEBOUNCE_MS)
  const plan = useQuery({ ...planQuery(settledBody), placeholderData: keepPreviousData })
  const isPlanCurrent = settledBody === body && !plan.isPlaceholderData && !plan.error
  const onChange = canEdit ? editor.setDraft : undefined
  return (
    <>
      <Head editor={editor} />
      <div className={classes.columns}>
        <div className="column" style={{ gap: 18 }}>
          <EditorConflict editor={editor} setup={setup} />
          {!canEdit && <p className="soft small">{t('editor.readOnly')}</p>}
          <EditorSentence
            draft={draft}
            setup={setup}
            changes={stored ? changes : []}
            opened={editor.word}
            onOpen={editor.setWord}
            onChange={onChange}
          />
          <FinePrint
            draft={draft}
            setup={setup}
            changed={new Set(stored ? changes.map(({ key }) => key) : [])}
            onChange={onChange}
          />
          <MailPreview draft={draft} body={settledBody} plan={plan.data} />
        </div>
        <aside className="column" style={{ gap: 16 }}>
          <PlanCard
            body={settledBody}
            plan={plan.data}
            error={plan.error}
            isEvent={draft.eventType.eventCategory === 'EVENT'}
            onRetry={() => void plan.refetch()}
          />
          <BacktestCard body={settledBody} />
          {canEdit && <SaveBar editor={editor} plan={plan.data} isPlanCurrent={isPlanCurrent} />}
        </aside>
      </div>
      <LeaveWindow changes={changes.length} />
    </>
  )
}

function Head({ editor }: { editor: EditorState }) {
  const { t } = useTranslation()
  const { stored, draft, changes, isUnsaved, canEdit, setDraft } = editor
  return (
    <header className={classes.head}>
      <Link to="/automations" className={`soft row ${classes.back}`}>
        <IconChevronLeft size={15} aria-hidden />
        {t('editor.automations')}
      </Link>
      <span className="faint" aria-hidden>
        /
      </span>
      <h1 className={`ellipsis ${classes.title}`} dir="auto">
        {draft.description ?? t(stored ? 'editor.unnamed' : 'editor.newTitle')}
      </h1>
      {stored && isUnsaved && (
        <span className={`chip ${classes.unsaved}`}>
          {t('editor.unsaved', { count: changes.length })}
        </span>
      )}
      <span className="grow" />
      <Clock />
      <span className={`chip ${classes.onOff}`}>
        <Switch
          size="xs"
          label={t('editor.on')}
          checked={draft.active}
          disabled={!canEdit}
          onChange={(event) => setDraft({ ...draft, active: event.currentTarget.checked })}
        />
      </span>
    </header>
  )
}

/** Asks what to keep if another user saved the automation in the meantime. */
function EditorConflict({ editor, setup }: { editor: EditorState; setup: Setup }) {
  const { draft, changes, conflict, takeTheirs, keepMine } = editor
  const { base, theirs } = conflict
  if (!theirs || !base) return null
  const theirDraft = draftOf(theirs)
  const merged = mergeDrafts(base, draft, theirDraft)
  return (
    <Conflict
      theirs={theirs.definition}
      theirChanges={differences(base, theirDraft, setup)}
      myChanges={changes}
      replaced={differences(theirDraft, merged, setup)}
      onTakeTheirs={() => takeTheirs(theirs)}
      onKeepMine={() => keepMine(theirs, merged)}
    />
  )
}

type SaveBarProps = {
  editor: EditorState
  plan: Forecast | undefined
  /** False while the plan of the latest change is loading. */
  isPlanCurrent: boolean
}

function SaveBar({ editor, plan, isPlanCurrent }: SaveBarProps) {
  const { t } = useTranslation()
  const { save, canSave, isUnsaved } = editor
  const onSave = () => canSave && save.mutate()
  useHotkeys([['mod+S', onSave]], [])
  return (
    <div className={`card ${classes.saveBar}`}>
      {plan && <PlanFigures plan={plan} />}
      <SaveError editor={editor} />
      <Button
        variant="subtle"
        color="gray"
        className={classes.discard}
        disabled={!isUnsaved || save.isPending}
        onClick={editor.discard}
      >
        {t('editor.discard')}
      </Button>
      <Button
        className={classes.save}
        classNames={{ label: classes.saveLabel ?? '' }}
        loading={save.isPending}
        disabled={!canSave}
        onClick={onSave}
        rightSection={<SaveKeys />}
      >
        <SaveLabel plan={isPlanCurrent ? plan : undefined} isSaved={save.isSuccess && !isUnsaved} />
      </Button>
    </div>
  )
}

/** Why the automation was not saved, unless the conflict is shown. */
function SaveError({ editor: { stored, save, conflict } }: { editor: EditorState }) {
  const { t } = useTranslation()
  const isConflict = isStatus(save.error, 412)
  const isDeleted = isConflict && stored?.etag === null
  if (!save.error || (isConflict && !isDeleted && !conflict.hasFailed)) return null
  return (
    <div role="alert" className={`clay small ${classes.saveError}`}>
      {isDeleted ? (
        t('editor.conflict.gone')
      ) : isConflict ? (
        t('editor.conflict.unread')
      ) : (
        <NotSaved reason={reasonOf(save.error)} />
      )}
    </div>
  )
}

const reasonOf = (error: unknown) => {
  const faults = error instanceof ProblemError ? error.errors : []
  return (
    faults.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ') || (
      <ErrorMessage error={error} />
    )
  )
}

/** The label of the button: "Save: move 442, cancel 168". */
function SaveLabel({ plan, isSaved }: { plan: Forecast | undefined; isSaved: boolean }) {
  const { t } = useTranslation()
  if (isSaved) return t('editor.saved')
  const effects = [
    plan && plan.move > 0 && t('editor.saveMove', { count: plan.move }),
    plan && plan.cancel > 0 && t('editor.saveCancel', { count: plan.cancel }),
    plan && plan.create > 0 && t('editor.saveCreate', { count: plan.create }),
  ].filter(Boolean)
  return effects.length === 0 ? t('editor.save') : `${t('editor.save')}: ${effects.join(', ')}`
}
