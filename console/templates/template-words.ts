import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import { categoriesQuery, filesQuery } from '../api/templates.ts'
import type { Words } from '../records/changes.ts'
import type { Draft } from './draft.ts'
import { languageName } from './languages.ts'

/** How the page names the fields of a template and writes their values. */
export function useTemplateWords(): Words<Draft> {
  const { t } = useTranslation()
  const { data: categories = [] } = useQuery(categoriesQuery)
  const { data: files = [] } = useQuery(filesQuery)
  return {
    label: (field) => t(`template.fields.${field}`),
    value: (field, draft) => {
      switch (field) {
        case 'language':
          return draft.language ? languageName(draft.language) : t('template.everyLanguage')
        case 'emailCategoryId': {
          const id = draft.emailCategoryId
          return categories.find((category) => category.emailCategoryId === id)?.name ?? ''
        }
        case 'noHeader':
          return t(draft.noHeader ? 'template.yes' : 'template.no')
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
