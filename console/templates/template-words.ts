import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import { setupQuery } from '../api/setup.ts'
import { categoriesQuery, filesQuery } from '../api/templates.ts'
import type { Words } from '../records/changes.ts'
import type { Draft } from './draft.ts'
import { languageName } from './languages.ts'
import { locationOf, type VersionReach } from './reach.ts'

/** What decides who gets a version of a mail. */
type Reach = VersionReach & Pick<Draft, 'language'>

/** Who gets a version of a mail, in words. */
export function useReach() {
  const { t } = useTranslation()
  const { data: setup } = useQuery(setupQuery)
  const nameOr = (found: { name: string } | undefined) =>
    found?.name ?? (setup ? t('words.noLongerActive') : '…')
  const services = ({ reasonIdList }: Pick<Draft, 'reasonIdList'>) =>
    reasonIdList
      .map((id) => nameOr(setup?.services.find(({ reasonId }) => reasonId === id)))
      .join(', ')
  const location = (version: Pick<Draft, 'level' | 'location'>) => {
    const id = locationOf(version)
    if (id === null) return ''
    return nameOr(setup?.locations.find(({ locationId }) => String(locationId) === id))
  }
  return {
    services,
    location,
    /** "German · Massage · Altstadt" */
    label: (version: Reach) =>
      [version.language && languageName(version.language), services(version), location(version)]
        .filter(Boolean)
        .join(' · ') || t('template.everyLanguage'),
    /** "Only for Massage. Only at Altstadt." */
    sentence: (version: Reach) =>
      [
        version.reasonIdList.length > 0 &&
          t('template.onlyServices', { services: services(version) }),
        locationOf(version) !== null && t('template.onlyLocation', { location: location(version) }),
      ]
        .filter(Boolean)
        .join(' '),
  }
}

/** How the page names the fields of a template and writes their values. */
export function useTemplateWords(): Words<Draft> {
  const { t } = useTranslation()
  const reach = useReach()
  const { data: categories = [] } = useQuery(categoriesQuery)
  const { data: files = [] } = useQuery(filesQuery)
  return {
    label: (field) => t(`template.fields.${field}`),
    value: (field, draft) => {
      switch (field) {
        case 'language':
          return draft.language ? languageName(draft.language) : t('template.everyLanguage')
        case 'reasonIdList':
          return reach.services(draft) || t('template.everyService')
        case 'level':
          return t(draft.level === 'LOCATION' ? 'template.oneLocation' : 'template.everyLocation')
        case 'location':
          return reach.location(draft) || t('template.everyLocation')
        case 'emailCategoryId': {
          const id = draft.emailCategoryId
          return categories.find((category) => category.emailCategoryId === id)?.name ?? ''
        }
        case 'noHeader':
          return t(draft.noHeader ? 'words.yesInSentence' : 'words.noInSentence')
        case 'attachFileLibraryUUids':
          return draft.attachFileLibraryUUids
            .map((id) => files.find(({ fileUUId }) => fileUUId === id)?.name ?? id)
            .join(', ')
        default:
          return draft[field] ?? ''
      }
    },
  }
}
