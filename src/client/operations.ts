/**
 * Method and path of the operations, by the `operationId` of the API description. A test compares
 * them with the description; operation-types.ts says what each takes and answers.
 */

/** The kinds of objects that share their operations: plural, path, and `plan` if a save can be planned. */
export const OBJECTS = {
  Location: ['Locations', 'location'],
  MemberOfStaff: ['MembersOfStaff', 'professional'],
  Service: ['Services', 'reason'],
  Client: ['Clients', 'client'],
  Appointment: ['Appointments', 'calendar', 'plan'],
  Class: ['Classes', 'classSchedule', 'plan'],
  InvitationCampaign: ['InvitationCampaigns', 'invitationCampaign'],
  Invitation: ['Invitations', 'invitation', 'plan'],
  Recall: ['Recalls', 'recall', 'plan'],
  DisclaimerForm: ['DisclaimerForms', 'disclaimerForm'],
  Disclaimer: ['Disclaimers', 'disclaimer', 'plan'],
  EmailCategory: ['EmailCategories', 'emailCategory'],
  EmailTemplate: ['EmailTemplates', 'emailTemplate'],
} as const

const idOf = (kind: string) => (kind === 'invitation' ? 'invitationUUID' : `${kind}Id`)

const OTHERS = {
  countAppointmentsByDay: 'GET /calendar/days',
  countClientsByLanguage: 'GET /client/languages',
  listEventTypes: 'GET /eventType',
  listEventDefinitions: 'GET /eventDefinition',
  listEventDefinitionsOfType: 'GET /eventDefinition/eventType/:eventTypeId',
  listEventDefinitionsOfCampaign: 'GET /eventDefinition/INVITATION_CAMPAIGN/:invitationCampaignId',
  getEventDefinition: 'GET /eventDefinition/:eventDefinitionId',
  createEventDefinition: 'POST /eventDefinition',
  deleteEventDefinition: 'DELETE /eventDefinition/:eventDefinitionId',
  planEventDefinition: 'POST /eventDefinition/plan',
  backtestEventDefinition: 'POST /eventDefinition/backtest',
  listEventActions: 'GET /eventAction',
  listEventActionsOfDefinition: 'GET /eventAction/eventDefinition/:eventDefinitionId',
  getEventAction: 'GET /eventAction/:eventActionId',
  createEventAction: 'POST /eventAction',
  listEventTriggers: 'GET /eventTriggers',
  countEventTriggers: 'GET /eventTriggers/counts',
  getEventTrigger: 'GET /eventTriggers/:eventTriggerId',
  listEventTriggersOfAppointment: 'GET /eventTriggers/CALENDAR/:calendarId',
  listEventTriggersOfClass: 'GET /eventTriggers/CLASS_SCHEDULE/:classScheduleId',
  listEventTriggersOfInvitation: 'GET /eventTriggers/invitation/:invitationUUID',
  listEventTriggersOfRecall: 'GET /eventTriggers/RECALL/:recallId',
  listEventTriggersOfDisclaimer: 'GET /eventTriggers/DISCLAIMER/:disclaimerId',
  fireEventTrigger: 'POST /eventTriggers/:eventTriggerId/fire',
  fireEventTriggers: 'POST /eventTriggers/fire',
  cancelEventTrigger: 'POST /eventTriggers/:eventTriggerId/cancel',
  cancelEventTriggers: 'POST /eventTriggers/cancel',
  explainObject: 'GET /explain/:objectType/:objectId',
  listEmails: 'GET /emails',
  countEmails: 'GET /emails/counts',
  listEmailsOfAppointment: 'GET /emails/calendar/:calendarId',
  listEmailsOfInvitation: 'GET /emails/invitation/:invitationUUID',
  listEmailsOfClient: 'GET /emails/client/:clientId',
  getEmail: 'GET /emails/:emailId',
  getEmailHtml: 'GET /emails/:emailId/html',
  resendEmail: 'POST /emails/:emailId/resend',
  resendEmails: 'POST /emails/resend',
  listSuppressions: 'GET /suppression',
  deleteSuppression: 'DELETE /suppression/:emailAddress',
  listTokens: 'GET /emailTemplate/token',
  previewEmailTemplate: 'POST /emailTemplate/:emailTemplateId/preview',
  checkEmailTemplate: 'POST /emailTemplate/:emailTemplateId/check',
  testEmailTemplate: 'POST /emailTemplate/:emailTemplateId/test',
  listFiles: 'GET /fileLibrary',
  uploadFile: 'POST /fileLibrary',
  getFile: 'GET /fileLibrary/:fileUUId',
  getFileContent: 'GET /fileLibrary/:fileUUId/content',
  deleteFile: 'DELETE /fileLibrary/:fileUUId',
  listStatuses: 'GET /status',
  getStatus: 'GET /status/:objectType/:status',
  createStatus: 'POST /status',
  deleteStatus: 'DELETE /status/:objectType/:status',
  listReportCategories: 'GET /reports/category',
  printReport: 'POST /report/print/file',
  getReportRun: 'GET /report/run/:runId',
  getReportRunFile: 'GET /report/run/:runId/file',
  importObjects: 'POST /import',
  importCsv: 'POST /import/csv',
  getOverview: 'GET /overview',
  search: 'GET /search',
  listAuditEntries: 'GET /audit',
  listBusinesses: 'GET /business',
  getBusiness: 'GET /business/:businessId',
  createBusiness: 'POST /business',
  deleteBusiness: 'DELETE /business/:businessId',
  createApiKeyOfBusiness: 'POST /business/:businessId/apiKey',
  createUserOfBusiness: 'POST /business/:businessId/user',
  seedBusiness: 'POST /business/:businessId/seed',
  listApiKeys: 'GET /apiKey',
  getApiKey: 'GET /apiKey/:apiKeyId',
  createApiKey: 'POST /apiKey',
  revokeApiKey: 'DELETE /apiKey/:apiKeyId',
  listUsers: 'GET /user',
  getUser: 'GET /user/:userId',
  createUser: 'POST /user',
  deleteUser: 'DELETE /user/:userId',
  inviteUser: 'POST /user/invite',
  changePassword: 'POST /user/password',
  requestPasswordLink: 'POST /user/password/forgotten',
  readPasswordLink: 'POST /user/password/link',
  setPasswordByLink: 'POST /user/password/set',
  signIn: 'POST /session',
  getSession: 'GET /session',
  signOut: 'DELETE /session',
} as const
export type OtherOperation = keyof typeof OTHERS

/** `[name, "METHOD /path"]` of every operation. */
export const operations = (): [name: string, route: string][] => [
  ...Object.entries(OBJECTS).flatMap(([one, [several, kind, plan]]): [string, string][] => [
    [`list${several}`, `GET /${kind}`],
    [`get${one}`, `GET /${kind}/:${idOf(kind)}`],
    [`create${one}`, `POST /${kind}`],
    [`delete${one}`, `DELETE /${kind}/:${idOf(kind)}`],
    ...(plan ? [[`plan${one}`, `POST /${kind}/plan`] as [string, string]] : []),
  ]),
  ...Object.entries(OTHERS),
]

/** Their body is not JSON. */
export const CONTENT_TYPES: Record<string, string> = {
  importObjects: 'application/x-ndjson',
  importCsv: 'text/csv',
}

/** Doing them twice is not the same as once, and they take no `Idempotency-Key`. */
export const NEVER_REPEATED = ['signIn', 'changePassword', 'setPasswordByLink']
