import type { Static, TObject, TSchema } from 'typebox'
import type { AuditEntry } from '../contract/audit.ts'
import type { Business, BusinessWrite } from '../contract/business.ts'
import type {
  ApiKey,
  ApiKeyWrite,
  LanguageChoice,
  NewApiKey,
  PasswordLink,
  Session as SessionSchema,
  User,
  UserInvite,
  UserWrite,
} from '../contract/credentials.ts'
import type { ClientData, ErasedCounts } from '../contract/client-data.ts'
import type { ClientLanguage } from '../contract/client-language.ts'
import type {
  CheckedTemplate,
  MailPreview,
  MailTest,
  PreviewRequest,
  TemplateCheck,
  TokenGroup,
  TokenQuery,
} from '../contract/email-template.ts'
import type {
  Email,
  NamedEmail,
  Suppression,
  SuppressionBody,
  WholeEmail,
} from '../contract/email.ts'
import type { EventAction, EventActionBody } from '../contract/event-action.ts'
import type { EventDefinition, EventDefinitionBody } from '../contract/event-definition.ts'
import type {
  EventTrigger,
  NamedTrigger,
  TriggerDetails,
  TriggerStatus,
} from '../contract/event-trigger.ts'
import type { ObjectType } from '../contract/event-type.ts'
import type { EventTypeInfo } from '../contract/event-type-info.ts'
import type { Explanation } from '../contract/explanation.ts'
import type {
  CapturedOfDefinition,
  Correction,
  Difference,
  EntryState,
  Feed as FeedSchema,
  FeedEntry,
  FeedHook,
  FeedFields,
  FeedMatch,
  FeedRun,
  FeedWrite,
  InletAnswer,
  InletEntry,
  MatchKind,
} from '../contract/feed.ts'
import type { FileWrite, LibraryFile } from '../contract/file-library.ts'
import type { MailServer } from '../contract/mail-server.ts'
import type { SenderDomain } from '../contract/sender-domain.ts'
import type { Approval, ApprovalStatus, ReleaseApproval } from '../contract/approval.ts'
import type { Backtest, Forecast } from '../contract/forecast.ts'
import type {
  CsvImportResult,
  CsvQuery,
  FileImport,
  ImportMapping,
  ImportQuery,
  ImportResult,
  UndoResult,
} from '../contract/import.ts'
import type {
  ListedObjects,
  ObjectBodies,
  ObjectFilters,
  Objects,
} from '../contract/object-types.ts'
import type { Kinds } from '../contract/objects.ts'
import type { Overview } from '../contract/overview.ts'
import type { ChangesPage, ChangesQuery, Page, PageQuery } from '../contract/page.ts'
import type {
  AuditQuery,
  BusinessesQuery,
  DefinitionQuery,
  DefinitionsQuery,
  EmailQuery,
  EmailsAboutQuery,
  EmailsQuery,
  OverviewQuery,
  SearchQuery,
  SuppressionsQuery,
  TriggerQuery,
  TriggersOfObjectQuery,
  TriggersQuery,
} from '../contract/queries.ts'
import type {
  PrintedReport,
  PrintQuery,
  PrintBody,
  ReportCategory,
  ReportOptions,
  ReportRun,
} from '../contract/report.ts'
import type {
  CountedObjectPage,
  ObjectSums,
  ReportRowsQuery,
  ReportSumsQuery,
} from '../contract/report-rows.ts'
import type {
  NewReportLink,
  ReportLink,
  SharedFile,
  ReportLinkWrite,
  ReportSchedule,
  ReportScheduleWrite,
  ReportView,
  ReportViewWrite,
} from '../contract/report-delivery.ts'
import type { ReportTarget, ReportTargetWrite } from '../contract/report-target.ts'
import type { ReleaseWrite, RestoreState } from '../contract/restore.ts'
import type { TagChangeResult, TagChangeWrite, TagValue } from '../contract/tag.ts'
import type { ServiceHealth } from '../contract/service-health.ts'
import type { SavePlan } from '../contract/save-plan.ts'
import type { BulkIds, BulkResult as BulkResultSchema } from '../contract/schema.ts'
import type { Found } from '../contract/search.ts'
import type { Status, StatusWrite } from '../contract/status.ts'

/**
 * The operations of the API by their `operationId`: method and path, and the types of what they take and
 * answer. A test compares them with the API description.
 */
/** The path parameters, query, body and answer of an operation. */
export type Operation = { path?: object; query?: object; body?: unknown; answer: unknown }

/** A body without the properties that the service sets or ignores. Optional ones may be undefined. */
type Writable<T> = T extends (infer Item)[]
  ? Writable<Item>[]
  : T extends object
    ? {
        [P in keyof T as unknown extends T[P] ? never : P]: {} extends Pick<T, P>
          ? Writable<T[P]> | undefined
          : Writable<T[P]>
      }
    : T

type FeedTest = {
  ok: boolean
  checks: { check: string; ok: boolean; detail: string }[]
  calendars: { key: string; name: string; entries?: number | null }[]
  otherHosts: string[]
}
type StartedFeedRun = { feedRunId: number }
type PageParameters = Static<TObject<typeof PageQuery>>
export type BulkResult = Static<typeof BulkResultSchema>

export type Session = Static<typeof SessionSchema>
export type Feed = FeedFields & Omit<Static<typeof FeedSchema>, keyof FeedFields>
type InletEntries = {
  entries: InletEntry[]
  complete?: { from: number; to: number; keys: string[] }
}
export type EventDefinitionInput = Writable<Static<typeof EventDefinitionBody>>
export type EventActionInput = Writable<Static<typeof EventActionBody>>

/** A line of an import: the body of the kind, with its kind and a `ref` that other lines can name. */
export type ImportLine =
  | { [K in keyof ObjectBodies]: { kind: K; ref?: string } & ObjectBodies[K] }[keyof ObjectBodies]
  | {
      kind: 'business' | 'status' | 'fileLibrary' | 'suppression' | 'eventDefinition'
      [property: string]: unknown
    }

/** NDJSON text, or the objects of its lines. */
export type ImportLines = string | Blob | Iterable<ImportLine> | AsyncIterable<ImportLine>

/** The kinds of objects that share their operations: plural, path, and if a save can be planned, why. */
export const OBJECTS = {
  Location: ['Locations', 'location', 'plan'],
  MemberOfStaff: ['MembersOfStaff', 'professional'],
  Service: ['Services', 'reason'],
  Client: ['Clients', 'client', 'plan'],
  Appointment: ['Appointments', 'calendar', 'events'],
  Class: ['Classes', 'classSchedule', 'events'],
  InvitationCampaign: ['InvitationCampaigns', 'invitationCampaign', 'plan'],
  Invitation: ['Invitations', 'invitation', 'events'],
  Recall: ['Recalls', 'recall', 'events'],
  DisclaimerForm: ['DisclaimerForms', 'disclaimerForm'],
  Disclaimer: ['Disclaimers', 'disclaimer', 'events'],
  EmailCategory: ['EmailCategories', 'emailCategory'],
  EmailTemplate: ['EmailTemplates', 'emailTemplate', 'plan'],
} as const

const idOf = (kind: string) => (kind === 'invitation' ? 'invitationUUID' : `${kind}Id`)

type ObjectName = keyof typeof OBJECTS
type Kind<N extends ObjectName> = (typeof OBJECTS)[N][1]
type PluralOf<N extends ObjectName> = (typeof OBJECTS)[N][0]
type Planned = {
  [N in ObjectName]: (typeof OBJECTS)[N] extends readonly [string, string, string] ? N : never
}[ObjectName]
type IdOf<N extends ObjectName> = Pick<
  Objects[Kind<N>],
  Extract<Kinds[Kind<N>]['id'], keyof Objects[Kind<N>]>
>
type Expand<N extends ObjectName> = (typeof OBJECTS)[N] extends readonly [string, string, 'events']
  ? { expand?: string }
  : unknown

type ObjectOperations = {
  [N in ObjectName as `list${PluralOf<N>}`]: {
    query: PageParameters & ObjectFilters[Kind<N>] & Expand<N>
    answer: ChangesPage<ListedObjects[Kind<N>]>
  }
} & {
  [N in ObjectName as `get${N}`]: { path: IdOf<N>; answer: Objects[Kind<N>] }
} & {
  [N in ObjectName as `create${N}`]: { body: ObjectBodies[Kind<N>]; answer: Objects[Kind<N>] }
} & {
  [N in ObjectName as `delete${N}`]: { path: IdOf<N>; answer: Objects[Kind<N>] }
} & {
  [N in ObjectName as `delete${N}ByExternalId`]: {
    query: { externalId: string }
    answer: Objects[Kind<N>]
  }
} & {
  [N in Planned as `plan${N}`]: { body: ObjectBodies[Kind<N>]; answer: SavePlan }
}

/** A call with its types, which only the compiler sees. */
type Call<P extends string, T> = { route: string; types?: PathOf<P> & T }

type PathOf<P extends string> =
  ParametersIn<P> extends never ? unknown : { path: { [N in ParametersIn<P>]: ParameterOf<N> } }

type ParametersIn<P extends string> = P extends `${string}:${infer N}/${infer Rest}`
  ? N | ParametersIn<Rest>
  : P extends `${string}:${infer N}`
    ? N
    : never

/** Ids are numbers, except those of invitations and files. */
type ParameterOf<N extends string> = N extends 'objectType'
  ? ObjectType
  : N extends 'objectId'
    ? number | string
    : N extends `${string}UUId`
      ? string
      : N extends `${string}Id`
        ? number
        : string

type Query<Q> = Q extends undefined ? unknown : { query: Q }

const get =
  <P extends string>(path: P) =>
  <A, Q = undefined>() =>
    ({ route: `GET ${path}` }) as Call<P, { answer: A } & Query<Q>>

const remove =
  <P extends string>(path: P) =>
  <A, Q = undefined>() =>
    ({ route: `DELETE ${path}` }) as Call<P, { answer: A } & Query<Q>>

const post =
  <P extends string>(path: P) =>
  <A, B = {}, Q = undefined>() =>
    ({ route: `POST ${path}` }) as Call<P, { answer: A; body: B } & Query<Q>>

type Body<S extends TSchema> = Writable<Static<S>>

const OTHERS = {
  countAppointmentsByDay: get('/calendar/days')<
    Record<string, number>,
    { from: number; to: number; locationId?: number; professionalId?: number }
  >(),
  countClientsByLanguage: get('/client/languages')<ClientLanguage[]>(),
  getClientData: get('/client/:clientId/data')<ClientData>(),
  eraseClient: post('/client/:clientId/erase')<Static<typeof ErasedCounts>>(),
  listEventTypes: get('/eventType')<EventTypeInfo[]>(),
  listEventDefinitions: get('/eventDefinition')<ChangesPage<EventDefinition>, DefinitionsQuery>(),
  listEventDefinitionsOfType: get('/eventDefinition/eventType/:eventTypeId')<EventDefinition[]>(),
  listEventDefinitionsOfCampaign: get('/eventDefinition/INVITATION_CAMPAIGN/:invitationCampaignId')<
    EventDefinition[]
  >(),
  getEventDefinition: get('/eventDefinition/:eventDefinitionId')<
    EventDefinition,
    DefinitionQuery
  >(),
  createEventDefinition: post('/eventDefinition')<EventDefinition, EventDefinitionInput>(),
  deleteEventDefinition: remove('/eventDefinition/:eventDefinitionId')<EventDefinition>(),
  planEventDefinition: post('/eventDefinition/plan')<
    Forecast,
    EventDefinitionInput,
    { limit?: number; offset?: number }
  >(),
  backtestEventDefinition: post('/eventDefinition/backtest')<
    Backtest,
    { definition: EventDefinitionInput; startDate: string; endDate: string },
    { limit?: number; offset?: number }
  >(),
  listEventActions: get('/eventAction')<
    ChangesPage<EventAction>,
    Static<TObject<typeof ChangesQuery>>
  >(),
  listEventActionsOfDefinition: get('/eventAction/eventDefinition/:eventDefinitionId')<
    EventAction[]
  >(),
  getEventAction: get('/eventAction/:eventActionId')<EventAction>(),
  createEventAction: post('/eventAction')<EventAction, EventActionInput>(),
  listEventTriggers: get('/eventTriggers')<Page<NamedTrigger>, TriggersQuery>(),
  countEventTriggers: get('/eventTriggers/counts')<
    Partial<Record<TriggerStatus, number>>,
    TriggerQuery
  >(),
  getEventTrigger: get('/eventTriggers/:eventTriggerId')<TriggerDetails>(),
  listEventTriggersOfAppointment: get('/eventTriggers/CALENDAR/:calendarId')<
    NamedTrigger[],
    TriggersOfObjectQuery
  >(),
  listEventTriggersOfClass: get('/eventTriggers/CLASS_SCHEDULE/:classScheduleId')<
    NamedTrigger[],
    TriggersOfObjectQuery
  >(),
  listEventTriggersOfInvitation: get('/eventTriggers/invitation/:invitationUUID')<
    NamedTrigger[],
    TriggersOfObjectQuery
  >(),
  listEventTriggersOfRecall: get('/eventTriggers/RECALL/:recallId')<
    NamedTrigger[],
    TriggersOfObjectQuery
  >(),
  listEventTriggersOfDisclaimer: get('/eventTriggers/DISCLAIMER/:disclaimerId')<
    NamedTrigger[],
    TriggersOfObjectQuery
  >(),
  fireEventTrigger: post('/eventTriggers/:eventTriggerId/fire')<EventTrigger>(),
  fireEventTriggers: post('/eventTriggers/fire')<BulkResult, Static<typeof BulkIds>>(),
  cancelEventTrigger: post('/eventTriggers/:eventTriggerId/cancel')<EventTrigger>(),
  cancelEventTriggers: post('/eventTriggers/cancel')<BulkResult, Static<typeof BulkIds>>(),
  explainObject: get('/explain/:objectType/:objectId')<Explanation[]>(),
  listEmails: get('/emails')<Page<Static<typeof NamedEmail>>, EmailsQuery>(),
  countEmails: get('/emails/counts')<Record<string, number>, EmailQuery>(),
  listEmailsOfAppointment: get('/emails/calendar/:calendarId')<Email[], EmailsAboutQuery>(),
  listEmailsOfInvitation: get('/emails/invitation/:invitationUUID')<Email[], EmailsAboutQuery>(),
  listEmailsOfClient: get('/emails/client/:clientId')<Email[], EmailsAboutQuery>(),
  getEmail: get('/emails/:emailId')<Static<typeof WholeEmail>>(),
  getEmailHtml: get('/emails/:emailId/html')<string>(),
  resendEmail: post('/emails/:emailId/resend')<Email>(),
  resendEmails: post('/emails/resend')<BulkResult, Static<typeof BulkIds>>(),
  listSuppressions: get('/suppression')<Page<Suppression>, SuppressionsQuery>(),
  createSuppression: post('/suppression')<Suppression, Body<typeof SuppressionBody>>(),
  deleteSuppression: remove('/suppression/:emailAddress')<Suppression>(),
  listTokens: get('/emailTemplate/token')<Static<typeof TokenGroup>[], Static<typeof TokenQuery>>(),
  previewEmailTemplate: post('/emailTemplate/:emailTemplateId/preview')<
    MailPreview,
    Static<typeof PreviewRequest>
  >(),
  checkEmailTemplate: post('/emailTemplate/:emailTemplateId/check')<
    CheckedTemplate,
    Static<typeof TemplateCheck>
  >(),
  testEmailTemplate: post('/emailTemplate/:emailTemplateId/test')<
    { items: Email[] },
    Static<typeof MailTest>
  >(),
  listFiles: get('/fileLibrary')<Page<LibraryFile>, PageParameters>(),
  uploadFile: post('/fileLibrary')<LibraryFile, Body<typeof FileWrite>>(),
  getFile: get('/fileLibrary/:fileUUId')<LibraryFile>(),
  getFileContent: get('/fileLibrary/:fileUUId/content')<Blob>(),
  deleteFile: remove('/fileLibrary/:fileUUId')<LibraryFile>(),
  listSenderDomains: get('/senderDomain')<Page<SenderDomain>, PageParameters>(),
  getSenderDomain: get('/senderDomain/:domain')<SenderDomain>(),
  checkSenderDomain: post('/senderDomain/:domain/check')<SenderDomain>(),
  retryMail: post('/mail/retry')<MailServer>(),
  getServiceHealth: get('/business/health')<ServiceHealth>(),
  getRestoreState: get('/restore')<RestoreState>(),
  releaseRestore: post('/restore/release')<RestoreState, Static<typeof ReleaseWrite>>(),
  listApprovals: get('/approval')<Page<Approval>, PageParameters & { status?: ApprovalStatus }>(),
  getApproval: get('/approval/:approvalId')<Approval>(),
  releaseApproval: post('/approval/:approvalId/release')<Approval, Body<typeof ReleaseApproval>>(),
  cancelApproval: post('/approval/:approvalId/cancel')<Approval>(),
  listTagValues: get('/tag')<TagValue[]>(),
  planTagChange: post('/tag/plan')<TagChangeResult, TagChangeWrite>(),
  changeTag: post('/tag')<TagChangeResult, TagChangeWrite>(),
  listStatuses: get('/status')<Status[]>(),
  getStatus: get('/status/:objectType/:status')<Status>(),
  createStatus: post('/status')<Status, Body<typeof StatusWrite>>(),
  planStatus: post('/status/plan')<SavePlan, Body<typeof StatusWrite>>(),
  deleteStatus: remove('/status/:objectType/:status')<Status>(),
  listReportCategories: get('/reports/category')<ReportCategory[]>(),
  printReport: post('/report/print/file')<
    Blob | Static<typeof PrintedReport> | ReportRun,
    Body<typeof PrintBody>,
    Static<typeof PrintQuery>
  >(),
  listReportRows: get('/report/:reportId/rows')<CountedObjectPage, ReportRowsQuery>(),
  sumReportRows: get('/report/:reportId/sums')<ObjectSums, ReportSumsQuery>(),
  getReportOptions: get('/report/:reportId/options')<ReportOptions>(),
  getReportRun: get('/report/run/:runId')<ReportRun>(),
  getReportRunFile: get('/report/run/:runId/file')<Blob>(),
  createReportLink: post('/report/run/:runId/link')<
    Static<typeof NewReportLink>,
    Static<typeof ReportLinkWrite>
  >(),
  listReportLinks: get('/report/run/:runId/link')<Page<ReportLink>, PageParameters>(),
  listSharedReportFiles: get('/report/link')<Page<SharedFile>, PageParameters>(),
  revokeReportLink: remove('/report/run/:runId/link/:reportLinkId')<ReportLink>(),
  listReportSchedules: get('/reportSchedule')<Page<ReportSchedule>, PageParameters>(),
  getReportSchedule: get('/reportSchedule/:reportScheduleId')<ReportSchedule>(),
  createReportSchedule: post('/reportSchedule')<ReportSchedule, Body<typeof ReportScheduleWrite>>(),
  deleteReportSchedule: remove('/reportSchedule/:reportScheduleId')<ReportSchedule>(),
  listReportTargets: get('/reportTarget')<Page<ReportTarget>, PageParameters>(),
  getReportTarget: get('/reportTarget/:reportTargetId')<ReportTarget>(),
  createReportTarget: post('/reportTarget')<ReportTarget, Body<typeof ReportTargetWrite>>(),
  deleteReportTarget: remove('/reportTarget/:reportTargetId')<ReportTarget>(),
  listReportViews: get('/reportView')<Page<ReportView>, PageParameters & { reportId?: number }>(),
  getReportView: get('/reportView/:reportViewId')<ReportView>(),
  createReportView: post('/reportView')<ReportView, Body<typeof ReportViewWrite>>(),
  deleteReportView: remove('/reportView/:reportViewId')<ReportView>(),
  importObjects: post('/import')<ImportResult, ImportLines, Static<typeof ImportQuery>>(),
  importCsv: post('/import/csv')<CsvImportResult, string | Blob, Static<typeof CsvQuery>>(),
  listFileImports: get('/import/file')<{ items: FileImport[] }>(),
  undoFileImport: post('/import/file/:fileImportId/undo')<UndoResult>(),
  listImportMappings: get('/import/mapping')<{ items: ImportMapping[] }>(),
  deleteImportMapping: remove('/import/mapping/:name')<ImportMapping>(),
  listFeeds: get('/feed')<Page<Feed>, PageParameters>(),
  getFeed: get('/feed/:feedId')<Feed>(),
  createFeed: post('/feed')<Feed, Body<typeof FeedWrite>>(),
  deleteFeed: remove('/feed/:feedId')<Feed, { appointments: 'keep' | 'remove' }>(),
  testFeed: post('/feed/test')<FeedTest, Body<typeof FeedWrite>>(),
  createFeedHook: post('/feed/:feedId/hook')<FeedHook>(),
  dryRunFeed: post('/feed/:feedId/dryRun')<
    StartedFeedRun,
    Partial<InletEntries> & { rules?: FeedFields['rules'] }
  >(),
  pullFeed: post('/feed/:feedId/pull')<StartedFeedRun>(),
  reconcileFeed: post('/feed/:feedId/reconcile')<StartedFeedRun>(),
  listFeedRuns: get('/feed/:feedId/run')<Page<Static<typeof FeedRun>>, PageParameters>(),
  getFeedRun: get('/feed/:feedId/run/:feedRunId')<Static<typeof FeedRun>>(),
  listFeedDifferences: get('/feed/:feedId/difference')<{
    checkedTime: number | null
    feedRunId: number | null
    items: Difference[]
  }>(),
  listFeedCaptured: get('/feed/:feedId/captured')<Static<typeof CapturedOfDefinition>[]>(),
  sendFeedEntries: post('/feed/:feedId/entries')<InletAnswer, InletEntries>(),
  listFeedEntries: get('/feed/:feedId/entry')<
    Page<Static<typeof FeedEntry>>,
    PageParameters & { state?: EntryState; reason?: string; from?: number; to?: number }
  >(),
  correctFeedEntry: post('/feed/:feedId/entry/:entryId')<
    Static<typeof FeedEntry>,
    { correction: Correction | null }
  >(),
  listFeedMatches: get('/feed/:feedId/match')<
    Page<Static<typeof FeedMatch>>,
    PageParameters & { kind?: MatchKind }
  >(),
  correctFeedMatch: post('/feed/:feedId/match/:feedMatchId')<
    Static<typeof FeedMatch>,
    { objectId?: number | null; create?: boolean }
  >(),
  cancelVanishedEntries: post('/feed/:feedId/vanished/cancel')<{ entries: number }>(),
  keepVanishedEntries: post('/feed/:feedId/vanished/keep')<{ entries: number }>(),
  getChangePosition: get('/changes/position')<{ position: string; nextPosition: string }>(),
  getOverview: get('/overview')<Overview, OverviewQuery>(),
  search: get('/search')<Found[], SearchQuery>(),
  listAuditEntries: get('/audit')<Page<Static<typeof AuditEntry>>, AuditQuery>(),
  listBusinesses: get('/business')<ChangesPage<Business>, BusinessesQuery>(),
  getBusiness: get('/business/:businessId')<Business>(),
  createBusiness: post('/business')<Business, Body<typeof BusinessWrite>>(),
  planBusiness: post('/business/plan')<SavePlan, Body<typeof BusinessWrite>>(),
  deleteBusiness: remove('/business/:businessId')<Business>(),
  createApiKeyOfBusiness: post('/business/:businessId/apiKey')<
    Static<typeof NewApiKey>,
    Body<typeof ApiKeyWrite>
  >(),
  createUserOfBusiness: post('/business/:businessId/user')<User, Body<typeof UserWrite>>(),
  seedBusiness: post('/business/:businessId/seed')<{
    businessId: number
    accepted: Record<string, number>
  }>(),
  eraseBusiness: post('/business/:businessId/erase')<
    Static<typeof ErasedCounts>,
    { name: string }
  >(),
  listApiKeys: get('/apiKey')<Page<ApiKey>, PageParameters>(),
  getApiKey: get('/apiKey/:apiKeyId')<ApiKey>(),
  createApiKey: post('/apiKey')<
    ApiKey & Partial<Static<typeof NewApiKey>>,
    Body<typeof ApiKeyWrite>
  >(),
  revokeApiKey: remove('/apiKey/:apiKeyId')<ApiKey>(),
  listUsers: get('/user')<Page<User>, PageParameters>(),
  getUser: get('/user/:userId')<User>(),
  createUser: post('/user')<User, Body<typeof UserWrite>>(),
  deleteUser: remove('/user/:userId')<User>(),
  inviteUser: post('/user/invite')<User, Body<typeof UserInvite>>(),
  changePassword: post('/user/password')<User, { currentPassword: string; newPassword: string }>(),
  chooseLanguage: post('/user/language')<User, Body<typeof LanguageChoice>>(),
  requestPasswordLink: post('/user/password/forgotten')<
    { accepted: true },
    { emailAddress: string }
  >(),
  readPasswordLink: post('/user/password/link')<PasswordLink, { token: string }>(),
  setPasswordByLink: post('/user/password/set')<
    { username: string },
    { token: string; newPassword: string }
  >(),
  signIn: post('/session')<Session, { username: string; password: string }>(),
  getSession: get('/session')<Session>(),
  signOut: remove('/session')<Session>(),
}

type OtherOperations = {
  [N in keyof typeof OTHERS]: NonNullable<(typeof OTHERS)[N]['types']>
}

export type Operations = ObjectOperations & OtherOperations

/** `[name, "METHOD /path"]` of every operation. */
export const operations = (): [name: string, route: string][] => [
  ...Object.entries(OBJECTS).flatMap(([one, [several, kind, plan]]): [string, string][] => [
    [`list${several}`, `GET /${kind}`],
    [`get${one}`, `GET /${kind}/:${idOf(kind)}`],
    [`create${one}`, `POST /${kind}`],
    [`delete${one}`, `DELETE /${kind}/:${idOf(kind)}`],
    [`delete${one}ByExternalId`, `DELETE /${kind}`],
    ...(plan ? [[`plan${one}`, `POST /${kind}/plan`] as [string, string]] : []),
  ]),
  ...Object.entries(OTHERS).map(([name, { route }]): [string, string] => [name, route]),
]

export const CONTENT_TYPES: Record<string, string> = {
  importObjects: 'application/x-ndjson',
  importCsv: 'text/csv',
}

/** Not retried after a lost connection: they take no `Idempotency-Key`. */
export const NEVER_REPEATED = [
  'signIn',
  'changePassword',
  'chooseLanguage',
  'setPasswordByLink',
  'eraseClient',
  'eraseBusiness',
  'pullFeed',
  'reconcileFeed',
]
