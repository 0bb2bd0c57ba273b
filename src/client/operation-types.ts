import type { Static, TObject } from 'typebox'
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
import type { EventTypeInfo, ObjectType } from '../contract/event-type.ts'
import type { Explanation } from '../contract/explanation.ts'
import type {
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
import type { Approval, ApprovalStatus } from '../contract/approval.ts'
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
import type { OBJECTS, OtherOperation } from './operations.ts'

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

type PageParameters = Static<TObject<typeof PageQuery>>
type Bulk = { body: Static<typeof BulkIds>; answer: BulkResult }
export type BulkResult = Static<typeof BulkResultSchema>

export type Session = Static<typeof SessionSchema>
export type Feed = FeedFields & Omit<Static<typeof FeedSchema>, keyof FeedFields>
type FeedPath = { feedId: number }
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

type ObjectName = keyof typeof OBJECTS
type Kind<N extends ObjectName> = (typeof OBJECTS)[N][1]
type PluralOf<N extends ObjectName> = (typeof OBJECTS)[N][0]
type Planned = {
  [N in ObjectName]: (typeof OBJECTS)[N] extends readonly [string, string, 'plan'] ? N : never
}[ObjectName]
type IdOf<N extends ObjectName> = Pick<
  Objects[Kind<N>],
  Extract<Kinds[Kind<N>]['id'], keyof Objects[Kind<N>]>
>
type Expand<N extends ObjectName> = N extends Planned ? { expand?: string } : unknown

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

type OtherOperations = {
  countAppointmentsByDay: {
    query: { from: number; to: number; locationId?: number; professionalId?: number }
    answer: Record<string, number>
  }
  countClientsByLanguage: { answer: ClientLanguage[] }
  getClientData: { path: { clientId: number }; answer: ClientData }
  eraseClient: { path: { clientId: number }; body: {}; answer: Static<typeof ErasedCounts> }
  listEventTypes: { answer: EventTypeInfo[] }
  listEventDefinitions: {
    query: Static<typeof DefinitionsQuery>
    answer: ChangesPage<EventDefinition>
  }
  listEventDefinitionsOfType: { path: { eventTypeId: number }; answer: EventDefinition[] }
  listEventDefinitionsOfCampaign: {
    path: { invitationCampaignId: number }
    answer: EventDefinition[]
  }
  getEventDefinition: {
    path: { eventDefinitionId: number }
    query: Static<typeof DefinitionQuery>
    answer: EventDefinition
  }
  createEventDefinition: { body: EventDefinitionInput; answer: EventDefinition }
  deleteEventDefinition: { path: { eventDefinitionId: number }; answer: EventDefinition }
  planEventDefinition: {
    query: { limit?: number; offset?: number }
    body: EventDefinitionInput
    answer: Forecast
  }
  backtestEventDefinition: {
    query: { limit?: number; offset?: number }
    body: { definition: EventDefinitionInput; startDate: string; endDate: string }
    answer: Backtest
  }
  listEventActions: {
    query: Static<TObject<typeof ChangesQuery>>
    answer: ChangesPage<EventAction>
  }
  listEventActionsOfDefinition: { path: { eventDefinitionId: number }; answer: EventAction[] }
  getEventAction: { path: { eventActionId: number }; answer: EventAction }
  createEventAction: { body: EventActionInput; answer: EventAction }
  listEventTriggers: { query: Static<typeof TriggersQuery>; answer: Page<NamedTrigger> }
  countEventTriggers: {
    query: Static<typeof TriggerQuery>
    answer: Partial<Record<TriggerStatus, number>>
  }
  getEventTrigger: { path: { eventTriggerId: number }; answer: TriggerDetails }
  listEventTriggersOfAppointment: TriggersOf<{ calendarId: number }>
  listEventTriggersOfClass: TriggersOf<{ classScheduleId: number }>
  listEventTriggersOfInvitation: TriggersOf<{ invitationUUID: string }>
  listEventTriggersOfRecall: TriggersOf<{ recallId: number }>
  listEventTriggersOfDisclaimer: TriggersOf<{ disclaimerId: number }>
  fireEventTrigger: { path: { eventTriggerId: number }; body: {}; answer: EventTrigger }
  fireEventTriggers: Bulk
  cancelEventTrigger: { path: { eventTriggerId: number }; body: {}; answer: EventTrigger }
  cancelEventTriggers: Bulk
  explainObject: {
    path: { objectType: ObjectType; objectId: number | string }
    answer: Explanation[]
  }
  listEmails: { query: Static<typeof EmailsQuery>; answer: Page<Static<typeof NamedEmail>> }
  countEmails: { query: Static<typeof EmailQuery>; answer: Record<string, number> }
  listEmailsOfAppointment: EmailsOf<{ calendarId: number }>
  listEmailsOfInvitation: EmailsOf<{ invitationUUID: string }>
  listEmailsOfClient: EmailsOf<{ clientId: number }>
  getEmail: { path: { emailId: number }; answer: Static<typeof WholeEmail> }
  getEmailHtml: { path: { emailId: number }; answer: string }
  resendEmail: { path: { emailId: number }; body: {}; answer: Email }
  resendEmails: Bulk
  listSuppressions: {
    query: Static<typeof SuppressionsQuery>
    answer: Page<Static<typeof Suppression>>
  }
  createSuppression: {
    body: Writable<Static<typeof SuppressionBody>>
    answer: Static<typeof Suppression>
  }
  deleteSuppression: { path: { emailAddress: string }; answer: Static<typeof Suppression> }
  listTokens: { query: Static<typeof TokenQuery>; answer: Static<typeof TokenGroup>[] }
  previewEmailTemplate: {
    path: { emailTemplateId: number }
    body: Static<typeof PreviewRequest>
    answer: MailPreview
  }
  checkEmailTemplate: {
    path: { emailTemplateId: number }
    body: Static<typeof TemplateCheck>
    answer: CheckedTemplate
  }
  testEmailTemplate: {
    path: { emailTemplateId: number }
    body: Static<typeof MailTest>
    answer: { items: Email[] }
  }
  listFiles: { query: PageParameters; answer: Page<LibraryFile> }
  uploadFile: { body: Writable<Static<typeof FileWrite>>; answer: LibraryFile }
  getFile: { path: { fileUUId: string }; answer: LibraryFile }
  getFileContent: { path: { fileUUId: string }; answer: Blob }
  deleteFile: { path: { fileUUId: string }; answer: LibraryFile }
  listSenderDomains: { query: PageParameters; answer: Page<SenderDomain> }
  getSenderDomain: { path: { domain: string }; answer: SenderDomain }
  checkSenderDomain: { path: { domain: string }; body: {}; answer: SenderDomain }
  retryMail: { body: {}; answer: MailServer }
  getServiceHealth: { answer: ServiceHealth }
  getRestoreState: { answer: RestoreState }
  releaseRestore: { body: Static<typeof ReleaseWrite>; answer: RestoreState }
  listApprovals: { query: PageParameters & { status?: ApprovalStatus }; answer: Page<Approval> }
  getApproval: { path: { approvalId: number }; answer: Approval }
  releaseApproval: { path: { approvalId: number }; body: {}; answer: Approval }
  cancelApproval: { path: { approvalId: number }; body: {}; answer: Approval }
  listTagValues: { answer: TagValue[] }
  planTagChange: { body: TagChangeWrite; answer: TagChangeResult }
  changeTag: { body: TagChangeWrite; answer: TagChangeResult }
  listStatuses: { answer: Status[] }
  getStatus: { path: { objectType: ObjectType; status: string }; answer: Status }
  createStatus: { body: Writable<Static<typeof StatusWrite>>; answer: Status }
  deleteStatus: { path: { objectType: ObjectType; status: string }; answer: Status }
  listReportCategories: { answer: ReportCategory[] }
  printReport: {
    query: Static<typeof PrintQuery>
    body: Writable<Static<typeof PrintBody>>
    /** A file; the report itself for `format: 'json'`; a run for `Prefer: respond-async`. */
    answer: Blob | Static<typeof PrintedReport> | ReportRun
  }
  listReportRows: {
    path: { reportId: number }
    query: ReportRowsQuery
    answer: CountedObjectPage
  }
  sumReportRows: { path: { reportId: number }; query: ReportSumsQuery; answer: ObjectSums }
  getReportOptions: { path: { reportId: number }; answer: ReportOptions }
  getReportRun: { path: { runId: number }; answer: ReportRun }
  getReportRunFile: { path: { runId: number }; answer: Blob }
  createReportLink: {
    path: { runId: number }
    body: Static<typeof ReportLinkWrite>
    answer: Static<typeof NewReportLink>
  }
  listReportLinks: { path: { runId: number }; query: PageParameters; answer: Page<ReportLink> }
  listSharedReportFiles: { query: PageParameters; answer: Page<SharedFile> }
  revokeReportLink: { path: { runId: number; reportLinkId: number }; answer: ReportLink }
  listReportSchedules: { query: PageParameters; answer: Page<ReportSchedule> }
  getReportSchedule: { path: { reportScheduleId: number }; answer: ReportSchedule }
  createReportSchedule: {
    body: Writable<Static<typeof ReportScheduleWrite>>
    answer: ReportSchedule
  }
  deleteReportSchedule: { path: { reportScheduleId: number }; answer: ReportSchedule }
  listReportTargets: { query: PageParameters; answer: Page<ReportTarget> }
  getReportTarget: { path: { reportTargetId: number }; answer: ReportTarget }
  createReportTarget: { body: Writable<Static<typeof ReportTargetWrite>>; answer: ReportTarget }
  deleteReportTarget: { path: { reportTargetId: number }; answer: ReportTarget }
  listReportViews: { query: PageParameters & { reportId?: number }; answer: Page<ReportView> }
  getReportView: { path: { reportViewId: number }; answer: ReportView }
  createReportView: { body: Writable<Static<typeof ReportViewWrite>>; answer: ReportView }
  deleteReportView: { path: { reportViewId: number }; answer: ReportView }
  importObjects: { query: Static<typeof ImportQuery>; body: ImportLines; answer: ImportResult }
  importCsv: { query: Static<typeof CsvQuery>; body: string | Blob; answer: CsvImportResult }
  listFileImports: { answer: { items: FileImport[] } }
  undoFileImport: { path: { fileImportId: number }; answer: UndoResult }
  listImportMappings: { answer: { items: ImportMapping[] } }
  deleteImportMapping: { path: { name: string }; answer: ImportMapping }
  listFeeds: { query: PageParameters; answer: Page<Feed> }
  getFeed: { path: FeedPath; answer: Feed }
  createFeed: { body: Writable<Static<typeof FeedWrite>>; answer: Feed }
  deleteFeed: { path: FeedPath; query: { appointments: 'keep' | 'remove' }; answer: Feed }
  testFeed: {
    body: Writable<Static<typeof FeedWrite>>
    answer: {
      ok: boolean
      checks: { check: string; ok: boolean; detail: string }[]
      calendars: { key: string; name: string; entries?: number | null }[]
      otherHosts: string[]
    }
  }
  createFeedHook: { path: FeedPath; body: {}; answer: Static<typeof FeedHook> }
  dryRunFeed: {
    path: FeedPath
    body: Partial<InletEntries> & { rules?: FeedFields['rules'] }
    answer: StartedFeedRun
  }
  pullFeed: { path: FeedPath; body: {}; answer: StartedFeedRun }
  reconcileFeed: { path: FeedPath; body: {}; answer: StartedFeedRun }
  listFeedRuns: { path: FeedPath; query: PageParameters; answer: Page<Static<typeof FeedRun>> }
  getFeedRun: { path: FeedPath & StartedFeedRun; answer: Static<typeof FeedRun> }
  listFeedDifferences: {
    path: FeedPath
    answer: { checkedTime: number | null; feedRunId: number | null; items: Difference[] }
  }
  sendFeedEntries: { path: FeedPath; body: InletEntries; answer: InletAnswer }
  listFeedEntries: {
    path: FeedPath
    query: PageParameters & { state?: EntryState; reason?: string; from?: number; to?: number }
    answer: Page<Static<typeof FeedEntry>>
  }
  correctFeedEntry: {
    path: FeedPath & { entryId: number }
    body: { correction: Correction | null }
    answer: Static<typeof FeedEntry>
  }
  listFeedMatches: {
    path: FeedPath
    query: PageParameters & { kind?: MatchKind }
    answer: Page<Static<typeof FeedMatch>>
  }
  correctFeedMatch: {
    path: FeedPath & { feedMatchId: number }
    body: { objectId?: number | null; create?: boolean }
    answer: Static<typeof FeedMatch>
  }
  cancelVanishedEntries: { path: FeedPath; body: {}; answer: { entries: number } }
  keepVanishedEntries: { path: FeedPath; body: {}; answer: { entries: number } }
  getChangePosition: { answer: { position: string; nextPosition: string } }
  getOverview: { query: Static<typeof OverviewQuery>; answer: Overview }
  search: { query: Static<typeof SearchQuery>; answer: Found[] }
  listAuditEntries: {
    query: Static<typeof AuditQuery>
    answer: Page<Static<typeof AuditEntry>>
  }
  listBusinesses: { query: Static<typeof BusinessesQuery>; answer: ChangesPage<Business> }
  getBusiness: { path: { businessId: number }; answer: Business }
  createBusiness: { body: Writable<Static<typeof BusinessWrite>>; answer: Business }
  deleteBusiness: { path: { businessId: number }; answer: Business }
  createApiKeyOfBusiness: {
    path: { businessId: number }
    body: Writable<Static<typeof ApiKeyWrite>>
    answer: Static<typeof NewApiKey>
  }
  createUserOfBusiness: {
    path: { businessId: number }
    body: Writable<Static<typeof UserWrite>>
    answer: User
  }
  seedBusiness: {
    path: { businessId: number }
    body: {}
    answer: { businessId: number; accepted: Record<string, number> }
  }
  eraseBusiness: {
    path: { businessId: number }
    body: { name: string }
    answer: Static<typeof ErasedCounts>
  }
  listApiKeys: { query: PageParameters; answer: Page<ApiKey> }
  getApiKey: { path: { apiKeyId: number }; answer: ApiKey }
  createApiKey: {
    body: Writable<Static<typeof ApiKeyWrite>>
    /** The key itself is in the answer to its creation only. */
    answer: ApiKey & Partial<Static<typeof NewApiKey>>
  }
  revokeApiKey: { path: { apiKeyId: number }; answer: ApiKey }
  listUsers: { query: PageParameters; answer: Page<User> }
  getUser: { path: { userId: number }; answer: User }
  createUser: { body: Writable<Static<typeof UserWrite>>; answer: User }
  deleteUser: { path: { userId: number }; answer: User }
  inviteUser: { body: Writable<Static<typeof UserInvite>>; answer: User }
  changePassword: { body: { currentPassword: string; newPassword: string }; answer: User }
  chooseLanguage: { body: Writable<Static<typeof LanguageChoice>>; answer: User }
  requestPasswordLink: { body: { emailAddress: string }; answer: { accepted: true } }
  readPasswordLink: { body: { token: string }; answer: PasswordLink }
  setPasswordByLink: {
    body: { token: string; newPassword: string }
    answer: { username: string }
  }
  signIn: { body: { username: string; password: string }; answer: Session }
  getSession: { answer: Session }
  signOut: { answer: Session }
}

type StartedFeedRun = { feedRunId: number }

type TriggersOf<Path> = {
  path: Path
  query: Static<typeof TriggersOfObjectQuery>
  answer: NamedTrigger[]
}

type EmailsOf<Path> = { path: Path; query: Static<typeof EmailsAboutQuery>; answer: Email[] }

export type Operations = ObjectOperations & Pick<OtherOperations, OtherOperation>
