import { Button, Switch } from '@mantine/core'
import { useDebouncedValue, useHotkeys } from '@mantine/hooks'
import { IconChevronLeft } from '../components/icons.tsx'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import type { Forecast } from '../../src/contract/forecast.ts'
import { planQuery } from '../api/automation.ts'
import { setupQuery, type Setup } from '../api/setup.ts'
import { BacktestCard } from '../automations/backtest-card.tsx'
import { differences } from '../automations/draft.ts'
import { effectsOf } from '../automations/effects.ts'
import { isPlanOf } from '../calendar/what-if.tsx'
import { EditorSentence } from '../automations/editor-sentence.tsx'
import { useEditorState, type EditorState } from '../automations/editor-state.ts'
import classes from '../automations/editor.module.css'
import { FinePrint } from '../automations/fine-print.tsx'
import { MailPreview } from '../automations/mail-preview.tsx'
import { PlanCard, PlanFigures } from '../automations/plan-card.tsx'
import { ErrorMessage, NotSaved } from '../components/error-message.tsx'
import { faultsIn } from '../components/faults.ts'
import { SaveKeys } from '../components/save-keys.tsx'
import { LoadingColumns } from '../components/skeletons.tsx'
import { Failure } from '../components/states.tsx'
import { RecordConflict } from '../records/conflict.tsx'
import { SaveError } from '../records/save-error.tsx'
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
  const editor = useEditorState(eventDefnId, setup.data)
  const { isReady, readError, readAgain } = editor.record
  const error = setup.error ?? readError
  if (setup.data && isReady) return <Editor setup={setup.data} editor={editor} />
  return (
    <>
      <h1 className={classes.title}>
        {t(eventDefnId === undefined ? 'words.newAutomation' : 'words.automations')}
      </h1>
      {error ? (
        <Failure
          error={error}
          onRetry={() => {
            void setup.refetch()
            readAgain()
          }}
        />
      ) : (
        <LoadingColumns />
      )}
    </>
  )
}

const DEBOUNCE_MS = 300

function Editor({ setup, editor }: { setup: Setup; editor: EditorState }) {
  const { t } = useTranslation()
  const { isNew, draft, changes, body, canEdit } = editor
  const [settledBody] = useDebouncedValue(body, DEBOUNCE_MS)
  const plan = useQuery({ ...planQuery(settledBody), placeholderData: keepPreviousData })
  const isPlanCurrent = isPlanOf(body, settledBody, plan)
  const onChange = canEdit ? editor.setDraft : undefined
  return (
    <>
      <Head editor={editor} />
      <div className={classes.columns}>
        <div className="column" style={{ gap: 18 }}>
          <RecordConflict
            record={editor.record}
            modifiedOf={({ definition }) => definition}
            differences={(from, to) => differences(from, to, setup)}
          />
          {!canEdit && <p className="soft small">{t('words.readOnly')}</p>}
          <EditorSentence
            draft={draft}
            setup={setup}
            changes={isNew ? [] : changes}
            opened={editor.word}
            onOpen={editor.setWord}
            onChange={onChange}
          />
          <FinePrint
            draft={draft}
            setup={setup}
            changed={new Set(isNew ? [] : changes.map(({ key }) => key))}
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
          {canEdit && (
            <SaveBar
              editor={editor}
              plan={plan.data}
              isPlanCurrent={isPlanCurrent}
              isWaiting={body !== settledBody || (!isPlanCurrent && !plan.error && !plan.isPaused)}
            />
          )}
        </aside>
      </div>
    </>
  )
}

function Head({ editor }: { editor: EditorState }) {
  const { t } = useTranslation()
  const { isNew, draft, changes, isUnsaved, canEdit, setDraft } = editor
  return (
    <header className={classes.head}>
      <Link to="/automations" className={`soft row ${classes.back}`}>
        <IconChevronLeft size={15} aria-hidden />
        {t('words.automations')}
      </Link>
      <span className="faint" aria-hidden>
        /
      </span>
      <h1 className={`ellipsis ${classes.title}`} dir="auto">
        {draft.description ?? t(isNew ? 'words.newAutomation' : 'editor.unnamed')}
      </h1>
      {!isNew && isUnsaved && (
        <span className={`chip ${classes.unsaved}`}>
          {t('editor.unsaved', { count: changes.length })}
        </span>
      )}
      <span className="grow" />
      <Clock />
      <span className={`chip ${classes.onOff}`}>
        <Switch
          size="xs"
          label={t('words.on')}
          checked={draft.active}
          disabled={!canEdit}
          onChange={(event) => setDraft({ active: event.currentTarget.checked })}
        />
      </span>
    </header>
  )
}

type SaveBarProps = {
  editor: EditorState
  plan: Forecast | undefined
  /** False while the plan of the latest change is loading, or if there is none. */
  isPlanCurrent: boolean
  /** It is loading: saving waits for it. */
  isWaiting: boolean
}

function SaveBar({ editor, plan, isPlanCurrent, isWaiting }: SaveBarProps) {
  const { t } = useTranslation()
  const { record, isUnsaved } = editor
  const canSave = editor.canSave && !isWaiting
  const onSave = () => canSave && record.save()
  useHotkeys([['mod+S', onSave]], [])
  return (
    <div className={`card ${classes.saveBar}`}>
      {plan && <PlanFigures plan={plan} />}
      <NotSavedBecause editor={editor} />
      {editor.lacksMail && (
        <p className={`amber small ${classes.saveError}`}>{t('automationMenu.noMail')}</p>
      )}
      <Button
        variant="subtle"
        color="gray"
        className={classes.discard}
        disabled={!isUnsaved || record.isSaving}
        onClick={editor.discard}
      >
        {t('editor.discard')}
      </Button>
      <Button
        className={classes.save}
        classNames={{ label: classes.saveLabel ?? '' }}
        loading={record.isSaving}
        disabled={!canSave}
        onClick={onSave}
        rightSection={<SaveKeys />}
      >
        <SaveLabel plan={isPlanCurrent ? plan : undefined} isSaved={record.isSaved && !isUnsaved} />
      </Button>
    </div>
  )
}

/** Why the automation was not saved, unless the conflict is shown. */
function NotSavedBecause({ editor: { record } }: { editor: EditorState }) {
  const { error, theirsMissing } = record
  if (!error && !theirsMissing) return null
  return (
    <div role="alert" className={`clay small ${classes.saveError}`}>
      {theirsMissing ? <SaveError record={record} /> : <NotSaved reason={reasonOf(error)} />}
    </div>
  )
}

const reasonOf = (error: unknown) => {
  return (
    faultsIn(error)
      .map(({ pointer, detail }) => `${pointer} ${detail}`)
      .join('; ') || <ErrorMessage error={error} />
  )
}

/** The label of the button: "Save: move 442, cancel 168". */
function SaveLabel({ plan, isSaved }: { plan: Forecast | undefined; isSaved: boolean }) {
  const { t } = useTranslation()
  if (isSaved) return t('editor.saved')
  const effects = plan ? effectsOf(plan, t) : ''
  return effects === '' ? t('words.save') : `${t('words.save')}: ${effects}`
}
