import { Avatar, Button, Menu, MultiSelect, PasswordInput, Select } from '@mantine/core'
import { ActionMenu } from '../components/action-menu.tsx'
import { IconCheck, IconPlus } from '../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { useTranslation, type Translate } from '../texts/translate.ts'
import type { User } from '../../src/contract/credentials.ts'
import { ROLES, type Role } from '../../src/contract/roles.ts'
import { overviewQuery, readMailState, type MailState } from '../api/overview.ts'
import {
  deactivatePerson,
  peopleQuery,
  personKind,
  sendPasswordLink,
  type PersonFields,
} from '../api/people.ts'
import { useSession } from '../api/session.ts'
import { setupQuery, type Setup } from '../api/setup.ts'
import { Failure, Loaded, Loading } from '../components/states.tsx'
import { differencesOf } from '../records/changes.ts'
import { RecordConflict } from '../records/conflict.tsx'
import { SaveError } from '../records/save-error.tsx'
import { useRecord, type At, type Form } from '../records/use-record.ts'
import { LineField, NameField } from '../setup/fields.tsx'
import { PageHead } from '../shell/page-head.tsx'
import classes from '../setup/settings.module.css'
import { ConfirmWindow, FormWindow, SubmitRow } from '../components/windows.tsx'
import { SettingsColumns, SettingsTable } from '../setup/settings-frame.tsx'
import { ErrorMessage } from '../components/error-message.tsx'

export function SettingsPeoplePage() {
  const { t } = useTranslation()
  const { data: people, error, refetch } = useQuery(peopleQuery)
  const { data: setup } = useQuery(setupQuery)
  const [edited, setEdited] = useState<User | 'new'>()
  const [note, setNote] = useState<ReactNode>()
  return (
    <>
      <PageHead
        title={t('settings.people.title')}
        lede={people && t('settings.people.lede', { count: people.length })}
      >
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEdited('new')}>
          {t('settings.people.add')}
        </Button>
      </PageHead>
      <SettingsColumns>
        <p role="status" className="small soft" style={{ margin: 0 }}>
          {note}
        </p>
        <Loaded query={{ data: people, error, refetch }}>
          {(people) => (
            <PeopleTable people={people} setup={setup} onEdit={setEdited} onNote={setNote} />
          )}
        </Loaded>
        <RoleTable />
      </SettingsColumns>
      <FormWindow
        isOpen={edited !== undefined}
        onClose={() => setEdited(undefined)}
        title={t(edited === 'new' ? 'settings.people.add' : 'words.change')}
      >
        {edited && (
          <PersonForm
            person={edited === 'new' ? undefined : edited}
            setup={setup}
            onDone={(done) => {
              setNote(done)
              setEdited(undefined)
            }}
          />
        )}
      </FormWindow>
    </>
  )
}

type TableProps = {
  people: User[]
  setup: Setup | undefined
  onEdit: (person: User) => void
  onNote: (note: ReactNode) => void
}

function PeopleTable({ people, setup, onEdit, onNote }: TableProps) {
  const { t } = useTranslation()
  const { userId } = useSession()
  return (
    <div className={`card ${classes.scroll}`}>
      <SettingsTable
        head={[t('settings.people.person'), t('settings.people.role'), t('settings.people.sees')]}
      >
        {people.map((person) => (
          <tr key={person.userId}>
            <td>
              <span className="row" style={{ padding: '6px 0' }}>
                <Avatar size={28} color="pine" name={person.username} aria-hidden />
                <span style={{ lineHeight: 1.3 }}>
                  <b className="strong" dir="auto">
                    {person.username}
                  </b>{' '}
                  {person.userId === userId && (
                    <span className="soft">{t('settings.people.you')}</span>
                  )}
                  <span className="faint tiny" style={{ display: 'block' }}>
                    {person.emailAddress}
                  </span>
                </span>
              </span>
            </td>
            <td>{t(`roles.${person.role}`)}</td>
            <td className="soft">
              <Sees person={person} setup={setup} />
            </td>
            <td style={{ textAlign: 'right' }}>
              <PersonMenu person={person} onEdit={onEdit} onNote={onNote} />
            </td>
          </tr>
        ))}
      </SettingsTable>
    </div>
  )
}

function Sees({ person, setup }: { person: User; setup: Setup | undefined }) {
  const { t } = useTranslation()
  if (person.role === 'REPORTS_ONLY') return t('settings.people.seesReports')
  if (person.role === 'LOCATION_SUPER_USER') {
    const names = setup?.locations
      .filter(({ locationId }) => person.locationIdList.includes(locationId))
      .map(({ name }) => name)
    return names?.join(', ') || t('settings.people.seesNothing')
  }
  if (person.role !== 'USER') return t('words.everythingInSentence')
  const staff = setup?.professionals.find(
    ({ professionalId }) => professionalId === person.professionalId,
  )
  if (!staff) return t('settings.people.seesNothing')
  return t('settings.people.seesOwn', { name: `${staff.firstName} ${staff.lastName}` })
}

type MenuProps = { person: User } & Pick<TableProps, 'onEdit' | 'onNote'>

function PersonMenu({ person, onEdit, onNote }: MenuProps) {
  const { t } = useTranslation()
  const { role, userId } = useSession()
  const { username, emailAddress } = person
  const [isAsking, setAsking] = useState(false)
  if (person.role === 'OWNER' && role !== 'OWNER') return null
  const act = (work: () => Promise<string>) =>
    void work().then(onNote, (error: unknown) => onNote(<ErrorMessage error={error} />))
  const sendLink = async (address: string) => {
    await sendPasswordLink(person)
    return invitedNote(await readMailState(), address, t)
  }
  const deactivate = async () => {
    await deactivatePerson(person)
    return t('settings.people.deactivated', { username })
  }
  return (
    <>
      <ActionMenu label={t('settings.people.actionsOf', { username })}>
        <Menu.Item onClick={() => onEdit(person)}>{t('words.change')}</Menu.Item>
        {emailAddress && (
          <Menu.Item onClick={() => act(() => sendLink(emailAddress))}>
            {t('settings.people.sendLink')}
          </Menu.Item>
        )}
        {person.userId !== userId && (
          <Menu.Item color="clay" onClick={() => setAsking(true)}>
            {t('words.deactivate')}
          </Menu.Item>
        )}
      </ActionMenu>
      <ConfirmWindow
        isOpen={isAsking}
        title={t('settings.people.deactivateTitle', { username })}
        hint={t('settings.people.deactivateHint')}
        button={t('words.deactivate')}
        onClose={() => setAsking(false)}
        onConfirm={() => act(deactivate)}
      />
    </>
  )
}

/** A pause or the daily limit of the business does not stop mails about accounts. */
const invitedNote = (state: MailState, address: string, t: Translate) =>
  t(`settings.people.invited.${state === 'stopped' ? 'works' : state}`, { address })

type FormProps = {
  person: User | undefined
  setup: Setup | undefined
  onDone: (note: string) => void
}

function PersonForm({ person, setup, onDone }: FormProps) {
  const { t } = useTranslation()
  const { data: overview } = useQuery(overviewQuery())
  const record = useRecord({
    kind: personKind,
    id: person?.userId,
    onSaved: (saved, isComplete, { password }) => {
      if (isComplete) void noteOf(saved, password).then(onDone)
    },
  })
  const { draft, form } = record
  const isInvited = !person && draft.password === ''
  const noteOf = async ({ username, emailAddress }: User, password: string) =>
    !person && password === ''
      ? invitedNote(await readMailState(), emailAddress ?? '', t)
      : t('settings.people.saved', { username })
  if (record.readError) return <Failure error={record.readError} onRetry={record.readAgain} />
  if (!record.isReady) return <Loading />
  return (
    <form
      className={classes.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        record.save()
      }}
    >
      <RecordConflict
        record={record}
        modifiedOf={(one) => one}
        differences={(from, to) =>
          differencesOf(from, to, {
            label: (name) => t(LABELS[name]),
            value: (name, one) => fieldText(name, one, setup, t),
          })
        }
      />
      <PersonFieldset form={form} setup={setup} person={person} />
      {isInvited && overview?.mail.captured && (
        <p className="amber small" style={{ margin: 0 }}>
          {t('settings.people.captured')}
        </p>
      )}
      <SubmitRow
        label={t(
          person ? 'words.save' : isInvited ? 'settings.people.invite' : 'settings.people.make',
        )}
        disabled={record.conflict !== undefined}
        form={{ isBusy: record.isSaving, message: <SaveError record={record} /> }}
      />
    </form>
  )
}

const LABELS = {
  username: 'signIn.username',
  emailAddress: 'form.emailAddress',
  role: 'settings.people.role',
  professionalId: 'settings.people.staff',
  locationIdList: 'settings.people.locations',
  password: 'signIn.password',
} as const satisfies Record<keyof PersonFields, string>

/** The value of a field, if two people changed the same person. */
function fieldText(
  name: keyof PersonFields,
  person: PersonFields,
  setup: Setup | undefined,
  t: Translate,
) {
  const { role, professionalId, locationIdList } = person
  if (name === 'role') return t(`roles.${role}`)
  if (name === 'password') return ''
  if (name === 'professionalId') {
    const staff = setup?.professionals.find((one) => one.professionalId === professionalId)
    return staff ? `${staff.firstName} ${staff.lastName}` : ''
  }
  if (name === 'locationIdList') {
    const seen = setup?.locations.filter(({ locationId }) => locationIdList.includes(locationId))
    return seen?.map((one) => one.name).join(', ') ?? ''
  }
  return person[name] ?? ''
}

type FieldsProps = Pick<FormProps, 'person' | 'setup'> & { form: Form<PersonFields> }

function PersonFieldset({ form: { at, draft }, person, setup }: FieldsProps) {
  const { t } = useTranslation()
  const session = useSession()
  const roles = ROLES.filter((one) => one !== 'OWNER' || session.role === 'OWNER')
  const password = at('password')
  return (
    <>
      <NameField
        {...at('username')}
        label={t('signIn.username')}
        autoCapitalize="none"
        withAsterisk={false}
        data-autofocus
      />
      <LineField {...at('emailAddress')} type="email" label={t('form.emailAddress')} />
      <Select
        {...at('role')}
        label={t('settings.people.role')}
        onChange={(value) => value && at('role').onChange(value as Role)}
        data={roles.map((value) => ({ value, label: t(`roles.${value}`) }))}
        allowDeselect={false}
      />
      {draft.role === 'USER' && <StaffField {...at('professionalId')} setup={setup} />}
      {draft.role === 'LOCATION_SUPER_USER' && (
        <LocationsField {...at('locationIdList')} setup={setup} />
      )}
      <PasswordInput
        label={t('signIn.password')}
        description={t(person ? 'settings.people.passwordKeep' : 'settings.people.passwordInvite')}
        autoComplete="new-password"
        value={password.value}
        error={password.error}
        onChange={(event) => password.onChange(event.currentTarget.value)}
      />
    </>
  )
}

type SetupProps = { setup: Setup | undefined }

/** Staff see their own appointments. */
function StaffField({ value, error, onChange, setup }: At<number | null> & SetupProps) {
  const { t } = useTranslation()
  return (
    <Select
      label={t('settings.people.staff')}
      description={t('settings.people.staffHint')}
      value={value === null ? null : String(value)}
      onChange={(id) => onChange(id === null ? null : Number(id))}
      data={(setup?.professionals ?? []).map((one) => ({
        value: String(one.professionalId),
        label: `${one.firstName} ${one.lastName}`,
      }))}
      searchable
      clearable
      error={error}
    />
  )
}

/** Location managers see the appointments of their locations. */
function LocationsField({ value, error, onChange, setup }: At<number[]> & SetupProps) {
  const { t } = useTranslation()
  return (
    <MultiSelect
      label={t('settings.people.locations')}
      value={value.map(String)}
      onChange={(ids) => onChange(ids.map(Number))}
      data={(setup?.locations ?? []).map((one) => ({
        value: String(one.locationId),
        label: one.name,
      }))}
      error={error}
    />
  )
}

/** The rights of each role; docs/roles.md lists them by function. */
const RIGHTS = [
  ['viewSchedule', 'all', 'all', 'places', 'own', 'no'],
  ['editSchedule', 'all', 'all', 'places', 'own', 'no'],
  ['viewAutomations', 'all', 'all', 'all', 'no', 'no'],
  ['editAutomations', 'all', 'all', 'no', 'no', 'no'],
  ['viewMails', 'all', 'all', 'places', 'own', 'no'],
  ['sendMails', 'all', 'all', 'all', 'no', 'no'],
  ['editTemplates', 'all', 'all', 'no', 'no', 'no'],
  ['printReports', 'all', 'all', 'places', 'own', 'all'],
  ['viewFigures', 'all', 'all', 'all', 'no', 'all'],
  ['editSetup', 'all', 'all', 'no', 'no', 'no'],
  ['managePeople', 'all', 'all', 'no', 'no', 'no'],
  ['manageOwners', 'all', 'no', 'no', 'no', 'no'],
] as const

function RoleTable() {
  const { t } = useTranslation()
  return (
    <section
      className={`card ${classes.scroll}`}
      tabIndex={0}
      aria-label={t('settings.people.rights')}
    >
      <h2 className="serif" style={{ margin: '14px 18px 6px', fontSize: 17, fontWeight: 580 }}>
        {t('settings.people.rights')}
      </h2>
      <table className={`table ${classes.table}`}>
        <thead>
          <tr>
            <th>
              <span className="visually-hidden">{t('settings.people.rights')}</span>
            </th>
            {ROLES.map((role) => (
              <th key={role} className={classes.center}>
                {t(`roles.${role}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {RIGHTS.map(([right, ...byRole]) => (
            <tr key={right}>
              <td>{t(`settings.people.may.${right}`)}</td>
              {byRole.map((extent, i) => (
                <td key={ROLES[i]} className={`soft ${classes.center}`}>
                  {extent === 'all' ? (
                    <IconCheck
                      size={16}
                      className="accent"
                      role="img"
                      aria-label={t('settings.people.extent.all')}
                    />
                  ) : (
                    t(`settings.people.extent.${extent}`)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
