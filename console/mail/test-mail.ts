import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { automationsQuery } from '../api/automations.ts'
import { previewQuery } from '../api/automation.ts'
import { examplesQuery, templatesQuery } from '../api/templates.ts'
import { automationsOf, objectTypeOf } from '../templates/draft.ts'

/** The template of the test mail, the object that the mail is about, and its sender. */
export function useTestMail() {
  const [chosen, setChosen] = useState<number>()
  const templates = useQuery(templatesQuery)
  const automations = useQuery({ ...automationsQuery, retry: false })
  const active = templates.data?.filter((one) => one.active)
  const template = active?.find(({ emailTemplateId }) => emailTemplateId === chosen) ?? active?.[0]
  const variants = active?.filter((one) => one.templateName === template?.templateName)
  const ids = new Set(variants?.map(({ emailTemplateId }) => emailTemplateId))
  const used = automationsOf(ids, automations.data ?? [])
  const examples = useQuery({
    ...examplesQuery(template ? objectTypeOf(used, template) : 'CALENDAR'),
    enabled: template !== undefined && !automations.isLoading,
  })
  const example = examples.data?.[0]
  const about = example && { objectType: example.objectType, objectId: example.objectId }
  const preview = useQuery({
    ...previewQuery(
      template?.emailTemplateId ?? 0,
      about ?? { objectType: 'CALENDAR', objectId: 0 },
    ),
    enabled: template !== undefined && about !== undefined,
  })
  return {
    templates: active,
    template,
    about,
    choose: setChosen,
    isLoading: templates.isLoading || examples.isLoading,
    error: templates.error ?? examples.error,
    retry: () => void (templates.error ? templates : examples).refetch(),
    sender: preview.data,
  }
}

export type TestMail = ReturnType<typeof useTestMail>
