/** The fields by which one of several templates is chosen. */
export type Variant = {
  emailTemplateId: number
  language: string | null
  reasonIdList: number[]
  /** `LOCATION`: for the one location that `location` names; anything else is for all of them. */
  level: string | null
  location: number | null
  sortOrder: number | null
}

/** What a mail is about: who reads it, and which service at which place. */
export type Occasion = {
  language: string | null
  reasonId: number | null
  locationId: number | null
}

/**
 * The most specific template that fits: one in the reader's language before one for every
 * language, then one for the service, then one for the location, then one in the very tag of the
 * reader's language. The first of the list is the one the action names; it wins where nothing is
 * more specific, and serves when nothing fits.
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
  const better = (rank: (variant: Variant) => number) => rank(b) - rank(a)
  return (
    better((variant) => Number(Boolean(variant.language))) ||
    better((variant) => Number(variant.reasonIdList.length > 0)) ||
    better((variant) => Number(isForLocation(variant))) ||
    better((variant) => Number(variant.language && tag(variant.language) === tag(language!))) ||
    // Of two lists that name the service the shorter one means it more.
    a.reasonIdList.length - b.reasonIdList.length ||
    better((variant) => Number(variant === own)) ||
    (a.sortOrder ?? 0) - (b.sortOrder ?? 0) ||
    a.emailTemplateId - b.emailTemplateId
  )
}

const isForLocation = (variant: Variant) =>
  variant.level === 'LOCATION' && variant.location !== null

/** Whoever reads `de-CH` reads `de`, and the other way round. */
const isSameLanguage = (offered: string, wanted: string | null) =>
  wanted !== null && tag(offered).split('-')[0] === tag(wanted).split('-')[0]

const tag = (language: string) => language.replaceAll('_', '-').toLowerCase()
