import { ActionIcon, Button } from '@mantine/core'
import { useState } from 'react'
import type { Feed, FeedRun } from '../api/feeds.ts'
import { IconChevronDown, IconChevronUp, IconTrash } from '../components/icons.tsx'
import { Failure, Loading } from '../components/states.tsx'
import { FormWindow } from '../components/windows.tsx'
import { differencesOf } from '../records/changes.ts'
import { RecordConflict } from '../records/conflict.tsx'
import { SaveError } from '../records/save-error.tsx'
import type { EditedRecord } from '../records/use-record.ts'
import { useTranslation } from '../texts/translate.ts'
import classes from './feeds.module.css'
import { RuleForm } from './rule-form.tsx'
import { useRuleWords, type Rule } from './rule-words.ts'
import { RunButton } from './run-button.tsx'

export const MAX_RULES = 200

type RulesRecord = EditedRecord<Feed, Pick<Feed, 'rules'>>
/** If the edited rule is no longer in its place, saving adds it again. */
export type OpenedRule = { rule: Rule; place: number }
type Props = {
  feed: Feed
  record: RulesRecord
  opened: OpenedRule | undefined
  onOpen: (opened: OpenedRule | undefined) => void
}

/** The rules of a feed in their order. They are saved after a dry run has shown what they change. */
export function RulesTab({ feed, record, opened, onOpen }: Props) {
  const { t } = useTranslation()
  const words = useRuleWords()
  const { rules } = record.draft
  const onChange = (rules: Rule[]) => record.change({ rules })
  if (record.readError) return <Failure error={record.readError} onRetry={record.readAgain} />
  if (!record.isReady) return <Loading />
  const inWords = (rule: Rule) => `${words.conditions(rule)} → ${words.effects(rule)}`
  return (
    <>
      <p className="soft small">{t('settings.feeds.rules.hint')}</p>
      <RecordConflict
        record={record}
        modifiedOf={(one) => one}
        differences={(from, to) =>
          differencesOf(from, to, {
            label: () => t('settings.feeds.tabs.rules'),
            value: (_name, { rules }) => rules.map(inWords).join('; '),
          })
        }
      />
      {rules.length === 0 && <p className="soft">{t('settings.feeds.rules.none')}</p>}
      <RuleList rules={rules} onChange={onChange} onOpen={onOpen} />
      <div className={classes.actions} style={{ marginTop: 12 }}>
        <Button
          size="compact-sm"
          variant="default"
          disabled={rules.length >= MAX_RULES}
          onClick={() => onOpen({ rule: { when: {}, then: {} }, place: rules.length })}
        >
          {t('settings.feeds.rules.add')}
        </Button>
      </div>
      {record.count > 0 && (
        // Other rules need another dry run.
        <Unsaved key={JSON.stringify(rules)} feed={feed} record={record} />
      )}
      <FormWindow
        isOpen={opened !== undefined}
        leaving="nothing"
        onClose={() => onOpen(undefined)}
        title={t('settings.feeds.rules.one')}
      >
        {opened && (
          <RuleForm
            rule={opened.rule}
            onDone={(next) => {
              const { rule, place } = opened
              const isThere = JSON.stringify(rules[place]) === JSON.stringify(rule)
              onChange(isThere ? rules.with(place, next) : [...rules, next])
              onOpen(undefined)
            }}
          />
        )}
      </FormWindow>
    </>
  )
}

type ListProps = Pick<Props, 'onOpen'> & { rules: Rule[]; onChange: (rules: Rule[]) => void }

function RuleList({ rules, onChange, onOpen }: ListProps) {
  const keys = keysOf(rules)
  return (
    <ol className={classes.list}>
      {rules.map((one, place) => (
        <RuleRow
          key={keys[place]}
          rule={one}
          onEdit={() => onOpen({ rule: one, place })}
          onRemove={() => onChange(rules.toSpliced(place, 1))}
          onDown={
            place < rules.length - 1
              ? () => onChange(rules.toSpliced(place, 2, rules[place + 1]!, one))
              : undefined
          }
          onUp={
            place > 0
              ? () => onChange(rules.toSpliced(place - 1, 2, one, rules[place - 1]!))
              : undefined
          }
        />
      ))}
    </ol>
  )
}

/** A rule keeps its key if it moves, so that its buttons keep the focus. Equal rules are counted. */
function keysOf(rules: Rule[]) {
  const counts = new Map<string, number>()
  return rules.map((rule) => {
    const text = JSON.stringify(rule)
    const count = (counts.get(text) ?? 0) + 1
    counts.set(text, count)
    return `${count} ${text}`
  })
}

type RowProps = {
  rule: Rule
  onEdit: () => void
  onRemove: () => void
  /** Absent for the first and the last one. */
  onUp: (() => void) | undefined
  onDown: (() => void) | undefined
}

function RuleRow({ rule, onEdit, onRemove, onUp, onDown }: RowProps) {
  const { t } = useTranslation()
  const words = useRuleWords()
  const conditions = words.conditions(rule)
  const name = { name: conditions }
  return (
    <li className={classes.entry}>
      <div className={classes.actions}>
        <div className="grow" style={{ minWidth: 180, overflowWrap: 'anywhere' }}>
          <span className="strong" dir="auto">
            {conditions}
          </span>
          <div className="soft small" dir="auto">
            {words.effects(rule)}
          </div>
        </div>
        {[
          { label: t('settings.feeds.rules.up', name), onClick: onUp, Icon: IconChevronUp },
          { label: t('settings.feeds.rules.down', name), onClick: onDown, Icon: IconChevronDown },
        ].map(({ label, onClick, Icon }) => (
          <ActionIcon
            key={label}
            variant="subtle"
            color="gray"
            // A disabled button would lose the focus of the rule that was moved with it.
            data-disabled={!onClick}
            aria-disabled={!onClick}
            aria-label={label}
            onClick={onClick}
          >
            <Icon size={15} aria-hidden />
          </ActionIcon>
        ))}
        <Button
          size="compact-sm"
          variant="default"
          aria-label={t('settings.feeds.rules.editOf', name)}
          onClick={onEdit}
        >
          {t('words.change')}
        </Button>
        <ActionIcon
          variant="subtle"
          color="clay"
          aria-label={t('settings.feeds.rules.removeOf', name)}
          onClick={onRemove}
        >
          <IconTrash size={15} aria-hidden />
        </ActionIcon>
      </div>
    </li>
  )
}

type UnsavedProps = { feed: Feed; record: RulesRecord }

/** A dry run of the changed rules, then the button that saves them. */
function Unsaved({ feed, record }: UnsavedProps) {
  const { t } = useTranslation()
  const [run, setRun] = useState<FeedRun>()
  const { created = 0, changed = 0, cancelled = 0 } = run?.counts ?? {}
  return (
    <section className={classes.unsaved} aria-label={t('settings.feeds.rules.unsaved')}>
      <p className="amber small">{t('settings.feeds.rules.unsaved')}</p>
      <div className={classes.actions}>
        <RunButton feed={feed} action="dryRun" rules={record.draft.rules} onEnded={setRun} />
        {run?.status === 'DONE' && (
          <Button
            size="compact-sm"
            loading={record.isSaving}
            disabled={record.conflict !== undefined}
            onClick={record.save}
          >
            {t('settings.feeds.rules.save', { count: created + changed + cancelled })}
          </Button>
        )}
        <Button size="compact-sm" variant="subtle" color="var(--ink)" onClick={record.discard}>
          {t('settings.feeds.rules.discard')}
        </Button>
        <span role="alert" className="small clay">
          {/* No field shows the faults of a rule. */}
          <SaveError record={{ ...record, formError: record.error }} />
        </span>
      </div>
    </section>
  )
}
