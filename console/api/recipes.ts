import type { Recipe } from '../automations/recipes.ts'
import { automationsQuery } from './automations.ts'
import { client } from './client.ts'
import { queryClient } from './query-client.ts'
import { setupQuery } from './setup.ts'
import { freeName } from './templates.ts'

/** Creates the mail and the paused automation of a recipe; returns the automation's id. */
export async function createByRecipe(
  { definition, mail }: Recipe,
  description: string,
  businessId: number,
): Promise<number> {
  const { emailTemplateId } = await createTemplate(mail)
  const action = {
    actionType: 'SEND_EMAIL',
    active: true,
    businessId,
    emailTemplateId,
    recipient: { value: 'client' },
  } as const
  const body = {
    triggerMinutes: 0,
    ...definition,
    businessId,
    description,
    active: false,
    eventActions: [action],
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

async function createTemplate({ templateName, subject, paragraphs, isNews }: Recipe['mail']) {
  const { templates } = await queryClient.fetchQuery(setupQuery)
  const taken = new Set(templates.map((template) => template.templateName))
  const emailBody = [...paragraphs, '%BUSINESS_NAME%'].map((text) => `<p>${text}</p>`).join('\n')
  return client.createEmailTemplate({
    templateName: freeName(templateName, taken),
    // The texts of recipes are English, and so must be the dates in them.
    language: 'en',
    subject,
    emailBody,
    fromName: '%BUSINESS_NAME%',
    toAddress: '%CLIENT_EMAILADDRESS%',
    ...(isNews ? { emailCategoryId: await newsCategoryId() } : {}),
  })
}

/** A category whose mails people can unsubscribe from. */
async function newsCategoryId(): Promise<number> {
  const { items } = await client.listEmailCategories({ limit: 500 })
  const known = items.find((category) => !category.transactional)
  if (known) return known.emailCategoryId
  const created = await client.createEmailCategory({
    name: 'News and offers',
    code: 'NEWS',
    transactional: false,
  })
  return created.emailCategoryId
}
