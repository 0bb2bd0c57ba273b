import { Type, type Static, type TNumber } from 'typebox'
import {
  answerProperties,
  bodyProperties,
  boolean,
  currency,
  name,
  oneOf,
  optional,
  reference,
  references,
  required,
  type Of,
} from './fields.ts'
import {
  filtersField,
  MAX_RECIPIENTS,
  REPORT_RANGES,
  reportId,
  StoredFilters,
} from './report-delivery.ts'
import {
  about,
  Id,
  Maybe,
  Moment,
  Named,
  OrNull,
  serverOwned,
  ServerOwned,
  UpdatedId,
  stamps,
  stampsExample,
} from './schema.ts'

const DIRECTIONS = ['ABOVE', 'BELOW'] as const

const MAX_VALUE = 1_000_000_000_000

const value = (): Of<TNumber> => ({
  schema: Type.Number({ minimum: -MAX_VALUE, maximum: MAX_VALUE, examples: [8] }),
  // Not `numeric`: that is an amount of money.
  sqlType: 'float8',
})

const RECIPIENTS =
  'The people who get a mail. Each must be active, have an email address and see the whole report.'

const PAUSED = 'It is not checked until it is false again. Default: false.'

export const TARGET_FIELDS = {
  name: optional(
    name(200),
    'The subject of the mail. Default: the figure and its target.',
    'Too many no-shows',
  ),
  reportId: reportId(),
  kpi: required(
    name(100),
    'The name of a figure of the report: `kpis` of `GET /report/{reportId}/options`.',
  ),
  currency: optional(currency(), 'The currency of an amount, if prices are in several.'),
  direction: required(
    oneOf(DIRECTIONS, 'TargetDirection'),
    'Whether the mail is sent when the figure is above or below `value`.',
  ),
  value: required(value(), 'In the unit of the figure: 8 is 8 %, minutes for times.'),
  range: required(oneOf(REPORT_RANGES, 'ReportRange'), 'The days of the figure, seen from today.'),
  filters: optional(filtersField()),
  locationId: optional(reference('location'), 'Only this location; null: all.'),
  userIdList: required(references('user', MAX_RECIPIENTS), RECIPIENTS),
  paused: optional(boolean(false), PAUSED),
  active: optional(boolean(true)),
}

export const ReportTargetWrite = Named(
  'ReportTargetBody',
  {
    reportTargetId: UpdatedId,
    businessId: Maybe(Id),
    ...bodyProperties(TARGET_FIELDS),
    state: ServerOwned,
    ...serverOwned,
  },
  {
    reportId: 102,
    kpi: 'noShowRate',
    direction: 'ABOVE',
    value: 8,
    range: 'LAST_30_DAYS',
    userIdList: [3],
  },
)

export const TARGET_BODY = { schema: ReportTargetWrite, fields: TARGET_FIELDS }

export const ReportTarget = Named(
  'ReportTarget',
  {
    reportTargetId: Type.Integer(),
    businessId: Type.Integer(),
    ...answerProperties(TARGET_FIELDS),
    filters: StoredFilters,
    ...stamps,
    state: about(
      Named('ReportTargetState', {
        lastValue: about(OrNull(Type.Number()), 'The figure at the last check.', 9.2),
        checkedTime: about(OrNull(Moment), 'When it was checked last, in ms.', 1_789_000_000_000),
        crossedTime: about(
          OrNull(Moment),
          'Since when the figure is beyond the target, in ms; null: it is not.',
          1_789_000_000_000,
        ),
        lastError: about(OrNull(Type.String()), 'Why the last check found no value.', null),
      }),
      'What the checks found. A mail is sent once when it is crossed, and again only after the figure was back.',
    ),
  },
  {
    reportTargetId: 2,
    businessId: 1,
    name: null,
    reportId: 102,
    kpi: 'noShowRate',
    currency: null,
    direction: 'ABOVE',
    value: 8,
    range: 'LAST_30_DAYS',
    filters: null,
    locationId: null,
    userIdList: [3],
    paused: false,
    active: true,
    ...stampsExample,
    state: {
      lastValue: 9.2,
      checkedTime: 1_789_003_600_000,
      crossedTime: 1_789_003_600_000,
      lastError: null,
    },
  },
)
export type ReportTarget = Static<typeof ReportTarget>
