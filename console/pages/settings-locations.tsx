import { useTranslation } from 'react-i18next'
import type { Location } from '../api/setup.ts'
import { locationKind, type LocationFields } from '../api/setup-objects.ts'
import { placeOf } from '../components/time.ts'
import { LineField, NameField, TextField, TimeZoneField } from '../setup/fields.tsx'
import type { SetupForm } from '../setup/setup-form-state.ts'
import { SetupPage } from '../setup/setup-page.tsx'
import classes from '../setup/setup.module.css'

const draftOf = (location: Location | undefined): LocationFields => ({
  name: location?.name ?? '',
  address: location?.address ?? null,
  phone: location?.phone ?? null,
  emailAddress: location?.emailAddress ?? null,
  timeZone: location?.timeZone ?? null,
  directions: location?.directions ?? null,
})

export function SettingsLocationsPage() {
  const { t } = useTranslation()
  return (
    <SetupPage
      kind={locationKind}
      nameOf={({ name }) => name}
      detailOf={({ address }) => address?.replaceAll('\n', ', ') ?? null}
      columns={[
        { label: t('settings.setup.fields.phone'), cell: ({ phone }) => phone },
        {
          label: t('settings.setup.fields.timeZone'),
          cell: ({ timeZone }) => (timeZone ? placeOf(timeZone) : t('settings.locations.sameZone')),
        },
      ]}
      draftOf={draftOf}
      fields={(form) => <Fields form={form} />}
    />
  )
}

function Fields({ form: { at } }: { form: SetupForm<LocationFields> }) {
  const { t } = useTranslation()
  return (
    <>
      <NameField {...at('name')} label={t('settings.setup.fields.name')} data-autofocus />
      <TextField {...at('address')} label={t('settings.setup.fields.address')} />
      <div className={classes.two}>
        <LineField {...at('phone')} type="tel" label={t('settings.setup.fields.phone')} />
        <LineField
          {...at('emailAddress')}
          type="email"
          label={t('settings.setup.fields.emailAddress')}
        />
      </div>
      <TimeZoneField {...at('timeZone')} description={t('settings.locations.timeZoneHint')} />
      <TextField
        {...at('directions')}
        label={t('settings.setup.fields.directions')}
        description={t('settings.locations.directionsHint')}
      />
    </>
  )
}
