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

const get = <P extends string, A, Q = undefined>(path: P, _answer: A, _query?: Q) =>
  ({ route: `GET ${path}` }) as Call<P, { answer: A } & Query<Q>>

const remove = <P extends string, A, Q = undefined>(path: P, _answer: A, _query?: Q) =>
  ({ route: `DELETE ${path}` }) as Call<P, { answer: A } & Query<Q>>

const post = <P extends string, A, B = {}, Q = undefined>(
  path: P,
  _answer: A,
  _body?: B,
  _query?: Q,
) => ({ route: `POST ${path}` }) as Call<P, { answer: A; body: B } & Query<Q>>

const of = <T>() => undefined as T
const by = <S extends TSchema>() => undefined as Static<S>
const pageOf = <T>() => undefined as unknown as Page<T>
const pageBy = <S extends TSchema>() => undefined as unknown as Page<Static<S>>
const PAGES = of<PageParameters>()
const bodyOf = <S extends TSchema>() => undefined as Writable<Static<S>>

const OTHERS = {
  countAppointmentsByDay: get(
    '/calendar/days',
    of<Record<string, number>>(),
    of<{ from: number; to: number; locationId?: number; professionalId?: number }>(),
  ),
  countClientsByLanguage: get('/client/languages', of<ClientLanguage[]>()),
  getClientData: get('/client/:clientId/data', of<ClientData>()),
  eraseClient: post('/client/:clientId/erase', by<typeof ErasedCounts>()),
  listEventTypes: get('/eventType', of<EventTypeInfo[]>()),
  listEventDefinitions: get(
    '/eventDefinition',
    of<ChangesPage<EventDefinition>>(),
    by<typeof DefinitionsQuery>(),
  ),
  listEventDefinitionsOfType: get(
    '/eventDefinition/eventType/:eventTypeId',
    of<EventDefinition[]>(),
  ),
  listEventDefinitionsOfCampaign: get(
    '/eventDefinition/INVITATION_CAMPAIGN/:invitationCampaignId',
    of<EventDefinition[]>(),
  ),
  getEventDefinition: get(
    '/eventDefinition/:eventDefinitionId',
    of<EventDefinition>(),
    by<typeof DefinitionQuery>(),
  ),
  createEventDefinition: post(
    '/eventDefinition',
    of<EventDefinition>(),
    of<EventDefinitionInput>(),
  ),
  deleteEventDefinition: remove('/eventDefinition/:eventDefinitionId', of<EventDefinition>()),
  planEventDefinition: post(
    '/eventDefinition/plan',
    of<Forecast>(),
    of<EventDefinitionInput>(),
    of<{ limit?: number; offset?: number }>(),
  ),
  backtestEventDefinition: post(
    '/eventDefinition/backtest',
    of<Backtest>(),
    of<{ definition: EventDefinitionInput; startDate: string; endDate: string }>(),
    of<{ limit?: number; offset?: number }>(),
  ),
  listEventActions: get(
    '/eventAction',
    of<ChangesPage<EventAction>>(),
    by<TObject<typeof ChangesQuery>>(),
  ),
  listEventActionsOfDefinition: get(
    '/eventAction/eventDefinition/:eventDefinitionId',
    of<EventAction[]>(),
  ),
  getEventAction: get('/eventAction/:eventActionId', of<EventAction>()),
  createEventAction: post('/eventAction', of<EventAction>(), of<EventActionInput>()),
  listEventTriggers: get('/eventTriggers', pageOf<NamedTrigger>(), by<typeof TriggersQuery>()),
  countEventTriggers: get(
    '/eventTriggers/counts',
    of<Partial<Record<TriggerStatus, number>>>(),
    by<typeof TriggerQuery>(),
  ),
  getEventTrigger: get('/eventTriggers/:eventTriggerId', of<TriggerDetails>()),
  listEventTriggersOfAppointment: get(
    '/eventTriggers/CALENDAR/:calendarId',
    of<NamedTrigger[]>(),
    by<typeof TriggersOfObjectQuery>(),
  ),
  listEventTriggersOfClass: get(
    '/eventTriggers/CLASS_SCHEDULE/:classScheduleId',
    of<NamedTrigger[]>(),
    by<typeof TriggersOfObjectQuery>(),
  ),
  listEventTriggersOfInvitation: get(
    '/eventTriggers/invitation/:invitationUUID',
    of<NamedTrigger[]>(),
    by<typeof TriggersOfObjectQuery>(),
  ),
  listEventTriggersOfRecall: get(
    '/eventTriggers/RECALL/:recallId',
    of<NamedTrigger[]>(),
    by<typeof TriggersOfObjectQuery>(),
  ),
  listEventTriggersOfDisclaimer: get(
    '/eventTriggers/DISCLAIMER/:disclaimerId',
    of<NamedTrigger[]>(),
    by<typeof TriggersOfObjectQuery>(),
  ),
  fireEventTrigger: post('/eventTriggers/:eventTriggerId/fire', of<EventTrigger>()),
  fireEventTriggers: post('/eventTriggers/fire', of<BulkResult>(), by<typeof BulkIds>()),
  cancelEventTrigger: post('/eventTriggers/:eventTriggerId/cancel', of<EventTrigger>()),
  cancelEventTriggers: post('/eventTriggers/cancel', of<BulkResult>(), by<typeof BulkIds>()),
  explainObject: get('/explain/:objectType/:objectId', of<Explanation[]>()),
  listEmails: get('/emails', pageBy<typeof NamedEmail>(), by<typeof EmailsQuery>()),
  countEmails: get('/emails/counts', of<Record<string, number>>(), by<typeof EmailQuery>()),
  listEmailsOfAppointment: get(
    '/emails/calendar/:calendarId',
    of<Email[]>(),
    by<typeof EmailsAboutQuery>(),
  ),
  listEmailsOfInvitation: get(
    '/emails/invitation/:invitationUUID',
    of<Email[]>(),
    by<typeof EmailsAboutQuery>(),
  ),
  listEmailsOfClient: get('/emails/client/:clientId', of<Email[]>(), by<typeof EmailsAboutQuery>()),
  getEmail: get('/emails/:emailId', by<typeof WholeEmail>()),
  getEmailHtml: get('/emails/:emailId/html', of<string>()),
  resendEmail: post('/emails/:emailId/resend', of<Email>()),
  resendEmails: post('/emails/resend', of<BulkResult>(), by<typeof BulkIds>()),
  listSuppressions: get(
    '/suppression',
    pageBy<typeof Suppression>(),
    by<typeof SuppressionsQuery>(),
  ),
  createSuppression: post(
    '/suppression',
    by<typeof Suppression>(),
    bodyOf<typeof SuppressionBody>(),
  ),
  deleteSuppression: remove('/suppression/:emailAddress', by<typeof Suppression>()),
  listTokens: get(
    '/emailTemplate/token',
    of<Static<typeof TokenGroup>[]>(),
    by<typeof TokenQuery>(),
  ),
  previewEmailTemplate: post(
    '/emailTemplate/:emailTemplateId/preview',
    of<MailPreview>(),
    by<typeof PreviewRequest>(),
  ),
  checkEmailTemplate: post(
    '/emailTemplate/:emailTemplateId/check',
    of<CheckedTemplate>(),
    by<typeof TemplateCheck>(),
  ),
  testEmailTemplate: post(
    '/emailTemplate/:emailTemplateId/test',
    of<{ items: Email[] }>(),
    by<typeof MailTest>(),
  ),
  listFiles: get('/fileLibrary', pageOf<LibraryFile>(), PAGES),
  uploadFile: post('/fileLibrary', of<LibraryFile>(), bodyOf<typeof FileWrite>()),
  getFile: get('/fileLibrary/:fileUUId', of<LibraryFile>()),
  getFileContent: get('/fileLibrary/:fileUUId/content', of<Blob>()),
  deleteFile: remove('/fileLibrary/:fileUUId', of<LibraryFile>()),
  listSenderDomains: get('/senderDomain', pageOf<SenderDomain>(), PAGES),
  getSenderDomain: get('/senderDomain/:domain', of<SenderDomain>()),
  checkSenderDomain: post('/senderDomain/:domain/check', of<SenderDomain>()),
  retryMail: post('/mail/retry', of<MailServer>()),
  getServiceHealth: get('/business/health', of<ServiceHealth>()),
  getRestoreState: get('/restore', of<RestoreState>()),
  releaseRestore: post('/restore/release', of<RestoreState>(), by<typeof ReleaseWrite>()),
  listApprovals: get(
    '/approval',
    pageOf<Approval>(),
    of<PageParameters & { status?: ApprovalStatus }>(),
  ),
  getApproval: get('/approval/:approvalId', of<Approval>()),
  releaseApproval: post(
    '/approval/:approvalId/release',
    of<Approval>(),
    bodyOf<typeof ReleaseApproval>(),
  ),
  cancelApproval: post('/approval/:approvalId/cancel', of<Approval>()),
  listTagValues: get('/tag', of<TagValue[]>()),
  planTagChange: post('/tag/plan', of<TagChangeResult>(), of<TagChangeWrite>()),
  changeTag: post('/tag', of<TagChangeResult>(), of<TagChangeWrite>()),
  listStatuses: get('/status', of<Status[]>()),
  getStatus: get('/status/:objectType/:status', of<Status>()),
  createStatus: post('/status', of<Status>(), bodyOf<typeof StatusWrite>()),
  planStatus: post('/status/plan', of<SavePlan>(), bodyOf<typeof StatusWrite>()),
  deleteStatus: remove('/status/:objectType/:status', of<Status>()),
  listReportCategories: get('/reports/category', of<ReportCategory[]>()),
  printReport: post(
    '/report/print/file',
    of<Blob | Static<typeof PrintedReport> | ReportRun>(),
    bodyOf<typeof PrintBody>(),
    by<typeof PrintQuery>(),
  ),
  listReportRows: get('/report/:reportId/rows', of<CountedObjectPage>(), of<ReportRowsQuery>()),
  sumReportRows: get('/report/:reportId/sums', of<ObjectSums>(), of<ReportSumsQuery>()),
  getReportOptions: get('/report/:reportId/options', of<ReportOptions>()),
  getReportRun: get('/report/run/:runId', of<ReportRun>()),
  getReportRunFile: get('/report/run/:runId/file', of<Blob>()),
  createReportLink: post(
    '/report/run/:runId/link',
    by<typeof NewReportLink>(),
    by<typeof ReportLinkWrite>(),
  ),
  listReportLinks: get('/report/run/:runId/link', pageOf<ReportLink>(), PAGES),
  listSharedReportFiles: get('/report/link', pageOf<SharedFile>(), PAGES),
  revokeReportLink: remove('/report/run/:runId/link/:reportLinkId', of<ReportLink>()),
  listReportSchedules: get('/reportSchedule', pageOf<ReportSchedule>(), PAGES),
  getReportSchedule: get('/reportSchedule/:reportScheduleId', of<ReportSchedule>()),
  createReportSchedule: post(
    '/reportSchedule',
    of<ReportSchedule>(),
    bodyOf<typeof ReportScheduleWrite>(),
  ),
  deleteReportSchedule: remove('/reportSchedule/:reportScheduleId', of<ReportSchedule>()),
  listReportTargets: get('/reportTarget', pageOf<ReportTarget>(), PAGES),
  getReportTarget: get('/reportTarget/:reportTargetId', of<ReportTarget>()),
  createReportTarget: post('/reportTarget', of<ReportTarget>(), bodyOf<typeof ReportTargetWrite>()),
  deleteReportTarget: remove('/reportTarget/:reportTargetId', of<ReportTarget>()),
  listReportViews: get(
    '/reportView',
    pageOf<ReportView>(),
    of<PageParameters & { reportId?: number }>(),
  ),
  getReportView: get('/reportView/:reportViewId', of<ReportView>()),
  createReportView: post('/reportView', of<ReportView>(), bodyOf<typeof ReportViewWrite>()),
  deleteReportView: remove('/reportView/:reportViewId', of<ReportView>()),
  importObjects: post('/import', of<ImportResult>(), of<ImportLines>(), by<typeof ImportQuery>()),
  importCsv: post('/import/csv', of<CsvImportResult>(), of<string | Blob>(), by<typeof CsvQuery>()),
  listFileImports: get('/import/file', of<{ items: FileImport[] }>()),
  undoFileImport: post('/import/file/:fileImportId/undo', of<UndoResult>()),
  listImportMappings: get('/import/mapping', of<{ items: ImportMapping[] }>()),
  deleteImportMapping: remove('/import/mapping/:name', of<ImportMapping>()),
  listFeeds: get('/feed', pageOf<Feed>(), PAGES),
  getFeed: get('/feed/:feedId', of<Feed>()),
  createFeed: post('/feed', of<Feed>(), bodyOf<typeof FeedWrite>()),
  deleteFeed: remove('/feed/:feedId', of<Feed>(), of<{ appointments: 'keep' | 'remove' }>()),
  testFeed: post('/feed/test', of<FeedTest>(), bodyOf<typeof FeedWrite>()),
  createFeedHook: post('/feed/:feedId/hook', by<typeof FeedHook>()),
  dryRunFeed: post(
    '/feed/:feedId/dryRun',
    of<StartedFeedRun>(),
    of<Partial<InletEntries> & { rules?: FeedFields['rules'] }>(),
  ),
  pullFeed: post('/feed/:feedId/pull', of<StartedFeedRun>()),
  reconcileFeed: post('/feed/:feedId/reconcile', of<StartedFeedRun>()),
  listFeedRuns: get('/feed/:feedId/run', pageBy<typeof FeedRun>(), PAGES),
  getFeedRun: get('/feed/:feedId/run/:feedRunId', by<typeof FeedRun>()),
  listFeedDifferences: get(
    '/feed/:feedId/difference',
    of<{ checkedTime: number | null; feedRunId: number | null; items: Difference[] }>(),
  ),
  listFeedCaptured: get('/feed/:feedId/captured', of<Static<typeof CapturedOfDefinition>[]>()),
  sendFeedEntries: post('/feed/:feedId/entries', of<InletAnswer>(), of<InletEntries>()),
  listFeedEntries: get(
    '/feed/:feedId/entry',
    pageBy<typeof FeedEntry>(),
    of<PageParameters & { state?: EntryState; reason?: string; from?: number; to?: number }>(),
  ),
  correctFeedEntry: post(
    '/feed/:feedId/entry/:entryId',
    by<typeof FeedEntry>(),
    of<{ correction: Correction | null }>(),
  ),
  listFeedMatches: get(
    '/feed/:feedId/match',
    pageBy<typeof FeedMatch>(),
    of<PageParameters & { kind?: MatchKind }>(),
  ),
  correctFeedMatch: post(
    '/feed/:feedId/match/:feedMatchId',
    by<typeof FeedMatch>(),
    of<{ objectId?: number | null; create?: boolean }>(),
  ),
  cancelVanishedEntries: post('/feed/:feedId/vanished/cancel', of<{ entries: number }>()),
  keepVanishedEntries: post('/feed/:feedId/vanished/keep', of<{ entries: number }>()),
  getChangePosition: get('/changes/position', of<{ position: string; nextPosition: string }>()),
  getOverview: get('/overview', of<Overview>(), by<typeof OverviewQuery>()),
  search: get('/search', of<Found[]>(), by<typeof SearchQuery>()),
  listAuditEntries: get('/audit', pageBy<typeof AuditEntry>(), by<typeof AuditQuery>()),
  listBusinesses: get('/business', of<ChangesPage<Business>>(), by<typeof BusinessesQuery>()),
  getBusiness: get('/business/:businessId', of<Business>()),
  createBusiness: post('/business', of<Business>(), bodyOf<typeof BusinessWrite>()),
  planBusiness: post('/business/plan', of<SavePlan>(), bodyOf<typeof BusinessWrite>()),
  deleteBusiness: remove('/business/:businessId', of<Business>()),
  createApiKeyOfBusiness: post(
    '/business/:businessId/apiKey',
    by<typeof NewApiKey>(),
    bodyOf<typeof ApiKeyWrite>(),
  ),
  createUserOfBusiness: post('/business/:businessId/user', of<User>(), bodyOf<typeof UserWrite>()),
  seedBusiness: post(
    '/business/:businessId/seed',
    of<{ businessId: number; accepted: Record<string, number> }>(),
  ),
  eraseBusiness: post(
    '/business/:businessId/erase',
    by<typeof ErasedCounts>(),
    of<{ name: string }>(),
  ),
  listApiKeys: get('/apiKey', pageOf<ApiKey>(), PAGES),
  getApiKey: get('/apiKey/:apiKeyId', of<ApiKey>()),
  createApiKey: post(
    '/apiKey',
    of<ApiKey & Partial<Static<typeof NewApiKey>>>(),
    bodyOf<typeof ApiKeyWrite>(),
  ),
  revokeApiKey: remove('/apiKey/:apiKeyId', of<ApiKey>()),
  listUsers: get('/user', pageOf<User>(), PAGES),
  getUser: get('/user/:userId', of<User>()),
  createUser: post('/user', of<User>(), bodyOf<typeof UserWrite>()),
  deleteUser: remove('/user/:userId', of<User>()),
  inviteUser: post('/user/invite', of<User>(), bodyOf<typeof UserInvite>()),
  changePassword: post(
    '/user/password',
    of<User>(),
    of<{ currentPassword: string; newPassword: string }>(),
  ),
  chooseLanguage: post('/user/language', of<User>(), bodyOf<typeof LanguageChoice>()),
  requestPasswordLink: post(
    '/user/password/forgotten',
    of<{ accepted: true }>(),
    of<{ emailAddress: string }>(),
  ),
  readPasswordLink: post('/user/password/link', of<PasswordLink>(), of<{ token: string }>()),
  setPasswordByLink: post(
    '/user/password/set',
    of<{ username: string }>(),
    of<{ token: string; newPassword: string }>(),
  ),
  signIn: post('/session', of<Session>(), of<{ username: string; password: string }>()),
  getSession: get('/session', of<Session>()),
  signOut: remove('/session', of<Session>()),
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
