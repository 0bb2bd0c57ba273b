import { TagFields } from '../components/tag-fields.tsx'
import type { Draft } from './draft.ts'
import { readTags } from './sentence.ts'

/** Tags that the appointment or its client must have. */
export const FilterTags = ({
  draft,
  onChange,
}: {
  draft: Draft
  onChange: (draft: Draft) => void
}) => (
  <TagFields
    value={readTags(draft.filterTagMapJson)}
    onChange={(tags) =>
      onChange({
        ...draft,
        filterTagMapJson: Object.keys(tags).length === 0 ? null : JSON.stringify(tags),
      })
    }
  />
)
