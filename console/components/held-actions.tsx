import { IconArrowBackUp } from './icons.tsx'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { usePageKeys } from '../shell/keys.ts'
import classes from './held-actions.module.css'

/** How long an irreversible action is delayed, so that the user can undo it. */
export const HOLD_MS = 6_000
/** How long its result is shown. */
const RESULT_MS = 8_000

export type HeldAction = {
  /** Says what is about to happen. */
  text: string
  /** Runs the action and returns its result in words. */
  run: () => Promise<string>
  /** The value that a page shows already. A later action on the same record replaces this one. */
  shown?: ShownValue
}

type ShownValue = { record: string; value: string }

type Toast = {
  id: number
  text: string
  action?: HeldAction
  /** Until the result is known. */
  shown?: ShownValue | undefined
  timer: number
  share?: number
}

let toasts: Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

function show(changed: Toast[]) {
  toasts = changed
  for (const listener of listeners) listener()
}

const remove = (id: number) => show(toasts.filter((toast) => toast.id !== id))

/** Shows a toast with an undo button, then runs the action. */
export function holdAction(action: HeldAction) {
  const { text, shown } = action
  const replaced = toasts.find((toast) => toast.action && toast.shown?.record === shown?.record)
  if (shown && replaced) undo(replaced)
  lastId += 1
  const id = lastId
  const timer = window.setTimeout(() => void runHeld(id), HOLD_MS)
  show([...toasts, { id, text, action, shown, timer }])
}

/** Shows a toast with a message. */
export function showNotice(text: string) {
  lastId += 1
  show([...toasts, { id: lastId, text, timer: 0 }])
  void showResult(lastId, Promise.resolve(text))
}

async function runHeld(id: number) {
  const held = toasts.find((toast) => toast.id === id)
  if (!held?.action) return
  window.clearTimeout(held.timer)
  // From here on it cannot be undone.
  replace({ id, text: held.text, shown: held.shown, timer: 0 })
  const result = showResult(id, held.action.run())
  running.add(result)
  await result
  running.delete(result)
}

const running = new Set<Promise<void>>()

/** Runs all delayed actions now. Resolves when these, and those that are running, have ended. */
export function runHeldActions() {
  for (const { id } of toasts) void runHeld(id)
  return Promise.all(running)
}

/** Shows a toast with the progress of something that goes on when the user leaves the page. */
export function showWhile(
  text: string,
  work: (onProgress: (share: number) => void) => Promise<string>,
) {
  lastId += 1
  const id = lastId
  show([...toasts, { id, text, timer: 0, share: 0 }])
  void showResult(
    id,
    work((share) => replace({ id, text, timer: 0, share })),
  )
}

function showResult(id: number, result: Promise<string>) {
  const end = (text: string) => {
    const timer = window.setTimeout(() => remove(id), RESULT_MS)
    replace({ id, text, timer })
  }
  return result.then(end, (error: unknown) => end(String(error)))
}

const replace = (changed: Toast) =>
  show(toasts.map((toast) => (toast.id === changed.id ? changed : toast)))

function undo({ id, timer }: Toast) {
  window.clearTimeout(timer)
  remove(id)
}

const useToasts = () =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )

/** The values that delayed and running actions will store, by record. */
export function useShownValues() {
  const held = useToasts()
  return useMemo(
    () => new Map(held.flatMap(({ shown }) => (shown ? [[shown.record, shown.value]] : []))),
    [held],
  )
}

/** The toasts of all delayed actions; rendered once for all pages. */
export function HeldActions() {
  const { t } = useTranslation()
  const shown = useToasts()
  const newest = shown.findLast((toast) => toast.action)
  usePageKeys({ z: newest && (() => undo(newest)) })
  useEffect(() => {
    // Closing the page does not undo the action.
    const runAll = () => void runHeldActions()
    window.addEventListener('pagehide', runAll)
    return () => window.removeEventListener('pagehide', runAll)
  }, [])
  return (
    <div className={classes.toasts} role="status">
      {shown.map((toast) => (
        <div key={toast.id} className={classes.toast}>
          <span className="grow">
            {toast.text}
            {toast.share !== undefined && (
              <progress className={classes.progress} value={toast.share} aria-label={toast.text} />
            )}
          </span>
          {toast.action ? (
            <>
              <button type="button" className={classes.undo} onClick={() => undo(toast)}>
                <IconArrowBackUp size={15} aria-hidden />
                {t('held.undo')}
              </button>
              {toast === newest && <kbd aria-hidden>Z</kbd>}
            </>
          ) : (
            <button type="button" className={classes.undo} onClick={() => remove(toast.id)}>
              {t('held.dismiss')}
            </button>
          )}
        </div>
      ))}
    </div>
  )
}
