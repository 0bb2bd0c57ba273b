import { MultiSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import type { Location, Professional } from '../api/setup.ts'
import { locationKind, staffKind, type StaffFields } from '../api/setup-objects.ts'
import { staffName } from '../calendar/columns.ts'
import { LineField, NameField, TimeZoneField } from '../setup/fields.tsx'
import type { At, Form } from '../records/use-record.ts'
import { SetupPage } from '../setup/setup-page.tsx'
import classes from '../setup/setup.module.css'
import { daysInWords, hoursInWords } from '../setup/weekdays.ts'
import { exceptionsInWords, WorkingExceptionsField } from '../setup/working-exceptions.tsx'
import { WorkingHoursField } from '../setup/working-hours.tsx'

export function SettingsStaffPage() {
  const { t } = useTranslation()
  const { data: locations = [] } = useQuery(locationKind.listQuery)
  const namesOf = ({ locationIdList }: Pick<Professional, 'locationIdList'>) =>
    locations
      .filter(({ locationId }) => locationIdList.includes(locationId))
      .map(({ name }) => name)
      .join(', ')
  const active = locations.filter((location) => location.active)
  return (
    <SetupPage
      kind={staffKind}
      name="staff"
      nameOf={staffName}
      detailOf={({ emailAddress }) => emailAddress}
      columns={[
        { label: t('settings.setup.fields.locationIdList'), cell: namesOf },
        {
          label: t('settings.setup.fields.workingHours'),
          cell: ({ workingHours }) => daysInWords(workingHours),
        },
      ]}
      suggested={
        active.length === 1 ? { locationIdList: active.map((one) => one.locationId) } : undefined
      }
      fields={(form) => <Fields form={form} locations={locations} />}
      valueInWords={(name, draft) => {
        if (name === 'locationIdList') return namesOf(draft) || '–'
        if (name === 'workingExceptions') return exceptionsInWords(draft.workingExceptions) || '–'
        return name === 'workingHours' ? hoursInWords(draft.workingHours) || '–' : undefined
      }}
    />
  )
}

type FieldsProps = { form: Form<StaffFields>; locations: Location[] }

function Fields({ form: { at, draft, faultsOf }, locations }: FieldsProps) {
  const { t } = useTranslation()
  // Also locations that were removed while hours still name them: the fault is shown there.
  const named = locations.filter(
    ({ locationId }) =>
      draft.locationIdList.includes(locationId) ||
      draft.workingHours.some((hours) => hours.locationId === locationId),
  )
  return (
    <>
      <div className={classes.two}>
        <NameField
          {...at('firstName')}
          label={t('settings.setup.fields.firstName')}
          data-autofocus
        />
        <NameField {...at('lastName')} label={t('settings.setup.fields.lastName')} />
      </div>
      <LineField
        {...at('emailAddress')}
        type="email"
        label={t('settings.setup.fields.emailAddress')}
        description={t('settings.staff.emailHint')}
      />
      <LocationsField {...at('locationIdList')} locations={locations} />
      <WorkingHoursField
        {...at('workingHours')}
        faults={faultsOf('workingHours')}
        locations={named}
      />
      <WorkingExceptionsField {...at('workingExceptions')} faults={faultsOf('workingExceptions')} />
      <TimeZoneField {...at('timeZone')} description={t('settings.staff.timeZoneHint')} />
    </>
  )
}

type LocationsProps = At<number[]> & { locations: Location[] }

/** Offers the active locations, and the inactive ones that are chosen. */
function LocationsField({ value, error, onChange, locations }: LocationsProps) {
  const { t } = useTranslation()
  const offered = locations.filter(({ active, locationId }) => active || value.includes(locationId))
  return (
    <MultiSelect
      label={t('settings.setup.fields.locationIdList')}
      description={t('settings.staff.locationsHint')}
      value={value.map(String)}
      error={error}
      data={offered.map(({ locationId, name }) => ({ value: String(locationId), label: name }))}
      onChange={(ids) => onChange(ids.map(Number))}
    />
  )
}
