import { useEffect, useId, useRef, type KeyboardEvent } from 'react'
import { useTranslation } from '../texts/translate.ts'
import type { Setup } from '../api/setup.ts'
import type { Difference } from '../records/changes.ts'
import { wordKey, type Draft } from './draft.ts'
import { WordDrawer } from './drawers.tsx'
import classes from './editor.module.css'
import { needsSpace } from './sentence-view.tsx'
import { sentenceOf, sentenceText, type SentencePart, type Word } from './sentence.ts'

type Props = {
  draft: Draft
  setup: Setup
  changes: Difference[]
  /** The word whose drawer is open. */
  opened: Word | undefined
  onOpen: (word: Word | undefined) => void
  /** Undefined for users who may only read. */
  onChange: ((draft: Draft) => void) | undefined
}

/** The sentence with its words as buttons. Each opens a drawer below the sentence. */
export function EditorSentence({ draft, setup, changes, opened, onOpen, onChange }: Props) {
  const { t } = useTranslation()
  const drawerId = useId()
  const card = useRef<HTMLElement>(null)
  const parts = sentenceOf(draft, draft.mails, setup, { isEditor: true })
  const changed = new Set(changes.map(({ key }) => key))

  const close = () => {
    const key = opened && wordKey(opened)
    onOpen(undefined)
    card.current?.querySelector<HTMLElement>(`[data-word="${key}"]`)?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !opened || event.defaultPrevented) return
    event.preventDefault()
    close()
  }
  return (
    <section className={`card ${classes.sentenceCard}`} ref={card} onKeyDown={onKeyDown}>
      <p className={`serif ${classes.sentence}`} role="group" aria-label={sentenceText(parts)}>
        {parts.map((part, place) => {
          const key = part.word && wordKey(part.word)
          return (
            <EditorWord
              key={place}
              part={part}
              isFirst={place === 0}
              isOpen={opened !== undefined && key === wordKey(opened)}
              isChanged={key !== undefined && changed.has(key)}
              drawerId={drawerId}
              onOpen={onChange && (() => onOpen(part.word))}
              onClose={close}
            />
          )
        })}
      </p>
      <div className={`row small faint ${classes.hints}`}>
        <span className="grow" aria-live="polite">
          {changes.length > 0 && <Changes changes={changes} />}
        </span>
        {onChange && (
          <span className={classes.keys} aria-hidden>
            <kbd>Tab</kbd> {t('editor.nextWord')} <kbd>Enter</kbd> {t('editor.changeIt')}
          </span>
        )}
      </div>
      {opened && onChange && (
        <Drawer key={wordKey(opened)} id={drawerId}>
          <WordDrawer
            word={opened}
            draft={draft}
            setup={setup}
            onChange={onChange}
            onClose={close}
          />
        </Drawer>
      )}
    </section>
  )
}

/** A button that can wrap over lines like text; a `button` element cannot. */
type WordProps = {
  part: SentencePart
  isFirst: boolean
  isOpen: boolean
  isChanged: boolean
  drawerId: string
  onOpen: (() => void) | undefined
  onClose: () => void
}

function EditorWord({ part, isFirst, isOpen, isChanged, drawerId, onOpen, onClose }: WordProps) {
  const space = isFirst || !needsSpace(part) ? '' : ' '
  const text = isFirst ? part.text[0]?.toUpperCase() + part.text.slice(1) : part.text
  if (!part.word || !onOpen) {
    const isStrong = part.word !== undefined && part.kind !== 'plain'
    return (
      <>
        {space}
        {isStrong ? <b className={classes.fixed}>{text}</b> : text}
      </>
    )
  }
  const toggle = isOpen ? onClose : onOpen
  return (
    <>
      {space}
      <span
        role="button"
        tabIndex={0}
        className={classes.word}
        data-word={wordKey(part.word)}
        data-kind={part.kind}
        data-changed={isChanged || undefined}
        aria-expanded={isOpen}
        aria-controls={isOpen ? drawerId : undefined}
        onClick={toggle}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' && event.key !== ' ') return
          event.preventDefault()
          toggle()
        }}
        dir="auto"
      >
        {text}
      </span>
    </>
  )
}

const MAX_SHOWN = 4

/** "Changed: 2 days before → 1 day before; any location → Zürich." */
function Changes({ changes }: { changes: Difference[] }) {
  const { t } = useTranslation()
  const shown = changes.slice(0, MAX_SHOWN)
  return (
    <>
      <span className={classes.dot} aria-hidden />
      {t('editor.changed')}{' '}
      {shown.map(({ key, from, to }, place) => (
        <span key={key}>
          {place > 0 && '; '}
          <s>{from}</s> → {to}
        </span>
      ))}
      {changes.length > MAX_SHOWN ? ' …' : ''}
    </>
  )
}

/** Takes the focus when it opens. */
function Drawer({ id, children }: { id: string; children: React.ReactNode }) {
  const drawer = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const fields = 'input:not([type=hidden]):not([type=radio]), input[type=radio]:checked, button'
    drawer.current?.querySelector<HTMLElement>(fields)?.focus()
  }, [])
  return (
    <div id={id} className={classes.drawer} ref={drawer}>
      {children}
    </div>
  )
}
