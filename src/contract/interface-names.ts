import { Ignored } from './schema.ts'

/**
 * All property names of definitions, actions, event types, triggers and templates. Clients put them in
 * different places, so a definition, its `eventType` and an action accept each of them. The schemas that
 * use this list give some of them a meaning; the others are ignored.
 */
const NAMES = `
  active businessId createdDate createdUser description disclaimerFormIdList eventActions
  eventDefnId eventType filterTagMapJson groupIdList locationIdList modifiedDate modifiedUser
  newStatus objectId objectType objectUUId oldStatus professionalIdList reasonIdList triggerHours
  triggerMinutes eventCategory eventTypeId actionType emailCategoryId emailTemplateId
  eventActionId categoryForLookup msgType noTemplatesInCategory recipient template templateOptions
  eventDefinitionId completedTime eventTriggerId scheduledTime status allOrNoneSelect reasons
  staff locations disclaimerForms eventTypeCode eventTypeDesc eventTypeIds newStatusObject
  oldStatusObject templateActions triggerDays triggerHoursValue triggerMinutesValue triggerMonths
  triggerWeeks triggerWhen triggeredBy eventTypeCodes label value allowOnline
  attachFileLibraryUUids bccAddress ccAddress emailBecause emailBody emailBodyText emailCategory
  externalName fromAddress fromName language level location noHeader reasonNameList replyToAddress
  resellerId s3FileName sortOrder subject templateName toAddress toName`

export const interfaceNames = Object.fromEntries(
  NAMES.trim()
    .split(/\s+/)
    .map((name) => [name, Ignored]),
)
