export type Variant = {
  emailTemplateId: number
  language: string | null
  reasonIdList: number[]
  /** `LOCATION`: for the location in `location`; any other value: for all locations. */
  level: string | null
  location: number | null
  sortOrder: number | null
}

/** The reader's language, the service and the location of a mail. */
export type Occasion = {
  language: string | null
  reasonId: number | null
  locationId: number | null
}

/**
 * The most specific template that fits: in the reader's language before any language, then for the
 * service, then for the location, then with the exact language tag of the reader. The first template
 * is the one that the action names: it is used if no other is more specific, or if none fits.
 */
export function chooseVariant<T extends Variant>(variants: [T, ...T[]], occasion: Occasion): T {
  const [own] = variants
  const fitting = variants.filter((variant) => fits(variant, occasion))
  return fitting.toSorted((a, b) => compare(a, b, own, occasion))[0] ?? own
}

const fits = (variant: Variant, { language, reasonId, locationId }: Occasion) =>
  (!variant.language || isSameLanguage(variant.language, language)) &&
  (variant.reasonIdList.length === 0 ||
    (reasonId !== null && variant.reasonIdList.includes(reasonId))) &&
  (!isForLocation(variant) || variant.location === locationId)

function compare(a: Variant, b: Variant, own: Variant, { language }: Occasion) {
  const byRank = (rank: (variant: Variant) => number) => rank(b) - rank(a)
  return (
    byRank((variant) => Number(Boolean(variant.language))) ||
    byRank((variant) => Number(variant.reasonIdList.length > 0)) ||
    byRank((variant) => Number(isForLocation(variant))) ||
    byRank((variant) => Number(variant.language && tag(variant.language) === tag(language!))) ||
    // If both lists contain the service, the shorter one is more specific.
    a.reasonIdList.length - b.reasonIdList.length ||
    byRank((variant) => Number(variant === own)) ||
    (a.sortOrder ?? 0) - (b.sortOrder ?? 0) ||
    a.emailTemplateId - b.emailTemplateId
  )
}

const isForLocation = (variant: Variant) =>
  variant.level === 'LOCATION' && variant.location !== null

/** `de` matches `de-CH`, and the other way round. */
const isSameLanguage = (offered: string, wanted: string | null) =>
  wanted !== null && tag(offered).split('-')[0] === tag(wanted).split('-')[0]

const tag = (language: string) => language.replaceAll('_', '-').toLowerCase()
