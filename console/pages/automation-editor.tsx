import { Button, Switch } from '@mantine/core'
import { useDebouncedValue, useHotkeys } from '@mantine/hooks'
import { IconChevronLeft } from '@tabler/icons-react'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Forecast } from '../../src/contract/forecast.ts'
import {
  automationQuery,
  planQuery,
  readAutomation,
  saveAutomation,
  type StoredAutomation,
} from '../api/automation.ts'
import { ProblemError } from '../../src/client/client.ts'
import { useSession } from '../api/session.ts'
import { setupQuery, type Setup } from '../api/setup.ts'
import { BacktestCard } from '../automations/backtest-card.tsx'
import {
  bodyOf,
  differences,
  draftOf,
  mergeDrafts,
  newDraft,
  type Draft,
} from '../automations/draft.ts'
import { EditorSentence } from '../automations/editor-sentence.tsx'
import classes from '../automations/editor.module.css'
import { FinePrint } from '../automations/fine-print.tsx'
import { MailPreview } from '../automations/mail-preview.tsx'
import { PlanCard, PlanFigures } from '../automations/plan-card.tsx'
import type { Word } from '../automations/sentence.ts'
import { Conflict } from '../components/conflict.tsx'
import { ErrorMessage, NotSaved } from '../components/error-message.tsx'
import { LeaveWindow } from '../components/leave-window.tsx'
import { SaveKeys } from '../components/save-keys.tsx'
import { LoadingColumns } from '../components/skeletons.tsx'
import { Failure } from '../components/states.tsx'
import { Clock } from '../shell/page-head.tsx'

/** `on`: a recipe created it paused; the editor opens with the switch on, ready to save. */
export type EditorSearch = { on?: boolean }

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
  const navigate = useNavigate()
  const { on } = useSearch({ strict: false }) as EditorSearch
  const { business, functions } = useSession()
  const canEdit = functions.includes('EDIT_DEFINITIONS')
  /** The stored automation; undefined while it is new. */
  const [stored, setStored] = useState(opened)
  const base = useMemo(() => (stored ? draftOf(stored) : undefined), [stored])
  const [draft, setDraft] = useState<Draft>(() => ({
    ...(base ?? newDraft()),
    ...(on && canEdit ? { active: true } : {}),
  }))
  const [word, setWord] = useState<Word>()
  const [theirs, setTheirs] = useState<StoredAutomation>()
  const [hasTheirsFailed, setTheirsFailed] = useState(false)

  const start = useMemo(() => base ?? newDraft(), [base])
  const changes = useMemo(() => differences(start, draft, setup), [start, draft, setup])
  const body = useMemo(() => bodyOf(draft, base, business.businessId), [draft, base, business])
  const [settledBody] = useDebouncedValue(body, DEBOUNCE_MS)
  const plan = useQuery({
    ...planQuery(settledBody),
    placeholderData: keepPreviousData,
  })
  const isPlanCurrent = settledBody === body && !plan.isPlaceholderData && !plan.error

  const isUnsaved = changes.length > 0

  const show = (saved: StoredAutomation) => {
    setStored(saved)
    setDraft(draftOf(saved))
    setTheirs(undefined)
  }
  const save = useMutation({
    mutationFn: () => saveAutomation(body, stored?.etag ?? null),
    onMutate: () => setTheirsFailed(false),
    onSuccess: (saved) => {
      show(saved)
      setWord(undefined)
      const { eventDefnId } = saved.definition
      if (stored && !on) return
      void navigate({
        to: '/automations/$eventDefnId',
        params: { eventDefnId: String(eventDefnId) },
        search: {},
        replace: true,
        ignoreBlocker: true,
      })
    },
    onError: async (error) => {
      const eventDefnId = stored?.definition.eventDefnId
      if (!isStatus(error, 412) || !eventDefnId) return
      try {
        const other = await readAutomation(eventDefnId)
        const theirDraft = draftOf(other)
        const isSaved =
          base && differences(theirDraft, mergeDrafts(base, draft, theirDraft), setup).length === 0
        // This draft was saved before, but the answer was lost.
        if (isSaved) return show(other)
        setTheirs(other)
      } catch (reading) {
        // It was deleted in the meantime: saving without a version restores it.
        if (isStatus(reading, 404)) setStored((known) => known && { ...known, etag: null })
        else setTheirsFailed(true)
      }
    },
  })
  const isNew = !stored
  const canSave = canEdit && isUnsaved && !save.isPending && !theirs
  const onSave = () => canSave && save.mutate()
  useHotkeys([['mod+S', onSave]], [])
  const onChange = canEdit ? setDraft : undefined
  const isConflict = isStatus(save.error, 412)
  const isDeleted = isConflict && stored?.etag === null
  return (
    <>
      <header className={classes.head}>
        <Link to="/automations" className={`soft row ${classes.back}`}>
          <IconChevronLeft size={15} aria-hidden />
          {t('editor.automations')}
        </Link>
        <span className="faint" aria-hidden>
          /
        </span>
        <h1 className={`ellipsis ${classes.title}`} dir="auto">
          {draft.description ?? t(isNew ? 'editor.newTitle' : 'editor.unnamed')}
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
      <div className={classes.columns}>
        <div className="column" style={{ gap: 18 }}>
          {theirs && base && (
            <Conflict
              theirs={theirs.definition}
              theirChanges={differences(base, draftOf(theirs), setup)}
              myChanges={changes}
              replaced={differences(
                draftOf(theirs),
                mergeDrafts(base, draft, draftOf(theirs)),
                setup,
              )}
              onTakeTheirs={() => {
                show(theirs)
                save.reset()
              }}
              onKeepMine={() => {
                const merged = mergeDrafts(base, draft, draftOf(theirs))
                show(theirs)
                setDraft(merged)
                save.reset()
              }}
            />
          )}
          {!canEdit && <p className="soft small">{t('editor.readOnly')}</p>}
          <EditorSentence
            draft={draft}
            setup={setup}
            changes={stored ? changes : []}
            opened={word}
            onOpen={setWord}
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
          {canEdit && (
            <div className={`card ${classes.saveBar}`}>
              {plan.data && <PlanFigures plan={plan.data} />}
              {save.error && (!isConflict || isDeleted || hasTheirsFailed) && (
                <div role="alert" className={`clay small ${classes.saveError}`}>
                  {isDeleted ? (
                    t('editor.conflict.gone')
                  ) : isConflict ? (
                    t('editor.conflict.unread')
                  ) : (
                    <NotSaved reason={reasonOf(save.error)} />
                  )}
                </div>
              )}
              <Button
                variant="subtle"
                color="gray"
                className={classes.discard}
                disabled={!isUnsaved || save.isPending}
                onClick={() => {
                  setDraft(start)
                  setWord(undefined)
                  save.reset()
                }}
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
                <SaveLabel
                  plan={isPlanCurrent ? plan.data : undefined}
                  isSaved={save.isSuccess && !isUnsaved}
                />
              </Button>
            </div>
          )}
        </aside>
      </div>
      <LeaveWindow changes={changes.length} />
    </>
  )
}

const isStatus = (error: unknown, status: number) =>
  error instanceof ProblemError && error.status === status

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
