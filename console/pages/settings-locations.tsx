import { useTranslation } from '../texts/translate.ts'
import { locationKind, type LocationFields } from '../api/setup-objects.ts'
import { placeOf } from '../components/time.ts'
import { LineField, NameField, TextField, TimeZoneField } from '../setup/fields.tsx'
import type { Form } from '../records/use-record.ts'
import { SetupPage } from '../setup/setup-page.tsx'
import classes from '../setup/setup.module.css'

export function SettingsLocationsPage() {
  const { t } = useTranslation()
  return (
    <SetupPage
      kind={locationKind}
      name="locations"
      nameOf={({ name }) => name}
      detailOf={({ address }) => address?.replaceAll('\n', ', ') ?? null}
      columns={[
        { label: t('settings.setup.fields.phone'), cell: ({ phone }) => phone },
        {
          label: t('settings.setup.fields.timeZone'),
          cell: ({ timeZone }) => (timeZone ? placeOf(timeZone) : t('settings.locations.sameZone')),
        },
      ]}
      fields={(form) => <Fields form={form} />}
    />
  )
}

function Fields({ form: { at } }: { form: Form<LocationFields> }) {
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
