import type { Business } from '../../src/contract/business.ts'
import { definitionOf, mailOf, type Recipe } from '../automations/recipes.ts'
import { currentLanguage, t } from '../texts/translate.ts'
import type { StoredAutomation } from './automation.ts'
import { automationsQuery } from './automations.ts'
import { client } from './client.ts'
import { queryClient } from './query-client.ts'
import { setupQuery } from './setup.ts'
import { freeName } from './templates.ts'

/** Creates the mail and the paused automation of a recipe; returns the automation's id. */
export async function createByRecipe(
  recipe: Recipe,
  description: string,
  business: Pick<Business, 'businessId' | 'accentColor' | 'confirmStatus' | 'cancelStatus'>,
): Promise<number> {
  const { businessId, accentColor } = business
  const { emailTemplateId } = await createTemplate(recipe, accentColor)
  const eventActions = (recipe.recipients ?? ['client']).map((value) => ({
    actionType: 'SEND_EMAIL' as const,
    active: true,
    businessId,
    emailTemplateId,
    recipient: { value },
  }))
  const body = {
    triggerMinutes: 0,
    ...definitionOf(recipe, business),
    businessId,
    description,
    active: false,
    eventActions,
  }
  try {
    const created = await client.createEventDefinition(body)
    return created.eventDefnId
  } catch (error) {
    // A template without an automation is useless.
    await client.deleteEmailTemplate({ emailTemplateId }).catch(() => undefined)
    throw error
  } finally {
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: setupQuery.queryKey }),
      queryClient.invalidateQueries({ queryKey: automationsQuery.queryKey }),
    ])
  }
}

/** Deletes the automation and the mail that a recipe created, if the user does not want them. */
export async function discardRecipe({ definition, actions }: StoredAutomation) {
  await client.deleteEventDefinition({ eventDefinitionId: definition.eventDefnId })
  const templates = new Set(actions.map(({ emailTemplateId }) => emailTemplateId))
  for (const emailTemplateId of templates) await client.deleteEmailTemplate({ emailTemplateId })
  await Promise.all(
    [setupQuery.queryKey, automationsQuery.queryKey, ['templates']].map((queryKey) =>
      queryClient.invalidateQueries({ queryKey }),
    ),
  )
}

async function createTemplate(recipe: Recipe, accentColor: string | null) {
  const { templateName, subject, emailBody } = mailOf(recipe, accentColor)
  const { templates } = await queryClient.fetchQuery(setupQuery)
  const taken = new Set(templates.map((template) => template.templateName))
  return client.createEmailTemplate({
    templateName: freeName(templateName, taken),
    // The dates in the mail must be in the language of its text.
    language: currentLanguage(),
    subject,
    emailBody,
    fromName: '%BUSINESS_NAME%',
    ...(recipe.recipients ? {} : { toAddress: '%CLIENT_EMAILADDRESS%' }),
    ...(recipe.isNews ? { emailCategoryId: await newsCategoryId() } : {}),
  })
}

/** A category whose mails people can unsubscribe from. */
async function newsCategoryId(): Promise<number> {
  const { items } = await client.listEmailCategories({ limit: 500 })
  const known = items.find((category) => !category.transactional)
  if (known) return known.emailCategoryId
  const created = await client.createEmailCategory({
    name: t('recipeMails.news'),
    code: 'NEWS',
    transactional: false,
  })
  return created.emailCategoryId
}
