import { IconArrowRight, IconChevronDown, IconChevronUp } from '../components/icons.tsx'
import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import type { AuditEntry } from '../api/audit.ts'
import { clientQuery, nameOf as nameOfClient } from '../api/clients.ts'
import { Filled, part } from '../components/filled.tsx'
import { nameOfUser } from '../components/user-name.ts'
import settings from '../setup/settings.module.css'
import classes from './audit.module.css'
import { changedFields, clientsOf, cutTexts, fieldInWords, valueInWords } from './changes.ts'
import { kindInWords, KINDS, nameOf, pageOf, verbOf, type EntryWords } from './describe.ts'

type Props = { entry: AuditEntry; words: EntryWords }

/** "marc changed the automation “Reminder”", with the changed fields on demand. */
export function EntryRow({ entry, words }: Props) {
  const { t, format } = words
  const [isOpen, setOpen] = useState(false)
  const details = useId()
  const fields = changedFields(entry)
  const Chevron = isOpen ? IconChevronUp : IconChevronDown
  return (
    <li className={`list-row ${classes.row}`}>
      <span className="faint numbers">{format.time(entry.time)}</span>
      <span className={classes.sentence}>
        <Filled
          text={t(`settings.audit.sentences.${verbOf(entry)}`, {
            user: part('user'),
            object: part('object'),
          })}
          parts={{
            user: <b dir="auto">{nameOfUser(entry.user, t)}</b>,
            object: <AuditedObject entry={entry} words={words} />,
          }}
        />
      </span>
      <button
        type="button"
        className={classes.open}
        aria-expanded={isOpen}
        aria-controls={details}
        onClick={() => setOpen(!isOpen)}
      >
        <span className="ellipsis">
          {entry.change === 'CREATED' || fields.length === 0
            ? t('settings.audit.details')
            : fields.map(({ name }) => fieldInWords(name)).join(', ')}
        </span>
        <Chevron size={15} aria-hidden />
      </button>
      {isOpen && (
        <div id={details} className={classes.details}>
          <Fields entry={entry} fields={fields} words={words} />
          <More entry={entry} words={words} />
        </div>
      )}
    </li>
  )
}

function AuditedObject({ entry, words }: Props) {
  const page = pageOf(entry)
  const phrase = <ObjectPhrase entry={entry} words={words} />
  if (!page) return phrase
  return (
    <Link {...page} className={settings.textLink}>
      {phrase}
    </Link>
  )
}

/** "the automation “Reminder”", "an entry of “Recalls”" */
export function ObjectPhrase({ entry, words }: Props) {
  const { t } = words
  const { object } = entry
  const kind = KINDS.find((one) => one === object) ?? 'other'
  const named = { kind: kindInWords(object), name: part('name') }
  const text = t(`settings.audit.objects.${kind}`, named)
  const name = nameOf(entry, words)
  if (name === undefined && text.includes(part('name'))) {
    return object === 'client'
      ? t('settings.audit.namelessClient')
      : t('settings.audit.nameless', { kind: kindInWords(object) })
  }
  return <Filled text={text} parts={{ name: <bdi>{name}</bdi> }} />
}

type FieldsProps = Props & { fields: ReturnType<typeof changedFields> }

function Fields({ entry, fields, words: entryWords }: FieldsProps) {
  const { object } = entry
  const ids = clientsOf(fields)
  const clients = useQueries({ queries: ids.map((id) => clientQuery(id)) }).map(
    ({ data, isPending }, i) => ({
      clientId: ids[i]!,
      name: data ? nameOfClient(data) : isPending ? '…' : undefined,
    }),
  )
  const words = { ...entryWords, clients }
  return (
    <dl className={classes.fields}>
      {fields.map(({ name, from, to }) => {
        const texts = cutTexts(
          from === undefined ? '' : valueInWords({ object, name, value: from }, words),
          valueInWords({ object, name, value: to }, words),
        )
        return (
          <div key={name}>
            <dt>{fieldInWords(name)}</dt>
            <dd>
              {from !== undefined && (
                <>
                  <s dir="auto">{texts.from}</s>{' '}
                  <IconArrowRight size={13} aria-hidden style={{ verticalAlign: -2 }} />{' '}
                </>
              )}
              <span dir="auto">{texts.to}</span>
            </dd>
          </div>
        )
      })}
    </dl>
  )
}

function More({ entry: { object, id, user }, words: { t } }: Props) {
  return (
    <p className={`small ${classes.more}`}>
      <Link to="/settings/audit" search={{ object, id }}>
        {t('settings.audit.allOfObject')}
      </Link>
      <Link to="/settings/audit" search={{ user }}>
        {t('settings.audit.allOfUser', { user: nameOfUser(user, t) })}
      </Link>
    </p>
  )
}
