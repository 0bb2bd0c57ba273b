import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { formatMoney, formatNumber, useTranslation } from '../texts/translate.ts'
import type { Service } from '../api/setup.ts'
import { serviceKind, type ServiceFields } from '../api/setup-objects.ts'
import { NameField, NumberField } from '../setup/fields.tsx'
import type { At, Form } from '../records/use-record.ts'
import { SetupPage } from '../setup/setup-page.tsx'
import classes from '../setup/setup.module.css'

export function SettingsServicesPage() {
  const { t } = useTranslation()
  const { data: services } = useQuery(serviceKind.listQuery)
  const usual = services?.findLast(({ currency }) => currency !== null)?.currency
  return (
    <SetupPage
      kind={serviceKind}
      name="services"
      nameOf={({ name }) => name}
      detailOf={() => null}
      columns={[
        {
          label: t('settings.services.duration'),
          cell: ({ durationMinutes }) =>
            durationMinutes && t('settings.services.minutes', { count: durationMinutes }),
        },
        { label: t('settings.setup.fields.price'), cell: priceOf },
      ]}
      suggested={usual ? { currency: usual } : undefined}
      fields={(form) => <Fields form={form} />}
    />
  )
}

function priceOf({ price, currency }: Service) {
  if (price === null) return null
  return currency === null ? formatNumber(price) : formatMoney(price, currency)
}

function Fields({ form: { at } }: { form: Form<ServiceFields> }) {
  const { t } = useTranslation()
  return (
    <>
      <NameField {...at('name')} label={t('settings.setup.fields.name')} data-autofocus />
      <NumberField
        {...at('durationMinutes')}
        label={t('settings.setup.fields.durationMinutes')}
        description={t('settings.services.durationHint')}
        allowDecimal={false}
      />
      <div className={classes.two}>
        <NumberField {...at('price')} label={t('settings.setup.fields.price')} decimalScale={4} />
        <CurrencyField {...at('currency')} />
      </div>
      <p className="soft small" style={{ margin: 0 }}>
        {t('settings.services.priceHint')}
      </p>
    </>
  )
}

function CurrencyField(props: At<string | null>) {
  const { t } = useTranslation()
  return (
    <Select
      {...props}
      label={t('settings.setup.fields.currency')}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t('settings.services.clearCurrency') }}
      limit={50}
      data={Intl.supportedValuesOf('currency')}
    />
  )
}
